import {
	CHAT_TRIGGER_NODE_TYPE,
	FORM_TRIGGER_NODE_TYPE,
	WEBHOOK_NODE_TYPE,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
	type ITaskData,
} from 'n8n-workflow';

import { isToolRun, runDataOf } from '../engine/nodeRun';
import { workflowOf } from '../engine/workflow';
import type { NodeContext } from './nodeContext';
import { isToolCall } from './toolCall';

/** The triggers behind which somebody waits for what the workflow says, and whether such a node has such a reader. */
const WAITING: Readonly<Record<string, (trigger: INode) => boolean>> = {
	[CHAT_TRIGGER_NODE_TYPE]: () => true,
	[FORM_TRIGGER_NODE_TYPE]: () => true,
	// Without a mode n8n answers at once, before the workflow has run.
	[WEBHOOK_NODE_TYPE]: ({ parameters: { responseMode = 'onReceived' } }) =>
		responseMode !== 'onReceived',
};

/** The triggers that have run in this execution, with their runs. */
function triggers(context: IExecuteFunctions): { trigger: INode; runs: ITaskData[] }[] {
	const { nodes } = workflowOf(context);
	return Object.entries(runDataOf(context) ?? {}).flatMap(([name, runs]) => {
		const trigger = nodes[name];
		return trigger !== undefined && trigger.type in WAITING ? [{ trigger, runs }] : [];
	});
}

/** The first item of each run of the Chat Trigger that has started this execution. */
export function chatMessages(context: IExecuteFunctions): INodeExecutionData[] {
	const runs = triggers(context).flatMap(({ trigger, runs: each }) =>
		trigger.type === CHAT_TRIGGER_NODE_TYPE ? each : [],
	);
	// In the retry of a crashed execution, n8n has invented the first run.
	return runs.flatMap(({ data }) => data?.['main']?.[0]?.[0] ?? []);
}

/** Who reads the texts of a run, and where. */
export interface Reader {
	/**
	 * The model whose tool it is; a visitor: who waits for the chat, form or response that has started the execution; or the owner
	 * of the workflow, who also reads what is run in the editor. In n8n's *Retry* nobody waits any more.
	 */
	readonly reader: 'model' | 'visitor' | 'owner';
	/** Whether a page draws the texts, whose browser loads images unasked: also the chat in the editor. */
	readonly isDrawn: boolean;
}

/** Who reads the texts of this run. */
export function readerOf(context: NodeContext): Reader {
	// n8n's type of a sub-node lacks what its context has. That of n8n 2.20 has no such method.
	const run = context as IExecuteFunctions;
	if (isToolRun(context) || isToolCall(run)) return { reader: 'model', isDrawn: false };
	const mode = context.getMode();
	const { isStreaming } = context as Partial<IExecuteFunctions>;
	const isDrawn =
		isStreaming?.call(context) === true ||
		(mode !== 'retry' && triggers(run).some(({ trigger }) => WAITING[trigger.type]!(trigger)));
	return { reader: isDrawn && mode !== 'manual' ? 'visitor' : 'owner', isDrawn };
}
