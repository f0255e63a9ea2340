import { NodeConnectionTypes, type IExecuteFunctions } from 'n8n-workflow';

import { schemaProblem } from '../client/chat/jsonSchema';
import { checkTools, readJson } from '../client/chat/requestFields';
import type { ToolDeclaration } from '../client/chat/types';
import { rejectMistakes } from '../client/errors';
import { asJson, isJsonObject } from '../client/json';
import { loadAiNodeSdk, toDeclaration, toolNames } from '../shared/chat/aiNodeSdk';
import { readSchema, textOf } from '../shared/chat/schemaForm';
import { sourceOf } from '../shared/engine/nodeRun';
import { workflowOf } from '../shared/engine/workflow';
import type { agentForm, ToolEntry } from './properties';
import { openedRun } from '../shared/run/run';

/** Key in the JSON of a tool call item: which call it is. */
export const ENVELOPE = 'tool_call';

/**
 * The tool declarations of an item, from the form or as JSON.
 *
 * @param toolNodes The connected tool nodes, whose tools must have other names.
 * @throws InputError that names the tool and the problem.
 */
export function readTools(
	{ toolSource, toolsJson, tools: entries }: ReturnType<typeof agentForm.read>,
	{ nodes }: ToolNodes,
): ToolDeclaration[] {
	const isJson = toolSource === 'json';
	const label = isJson ? 'Tool Declarations' : 'Tools';
	const value = isJson
		? readJson(toolsJson, label)
		: entries.map((entry, index) => readEntry(entry, `${label}: entry ${index + 1}`));
	const tools = checkTools(value, label, schemaProblem);
	for (const { name, parameters } of tools.map((tool) => tool.function)) {
		const isTaken = Object.hasOwn(Object(parameters?.['properties']) as object, ENVELOPE);
		const problem = `has a parameter ${ENVELOPE}, which the node adds to each call itself`;
		rejectMistakes(`${label}: ${name}`, [[isTaken, problem, 'Rename the parameter']]);
		const repeat = `repeat the name ${name} of a tool of this node`;
		rejectMistakes(NODES_LABEL, [
			[Object.hasOwn(nodes, name), repeat, 'Rename one of the two'],
		]);
	}
	return tools;
}

function readEntry(entry: ToolEntry, label: string) {
	const name = textOf(entry.name);
	const fields = { ...entry, fields: entry.parameters?.parameter };
	const schema = readSchema(fields, name === '' ? label : `${label} (${name})`, 'parameter');
	const closed = entry.define === 'example' ? { additionalProperties: false } : {};
	const parameters = { ...(isJsonObject(schema) ? schema : {}), ...closed };
	return {
		type: 'function',
		function: { name, description: textOf(entry.description), parameters },
	};
}

/** A tool of a connected tool node, as n8n passes it; or a node with several tools. */
interface OfferedTool {
	readonly name: string;
	readonly description?: string;
	readonly schema?: unknown;
	readonly metadata?: {
		readonly sourceNodeName?: string;
		readonly isFromToolkit?: boolean;
		/** On a tool behind a human review: the node of the tool itself. */
		readonly gatedToolNodeName?: string;
	};
	readonly tools?: readonly OfferedTool[];
	getTools?(): readonly OfferedTool[];
}

/** Label of the input for connected tool nodes. */
const NODES_LABEL = 'Tool Nodes';

/** The tool nodes that are connected to the input Tool Nodes. */
export interface ToolNodes {
	readonly declarations: readonly ToolDeclaration[];
	/** By declared name, the node that runs the calls, and of a node with several tools its own name of the one to call. */
	readonly nodes: Readonly<Record<string, { nodeName: string; tool?: string }>>;
}

/**
 * Reads the connected tool nodes, with the schemas of their tools.
 *
 * @throws InputError where connected tool nodes do not work, and for an invalid or repeated tool.
 */
export async function readToolNodes(context: IExecuteFunctions): Promise<ToolNodes> {
	const connected = await context.getInputConnectionData(NodeConnectionTypes.AiTool, 0);
	const offered = ([connected ?? []].flat() as OfferedTool[]).flatMap(
		(offer) => offer.tools ?? offer.getTools?.() ?? [offer],
	);
	if (offered.length === 0) return { declarations: [], nodes: {} };

	// Otherwise n8n would return nothing or something else as the results of the tools.
	rejectMistakes(NODES_LABEL, [
		[
			offered.some(({ metadata = {} }) => 'gatedToolNodeName' in metadata),
			"contain a human review, which only n8n's own agents can run",
			'Put a node with Send and Wait into a tool branch instead',
		],
		[
			sourceOf(context) === null,
			'work only when another node has started this one',
			'Connect a trigger, such as Manual Trigger, and execute the step again',
		],
		[
			workflowOf(context).isLegacyOrder,
			'do not work in execution order v0',
			'Set Execution Order to v1 in the settings of the workflow, or run the tools in branches',
		],
	]);

	const sdk = loadAiNodeSdk();
	const names = toolNames(offered.map(({ name }) => name));
	const declarations = offered.map((tool, index) => {
		const named = { ...tool, name: names[index]!, inputSchema: tool.schema };
		const declared = toDeclaration(sdk, named);
		const { parameters } = declared.function;
		// The arguments are merged into the item that the expressions of the node read. Tools of a toolkit get only arguments.
		const isClosed = parameters !== undefined && tool.metadata?.isFromToolkit !== true;
		const closed = isClosed && { parameters: { additionalProperties: false, ...parameters } };
		return asJson({ ...declared, function: { ...declared.function, ...closed } });
	});
	const checked = checkTools(declarations, NODES_LABEL);
	for (const { name, parameters = {} } of checked.map((tool) => tool.function)) {
		const problem = schemaProblem(parameters);
		// The schema is not the person's: one must not stop all tools.
		if (problem !== undefined)
			openedRun(context).hint(`The arguments of ${name} cannot be checked: ${problem}`);
	}
	const nodes = offered.map(({ name: tool, metadata = {} }, index) => {
		const { sourceNodeName: nodeName = tool, isFromToolkit = false } = metadata;
		return [names[index]!, { nodeName, ...(isFromToolkit && { tool }) }] as const;
	});
	return { declarations: checked, nodes: Object.fromEntries(nodes) };
}
