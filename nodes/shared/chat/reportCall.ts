import { accumulateTokenUsage, type IExecuteFunctions } from 'n8n-workflow';

import { usageOf } from '../../client/chat/result';
import type { ChatCompletion } from '../../client/chat/types';

/** By what an execution can be found in n8n's list of executions, and the field of the reply that it comes from. */
const LABELS = [
	['agent_video_model', 'model'],
	['agent_video_session', 'session_id'],
] as const;

/** Adds the tokens of a call to what n8n shows for the node, and labels the execution with its model and session. */
export function reportCall(context: IExecuteFunctions, completion: ChatCompletion): void {
	reportUsage(context, completion);
	for (const [label, field] of LABELS) {
		const value = completion[field];
		if (typeof value === 'string' && value !== '') setLabel(context, label, value);
	}
}

/** An n8n without a token display is left alone. */
function reportUsage(context: IExecuteFunctions, completion: ChatCompletion): void {
	const usage = usageOf(completion);
	if (usage === undefined || typeof accumulateTokenUsage !== 'function') return;
	accumulateTokenUsage(context, usage.prompt_tokens, usage.completion_tokens);
}

/** n8n keeps at most ten labels of 255 characters; an n8n without labels is left alone. */
function setLabel(context: Partial<IExecuteFunctions>, label: string, value: string): void {
	context.customData?.set(label, value.slice(0, 255));
}
