import { CHAT_TRIGGER_NODE_TYPE, type IExecuteFunctions } from 'n8n-workflow';

import { engineOf } from '../run/engine';

/**
 * The `sessionId` of n8n's chat: that of the item, or else of the Chat Trigger that has started this execution, so that it
 * is found anywhere in the workflow. Empty if there is none.
 */
export function chatSession(context: IExecuteFunctions, item: number): string {
	const { runData = {}, workflow } = engineOf(context);
	const triggers = Object.entries(runData).filter(
		([name]) => workflow?.nodes?.[name]?.type === CHAT_TRIGGER_NODE_TYPE,
	);
	const ofTriggers = triggers.flatMap(([, runs]) => runs[0]?.data?.['main']?.[0]?.[0] ?? []);
	const ids = [context.getInputData()[item], ...ofTriggers].map(
		(each) => each?.json['sessionId'],
	);
	return ids.find((id): id is string => typeof id === 'string' && id.trim() !== '')?.trim() ?? '';
}
