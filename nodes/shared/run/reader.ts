import {
	CHAT_TRIGGER_NODE_TYPE,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';

import { isToolRun, runDataOf } from '../engine/nodeRun';
import { workflowOf } from '../engine/workflow';
import type { NodeContext } from './nodeContext';
import { isToolCall } from './toolCall';

/** The first item of each run of the Chat Trigger that has started this execution. */
export function chatMessages(context: IExecuteFunctions): INodeExecutionData[] {
	const { nodes } = workflowOf(context);
	const runs = Object.entries(runDataOf(context) ?? {}).flatMap(([name, each]) =>
		nodes[name]?.type === CHAT_TRIGGER_NODE_TYPE ? each : [],
	);
	// In the retry of a crashed execution, n8n has invented the first run.
	return runs.flatMap(({ data }) => data?.['main']?.[0]?.[0] ?? []);
}

/**
 * Who reads the texts of this run: the model whose tool it is, the visitor of the chat or streamed response that has started
 * the execution, or the owner of the workflow. In n8n's *Retry* of a chat nobody waits for the reply any more.
 */
export function readerOf(context: NodeContext): 'model' | 'visitor' | 'owner' {
	// n8n's type of a sub-node lacks what its context has. That of n8n 2.20 has no such method.
	const run = context as IExecuteFunctions;
	if (isToolRun(context) || isToolCall(run)) return 'model';
	const { isStreaming } = context as Partial<IExecuteFunctions>;
	const isChat = context.getMode() !== 'retry' && chatMessages(run).length > 0;
	return isStreaming?.call(context) === true || isChat ? 'visitor' : 'owner';
}
