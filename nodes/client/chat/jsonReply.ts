import { ServiceError } from '../errors';
import { parseJson, type JsonObject, type JsonValue } from '../json';
import type { ChatCompletion } from './types';

const FENCED = /^```[a-z]*\s*\n([\s\S]*?)\n?```$/i;

/**
 * What a reply in JSON mode says (spec 2.1 `response_format`); a code fence around it is tolerated.
 *
 * @throws ServiceError `protocol` when it is not JSON; the text is in its details.
 */
export function readJsonReply(completion: ChatCompletion): JsonValue {
	const { message, finish_reason: finishReason } = completion.choices[0]!;
	const text = (message.content ?? '').trim();
	const value = parseJson(FENCED.exec(text)?.[1] ?? text);
	if (value !== undefined) return value;

	throw new ServiceError(
		'protocol',
		'The reply is not JSON, although JSON was asked for',
		finishReason === 'length'
			? 'The reply was cut off at its greatest length: ask for a shorter one'
			: 'Tell the model in the prompt to answer in JSON, and in which form',
		{ serviceMessage: text, partial: completion as unknown as JsonObject },
	);
}
