import { ServiceError } from '../errors';
import { asJson, parseJson, type JsonObject, type JsonValue } from '../json';
import { findMedia } from './media';
import type { ChatCompletion, Usage } from './types';

/** Fields of a chat body that are output unchanged (spec 2.4 to 2.6), in output order. */
const EXTRA_FIELDS = [
	'model',
	'session_id',
	'knowledge_base',
	'suggested_questions',
	'agent',
	'trace_id',
] as const;

/** A Markdown code fence around the whole text. */
const CODE_FENCE = /^```[a-z]*\s*\n([\s\S]*?)\n?```$/i;

export interface ResultOptions {
	/** Whether to parse the reply as JSON into `json`. */
	readonly json: boolean;
}

/**
 * Flattens a chat body into one object: `content`, `json`, `reasoning_content`, `tool_calls`, `media`, `finish_reason`,
 * `usage` and the extra fields of the service (spec 2.4 to 2.6). Fields that the service did not send are omitted.
 *
 * @throws ServiceError `protocol` if JSON was requested and the reply is not JSON; `details.partial` has the body.
 */
export function toChatResult(completion: ChatCompletion, { json }: ResultOptions): JsonObject {
	const choice = completion.choices[0]!;
	const { content, reasoning_content, tool_calls } = choice.message;
	const media = findMedia(content ?? '');
	const fields: Record<string, unknown> = {
		content,
		json: json && content !== null ? readJsonReply(completion) : undefined,
		reasoning_content,
		tool_calls,
		media: media.length === 0 ? undefined : media,
		finish_reason: choice.finish_reason,
		usage: usageOf(completion),
	};
	for (const key of EXTRA_FIELDS) fields[key] = completion[key] ?? undefined;
	return Object.fromEntries(
		Object.entries(fields).filter(([, value]) => value !== undefined),
	) as JsonObject;
}

/** Token usage: at the top level of a non-streamed body, in the choices of a stream (spec 2.4, 2.5). */
export function usageOf({ usage, choices }: ChatCompletion): Usage | undefined {
	// Some servers send null.
	return usage ?? choices[0]?.usage ?? undefined;
}

/** Parses a reply in JSON mode (`response_format`, spec 2.1). A code fence around it is removed: models often add one. */
function readJsonReply(completion: ChatCompletion): JsonValue {
	const { message, finish_reason: finishReason } = completion.choices[0]!;
	const text = (message.content ?? '').trim();
	const value = parseJson(CODE_FENCE.exec(text)?.[1] ?? text);
	if (value !== undefined) return value;

	throw new ServiceError(
		'protocol',
		'The reply is not valid JSON',
		finishReason === 'length'
			? 'The reply was cut off at its maximum length: ask for a shorter one'
			: 'Ask for JSON in the prompt, and describe the fields',
		{ serviceMessage: text, partial: asJson(completion) },
	);
}
