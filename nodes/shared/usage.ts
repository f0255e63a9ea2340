import { accumulateTokenUsage, type IExecuteFunctions } from 'n8n-workflow';

import { usageOf } from '../client/chat/result';
import type { ChatCompletion } from '../client/chat/types';

/** Adds the tokens of a call to what n8n shows for the node; an n8n without that display is left alone. */
export function reportUsage(context: IExecuteFunctions, completion: ChatCompletion): void {
	const usage = usageOf(completion);
	if (usage === undefined || typeof accumulateTokenUsage !== 'function') return;
	accumulateTokenUsage(context, usage.prompt_tokens, usage.completion_tokens);
}
