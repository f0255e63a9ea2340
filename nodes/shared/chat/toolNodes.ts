import { NodeConnectionTypes } from 'n8n-workflow';

import { schemaProblem } from '../../client/chat/jsonSchema';
import { checkTools } from '../../client/chat/requestFields';
import type { ToolDeclaration } from '../../client/chat/types';
import { rejectMistakes } from '../../client/errors';
import { asJson } from '../../client/json';
import { sourceOf } from '../engine/runs';
import { workflowOf } from '../engine/workflow';
import type { Run } from '../run/run';
import { loadAiNodeSdk, toDeclaration, toolNames } from './aiNodeSdk';

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
export const NODES_LABEL = 'Tool Nodes';

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
export async function readToolNodes({ context, hint }: Run): Promise<ToolNodes> {
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
			'Put Send and Wait for Response into a tool branch instead',
		],
		[
			sourceOf(context) === null,
			'work only when another node has started this one',
			'Connect a trigger, such as Manual Trigger, and execute the step again',
		],
		[
			workflowOf(context).isLegacyOrder,
			'do not work in Execution Logic v0',
			'Set Execution Logic (in older versions Execution Order) to v1 in the settings of the workflow, or run the tools in branches',
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
		if (problem !== undefined) hint(`The arguments of ${name} cannot be checked: ${problem}`);
	}
	const nodes = offered.map(({ name: tool, metadata = {} }, index) => {
		const { sourceNodeName: nodeName = tool, isFromToolkit = false } = metadata;
		return [names[index]!, { nodeName, ...(isFromToolkit && { tool }) }] as const;
	});
	return { declarations: checked, nodes: Object.fromEntries(nodes) };
}
