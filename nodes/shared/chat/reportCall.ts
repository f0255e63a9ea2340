import { accumulateTokenUsage, type IExecuteFunctions } from 'n8n-workflow';

import { usageOf } from '../../client/chat/result';
import type { ChatCompletion } from '../../client/chat/types';

/** Custom data that executions can be filtered by in n8n's list, and the field of the reply that each comes from. */
const CUSTOM_DATA = [
	['agent_video_model', 'model'],
	['agent_video_session', 'session_id'],
] as const;

/** Adds the tokens of a call to the node's token count in n8n, and the model and session to the execution's custom data. */
export function reportCall(context: IExecuteFunctions, completion: ChatCompletion): void {
	reportUsage(context, completion);
	for (const [key, field] of CUSTOM_DATA) {
		const value = completion[field];
		if (typeof value === 'string' && value !== '') setCustomData(context, key, value);
	}
}

/** Does nothing in an n8n that does not count tokens. */
function reportUsage(context: IExecuteFunctions, completion: ChatCompletion): void {
	const usage = usageOf(completion);
	if (usage === undefined || typeof accumulateTokenUsage !== 'function') return;
	accumulateTokenUsage(context, usage.prompt_tokens, usage.completion_tokens);
}

/** Values are cut to n8n's maximum of 255 characters. Does nothing in an n8n without custom data. */
export function setCustomData(
	context: Partial<IExecuteFunctions>,
	key: string,
	value: string,
): void {
	context.customData?.set(key, value.slice(0, 255));
}
