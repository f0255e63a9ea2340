import type { JsonObject } from '../json';
import type { ChatCompletion, Choice, Usage } from './types';

/** Fields of a chat body that go to the output as they are (spec 2.4 to 2.6), in their order there. */
const EXTRAS = [
	'model',
	'session_id',
	'knowledge_base',
	'suggested_questions',
	'agent',
	'trace_id',
] as const;

/**
 * The reply as a flat object: `content`, `reasoning_content`, `tool_calls`, `finish_reason`, `usage` and the
 * service's extras (spec 2.4 to 2.6). Fields that the service did not send are left out.
 */
export function toChatResult(completion: ChatCompletion): JsonObject {
	const choice = completion.choices[0]!;
	const { content, reasoning_content, tool_calls } = choice.message;
	const fields: Record<string, unknown> = {
		content,
		reasoning_content,
		tool_calls,
		finish_reason: choice.finish_reason,
		usage: usageOf(completion, choice),
	};
	for (const key of EXTRAS) fields[key] = completion[key] ?? undefined;
	return Object.fromEntries(
		Object.entries(fields).filter(([, value]) => value !== undefined),
	) as JsonObject;
}

/** Usage lies at the top of a body, but inside the choices of a stream (spec 2.4, 2.5). */
function usageOf({ usage }: ChatCompletion, choice: Choice): Usage | undefined {
	return usage ?? choice.usage;
}
