import {
	CHAT_TRIGGER_NODE_TYPE,
	type IExecuteFunctions,
	type ISupplyDataFunctions,
} from 'n8n-workflow';

/** Type name of the credential that all nodes share. */
export const CREDENTIAL = 'agentVideoApi';

/** The context that n8n passes to a node: one that processes items, or a sub-node. */
export type NodeContext = IExecuteFunctions | ISupplyDataFunctions;

/** Whether the node runs as a tool of an AI agent: n8n gives such a node a type name that ends in "Tool". */
export function isToolRun(context: NodeContext): boolean {
	return context.getNode().type.endsWith('Tool');
}

/** Whether the visitor of a chat may read the output of the node: n8n's Chat Trigger comes before it. */
export function isInChat(context: IExecuteFunctions): boolean {
	const before = context.getParentNodes(context.getNode().name);
	return before.some(({ type }) => type === CHAT_TRIGGER_NODE_TYPE);
}
