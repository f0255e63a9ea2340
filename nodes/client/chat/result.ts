import type { JsonObject } from '../json';
import { readJsonReply } from './jsonReply';
import { findMedia } from './media';
import type { ChatCompletion, Usage } from './types';

/** Fields of a chat body that go to the output as they are (spec 2.4 to 2.6), in their order there. */
const EXTRAS = [
	'model',
	'session_id',
	'knowledge_base',
	'suggested_questions',
	'agent',
	'trace_id',
] as const;

export interface ResultOptions {
	/** Whether the reply is JSON, to be parsed into `json`. */
	readonly json: boolean;
}

/**
 * The reply as a flat object: `content`, `json`, `reasoning_content`, `tool_calls`, `media`, `finish_reason`, `usage` and
 * the service's extras (spec 2.4 to 2.6). Fields that the service did not send are left out.
 *
 * @throws ServiceError `protocol` when JSON was asked for and the reply is something else; it carries the completion.
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
	for (const key of EXTRAS) fields[key] = completion[key] ?? undefined;
	return Object.fromEntries(
		Object.entries(fields).filter(([, value]) => value !== undefined),
	) as JsonObject;
}

/** The tokens of a call: at the top of a body, but inside the choices of a stream (spec 2.4, 2.5). */
export function usageOf({ usage, choices }: ChatCompletion): Usage | undefined {
	return usage ?? choices[0]?.usage;
}
