import { NodeConnectionTypes, type IExecuteFunctions } from 'n8n-workflow';

import { checkTools, type ToolDeclaration } from '../client/chat/tools';
import { schemaProblem } from '../client/chat/toolSchema';
import { InputError } from '../client/errors';
import { asJson } from '../client/json';
import { loadAiNodeSdk, toDeclaration } from '../shared/chat/aiNodeSdk';
import { engineOf, sourceOf } from '../shared/run/engine';

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
const LABEL = 'Tool Nodes';

/** The tool nodes that are connected to the input Tool Nodes. */
export interface ToolNodes {
	readonly declarations: readonly ToolDeclaration[];
	/** By tool name. */
	readonly nodes: Readonly<Record<string, ToolNode>>;
}

/** Where connected tool nodes do not work, and n8n would return nothing or something else as their results. */
const OBSTACLES: readonly {
	readonly isMet: (context: IExecuteFunctions, offered: readonly OfferedTool[]) => boolean;
	readonly problem: string;
	readonly hint: string;
}[] = [
	{
		isMet: (_context, offered) =>
			offered.some(({ metadata = {} }) => 'gatedToolNodeName' in metadata),
		problem: "contain a human review, which only n8n's own agents can run",
		hint: 'Put a node with Send and Wait into a tool branch instead',
	},
	{
		isMet: (context) => sourceOf(context) === null,
		problem: 'work only when another node has started this one',
		hint: 'Connect a trigger, such as Manual Trigger, and execute the step again',
	},
	{
		isMet: (context) => engineOf(context).isLegacyOrder,
		problem: 'do not work in execution order v0',
		hint: 'Set Execution Order to v1 in the settings of the workflow, or run the tools in branches',
	},
	{
		isMet: () => loadAiNodeSdk() === undefined,
		problem: 'do not work in this n8n',
		hint: 'Update n8n to 2.41 or later, or declare the tools in the form',
	},
];

/**
 * Reads the connected tool nodes, with the schemas of their tools.
 *
 * @throws InputError where connected tool nodes do not work, and for an invalid or repeated tool.
 */
export async function readToolNodes(context: IExecuteFunctions): Promise<ToolNodes> {
	const connected = await context.getInputConnectionData(NodeConnectionTypes.AiTool, 0);
	const offered = [connected ?? []]
		.flat()
		.flatMap((each) => toTools(each as OfferedTool & Toolkit));
	if (offered.length === 0) return { declarations: [], nodes: {} };

	const obstacle = OBSTACLES.find(({ isMet }) => isMet(context, offered));
	if (obstacle !== undefined) throw new InputError(LABEL, obstacle.problem, obstacle.hint);

	const sdk = loadAiNodeSdk()!;
	const declarations = offered.map(({ schema, ...tool }) =>
		asJson(toDeclaration(sdk, { ...tool, inputSchema: schema })),
	);
	return {
		declarations: checkTools(declarations, LABEL, schemaProblem),
		nodes: Object.fromEntries(
			offered.map(
				({ name, metadata: { sourceNodeName = name, isFromToolkit = false } = {} }) => [
					name,
					{ nodeName: sourceNodeName, isFromToolkit },
				],
			),
		),
	};
}

function toTools(offer: OfferedTool & Toolkit): readonly OfferedTool[] {
	return offer.tools ?? offer.getTools?.() ?? [offer];
}
