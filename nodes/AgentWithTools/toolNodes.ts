import { NodeConnectionTypes, type IExecuteFunctions } from 'n8n-workflow';

import type { ToolDeclaration } from '../client/chat/tools';
import { InputError } from '../client/errors';
import { loadAiNodeSdk } from '../shared/chat/aiNodeSdk';

/** A tool as n8n hands over what a connected tool node offers. */
interface OfferedTool {
	readonly name: string;
	readonly description?: string;
	readonly schema?: unknown;
	readonly metadata?: { readonly sourceNodeName?: string; readonly isFromToolkit?: boolean };
}

/** A node may offer several tools at once. */
interface Toolkit {
	readonly tools?: readonly OfferedTool[];
	getTools?(): readonly OfferedTool[];
}

/** Where a tool's calls go. */
export interface ToolNode {
	readonly nodeName: string;
	/** Whether the node has several tools and must be told which one is meant. */
	readonly isFromToolkit: boolean;
}

/** n8n's own tool nodes that are connected to the node. */
export interface ToolNodes {
	readonly declarations: readonly ToolDeclaration[];
	/** By the names of their tools. */
	readonly nodes: Readonly<Record<string, ToolNode>>;
}

/**
 * Reads the tool nodes that are connected, with the schemas that they declare.
 *
 * @throws InputError when there are some, and this n8n is too old to read their schemas.
 */
export async function readToolNodes(context: IExecuteFunctions): Promise<ToolNodes> {
	const connected = await context.getInputConnectionData(NodeConnectionTypes.AiTool, 0);
	const offered = [connected ?? []]
		.flat()
		.flatMap((each) => unpacked(each as OfferedTool & Toolkit));
	if (offered.length === 0) return { declarations: [], nodes: {} };

	const sdk = loadAiNodeSdk();
	if (sdk === undefined) {
		throw new InputError(
			'Tools input',
			'cannot be used in this n8n',
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

function unpacked(offer: OfferedTool & Toolkit): readonly OfferedTool[] {
	return offer.tools ?? offer.getTools?.() ?? [offer];
}
