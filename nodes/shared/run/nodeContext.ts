import {
	CHAT_TRIGGER_NODE_TYPE,
	type IDataObject,
	type IExecuteFunctions,
	type ISupplyDataFunctions,
} from 'n8n-workflow';

import { withoutUndefined } from '../../client/json';

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

/** The fields of a result that an agent's model needs; the others would only fill its context. */
const TOOL_FIELDS = {
	reply: ['output', 'json', 'tool_calls', 'media', 'session_id'],
	assistant: ['output', 'json', 'media', 'session_id'],
	video: ['task_id', 'status', 'video_url', 'thumbnail_url', 'reason', 'error_message'],
} as const;

/** The output of a result: all fields, or in a tool run only those the agent's model needs. */
export function forTools(
	context: IExecuteFunctions,
	kind: keyof typeof TOOL_FIELDS,
	result: IDataObject,
): IDataObject {
	if (!isToolRun(context)) return result;
	const fields = TOOL_FIELDS[kind].map((name) => [name, result[name]]);
	return withoutUndefined(Object.fromEntries(fields) as IDataObject);
}
