import { isJsonObject, type JsonObject, type JsonValue } from '../json';
import type { ChatMessage, ReplyMessage, ToolCall } from './types';

/** A tool call of a reply; with its result if the service has executed it (spec 2.4). */
export interface RepliedCall {
	readonly call: ToolCall;
	readonly result?: string;
}

/**
 * Reads the tool calls of a reply (spec 2.3), also where a server does not follow the specification. The ids become
 * unique texts that are not empty, the arguments a text; entries that are not objects are dropped.
 *
 * @param prefix Beginning of the ids of calls without one.
 */
export function readToolCalls(
	{ tool_calls: calls, tool_results: results }: ReplyMessage,
	prefix = 'call',
): RepliedCall[] {
	const executed = objectsOf(results);
	const ids = new Map<string, number>();
	return objectsOf(calls).map((call, index) => {
		const sent = idText(call['id']);
		const id = uniqueId(sent === '' ? `${prefix}_${index + 1}` : sent, ids);
		const found = executed.findIndex(({ tool_call_id: of }) => idText(of) === sent);
		// Calls with the same id have their results in the order of the calls.
		const [result] = found === -1 ? [] : executed.splice(found, 1);
		return {
			call: { ...call, id, type: 'function', function: readFunction(call['function']) },
			...(result === undefined ? {} : { result: jsonText(result['content'] ?? '') }),
		};
	});
}

/** Reads the `function` of a tool call: a missing name is empty, missing arguments are `{}`. */
export function readFunction(value: unknown): ToolCall['function'] {
	const called = isJsonObject(value) ? value : {};
	const { name, arguments: args } = called;
	const text = jsonText(args ?? '');
	return {
		...called,
		name: typeof name === 'string' ? name : '',
		arguments: text.trim() === '' ? '{}' : text,
	};
}

/**
 * Whether a reply with this finish reason is complete, so that its calls can be run. Some servers end a reply with calls
 * with `stop` or nothing; with `length`, `content_filter` and others a call may be cut off.
 */
export function isComplete(finishReason: unknown): boolean {
	return [undefined, null, '', 'stop', 'tool_calls'].includes(finishReason as string | null);
}

/** The assistant message that sends a reply back with these of its calls (spec 4); `content` is null without text. */
export function toReplay(message: ReplyMessage, calls: readonly ToolCall[]): ChatMessage {
	const { tool_calls, tool_results, content, ...rest } = message;
	const hasText = /\S/.test(content ?? '');
	return {
		...rest,
		role: 'assistant',
		content: calls.length > 0 && !hasText ? null : content,
		...(calls.length === 0 ? {} : { tool_calls: calls }),
	};
}

/** An id as text: some servers send numbers. Empty if there is none. */
export function idText(id: JsonValue | undefined): string {
	return typeof id === 'string' || typeof id === 'number' ? String(id) : '';
}

/** A text as it is, any other value as JSON. */
export function jsonText(value: JsonValue): string {
	return typeof value === 'string' ? value : JSON.stringify(value);
}

/** @param taken The ids so far, each with the number of the last call that asked for it. */
function uniqueId(id: string, taken: Map<string, number>): string {
	let number = taken.get(id) ?? 0;
	let unique = id;
	do {
		number += 1;
		unique = number === 1 ? id : `${id}_${number}`;
	} while (number > 1 && taken.has(unique));
	taken.set(id, number);
	if (unique !== id) taken.set(unique, 1);
	return unique;
}

function objectsOf(value: unknown): JsonObject[] {
	return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
