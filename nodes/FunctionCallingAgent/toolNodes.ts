import { NodeConnectionTypes, type IExecuteFunctions } from 'n8n-workflow';

import { checkTools, type ToolDeclaration } from '../client/chat/tools';
import { InputError } from '../client/errors';
import { asJson } from '../client/json';
import { loadAiNodeSdk } from '../shared/chat/aiNodeSdk';

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

/**
 * Reads the connected tool nodes, with the schemas of their tools.
 *
 * @throws InputError when tool nodes are connected and this n8n is too old to read their schemas, when n8n started
 *   this node without another one, for a human review, and for an invalid or repeated tool.
 */
export async function readToolNodes(context: IExecuteFunctions): Promise<ToolNodes> {
	const connected = await context.getInputConnectionData(NodeConnectionTypes.AiTool, 0);
	const offered = [connected ?? []]
		.flat()
		.flatMap((each) => toTools(each as OfferedTool & Toolkit));
	if (offered.length === 0) return { declarations: [], nodes: {} };

	const reviewed = offered.find(({ metadata = {} }) => 'gatedToolNodeName' in metadata);
	if (reviewed !== undefined) {
		throw new InputError(
			`${LABEL}: ${reviewed.metadata!.sourceNodeName!}`,
			"is a human review, which only n8n's own agents can run",
			'Put a node with Send and Wait into a tool branch instead',
		);
	}
	// n8n drops the tool calls of a node that it started without one before it, and ends with success.
	if (!hasSource(context)) {
		throw new InputError(
			LABEL,
			'work only when another node has started this one',
			'Connect a trigger, such as Manual Trigger, and execute the step again',
		);
	}
	const sdk = loadAiNodeSdk();
	if (sdk === undefined) {
		throw new InputError(
			LABEL,
			'does not work in this n8n',
			'Update n8n to 2.41 or later, or declare the tools in the form',
		);
	}
	const declarations = offered.map(({ name, description = '', schema }) => {
		const parameters =
			schema === undefined
				? {}
				: { parameters: sdk.getParametersJsonSchema({ inputSchema: schema }) };
		return asJson({ type: 'function', function: { name, description, ...parameters } });
	});
	return {
		declarations: checkTools(declarations, LABEL),
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

function hasSource(context: IExecuteFunctions): boolean {
	try {
		return Boolean(context.getInputSourceData());
	} catch {
		return false;
	}
}
