import { NodeConnectionTypes, type IExecuteFunctions } from 'n8n-workflow';

import { readJson } from '../client/chat/readFields';
import { schemaProblem } from '../client/chat/toolArguments';
import { checkTools, type ToolDeclaration } from '../client/chat/tools';
import { InputError, rejectMistakes } from '../client/errors';
import { asJson, isJsonObject, withoutUndefined, type JsonObject } from '../client/json';
import { loadAiNodeSdk, toDeclaration } from '../shared/chat/aiNodeSdk';
import { readSchema, textOf, type SchemaEntry } from '../shared/chat/schemaForm';
import { engineOf, sourceOf } from '../shared/run/engine';
import { ENVELOPE } from './matching';

/** A tool as entered in the form. */
interface ToolEntry extends Pick<SchemaEntry, 'define' | 'schema' | 'example'> {
	readonly name?: unknown;
	readonly description?: unknown;
	readonly parameters?: { readonly parameter?: SchemaEntry['fields'] };
}

/**
 * The tool declarations of an item, from the form or as JSON.
 *
 * @param toolNodes The connected tool nodes, whose tools must have other names.
 * @throws InputError that names the tool and the problem.
 */
export function readTools(
	context: IExecuteFunctions,
	itemIndex: number,
	{ nodes }: ToolNodes,
): ToolDeclaration[] {
	const isJson = context.getNodeParameter('toolSource', itemIndex) === 'json';
	const label = isJson ? 'Tool Declarations' : 'Tools';
	const value = isJson
		? readJson(context.getNodeParameter('toolsJson', itemIndex, '[]'), label)
		: (context.getNodeParameter('tools.tool', itemIndex, []) as readonly ToolEntry[]).map(
				(entry, index) => readEntry(entry, `${label}: entry ${index + 1}`),
			);
	const tools = checkTools(value, label, schemaProblem);
	const taken = tools.find(({ function: { parameters } }) =>
		Object.hasOwn(Object(parameters?.['properties']) as object, ENVELOPE),
	);
	if (taken !== undefined) {
		throw new InputError(
			`${label}: ${taken.function.name}`,
			`has a parameter ${ENVELOPE}, which the node adds to each call itself`,
			'Rename the parameter',
		);
	}
	const repeated = tools.find((tool) => Object.hasOwn(nodes, tool.function.name));
	if (repeated !== undefined) {
		const problem = `repeat the name ${repeated.function.name} of a tool of this node`;
		throw new InputError(NODES_LABEL, problem, 'Rename one of the two');
	}
	return tools;
}

function readEntry(entry: ToolEntry, label: string): JsonObject {
	const { description, define, parameters } = entry;
	const name = textOf(entry.name);
	const fields = { ...entry, fields: parameters?.parameter };
	const schema = readSchema(fields, name === '' ? label : `${label} (${name})`, 'parameter');
	return {
		type: 'function',
		function: {
			name,
			description: textOf(description),
			parameters: {
				...(isJsonObject(schema) ? schema : {}),
				...(define === 'example' ? { additionalProperties: false } : {}),
			},
		},
	};
}

/** A tool of a connected tool node, as n8n passes it. */
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
}

/** Several tools of one connected node. */
interface Toolkit {
	readonly tools?: readonly OfferedTool[];
	getTools?(): readonly OfferedTool[];
}

/** The connected node that runs the calls of a tool. */
export interface ToolNode {
	readonly nodeName: string;
	/** Whether the node has several tools, so that a call has to name the one it is for. */
	readonly isFromToolkit: boolean;
}

/** Label of the input for connected tool nodes. */
const NODES_LABEL = 'Tool Nodes';

/** The tool nodes that are connected to the input Tool Nodes. */
export interface ToolNodes {
	readonly declarations: readonly ToolDeclaration[];
	/** By tool name. */
	readonly nodes: Readonly<Record<string, ToolNode>>;
}

/**
 * Reads the connected tool nodes, with the schemas of their tools.
 *
 * @throws InputError where connected tool nodes do not work, and for an invalid or repeated tool.
 */
export async function readToolNodes(context: IExecuteFunctions): Promise<ToolNodes> {
	const connected = await context.getInputConnectionData(NodeConnectionTypes.AiTool, 0);
	const offered = [connected ?? []].flat().flatMap((each): readonly OfferedTool[] => {
		const offer = each as OfferedTool & Toolkit;
		return offer.tools ?? offer.getTools?.() ?? [offer];
	});
	if (offered.length === 0) return { declarations: [], nodes: {} };

	const sdk = loadAiNodeSdk();
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
			engineOf(context).isLegacyOrder,
			'do not work in execution order v0',
			'Set Execution Order to v1 in the settings of the workflow, or run the tools in branches',
		],
	]);

	const declarations = offered.map(({ schema, metadata, ...tool }) => {
		const { type, function: declared } = toDeclaration(sdk, { ...tool, inputSchema: schema });
		// The arguments are merged into the item that the expressions of the node read. Tools of a toolkit get only arguments.
		const parameters =
			metadata?.isFromToolkit === true
				? declared.parameters
				: declared.parameters && { additionalProperties: false, ...declared.parameters };
		return asJson({ type, function: withoutUndefined({ ...declared, parameters }) });
	});
	return {
		declarations: checkTools(declarations, NODES_LABEL, schemaProblem),
		nodes: Object.fromEntries(
			offered.map(({ name, metadata = {} }) => {
				const { sourceNodeName = name, isFromToolkit = false } = metadata;
				return [name, { nodeName: sourceNodeName, isFromToolkit }];
			}),
		),
	};
}
