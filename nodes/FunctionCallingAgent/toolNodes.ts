import { NodeConnectionTypes, type IExecuteFunctions } from 'n8n-workflow';

import type { ToolDeclaration } from '../client/chat/tools';
import { InputError } from '../client/errors';
import { loadAiNodeSdk } from '../shared/chat/aiNodeSdk';

/** A tool of a connected tool node, as n8n passes it. */
interface OfferedTool {
	readonly name: string;
	readonly description?: string;
	readonly schema?: unknown;
	readonly metadata?: { readonly sourceNodeName?: string; readonly isFromToolkit?: boolean };
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

/** The tool nodes that are connected to the input Tools. */
export interface ToolNodes {
	readonly declarations: readonly ToolDeclaration[];
	/** By tool name. */
	readonly nodes: Readonly<Record<string, ToolNode>>;
}

/**
 * Reads the connected tool nodes, with the schemas of their tools.
 *
 * @throws InputError when tool nodes are connected and this n8n is too old to read their schemas.
 */
export async function readToolNodes(context: IExecuteFunctions): Promise<ToolNodes> {
	const connected = await context.getInputConnectionData(NodeConnectionTypes.AiTool, 0);
	const offered = [connected ?? []]
		.flat()
		.flatMap((each) => toTools(each as OfferedTool & Toolkit));
	if (offered.length === 0) return { declarations: [], nodes: {} };

	const sdk = loadAiNodeSdk();
	if (sdk === undefined) {
		throw new InputError(
			'Tools input',
			'does not work in this n8n',
			'Update n8n to 2.41 or later, or declare the tools in the form',
		);
	}
	return {
		declarations: offered.map(({ name, description = '', schema }) => ({
			type: 'function',
			function: {
				name,
				description,
				...(schema === undefined
					? {}
					: { parameters: sdk.getParametersJsonSchema({ inputSchema: schema }) }),
			},
		})),
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
