import { isJsonObject, parseJson, type JsonValue } from '../json';
import type { ChatMessage, ToolCall } from './types';

/**
 * Replaces rebuilt assistant messages with tool calls by the original replies of the service (spec 4): with the
 * reasoning, all calls in one message, and the exact text of the arguments.
 *
 * Needed for agent frameworks that rebuild these messages for the next round. They drop the reasoning, re-serialize the
 * arguments and add keys to them, and some return the calls of one reply one by one, each followed by its result.
 *
 * @param replies The original replies, oldest first.
 */
export function restoreReplies(
	messages: readonly ChatMessage[],
	replies: readonly ChatMessage[],
): ChatMessage[] {
	const restored: ChatMessage[] = [];
	let current: ChatMessage | undefined;
	let answered: (string | undefined)[] = [];
	for (const message of messages) {
		if (message.role === 'tool') {
			restored.push(message);
			answered.push(message.tool_call_id);
			continue;
		}
		const reply = findReply(message, replies);
		// A call that already has a result starts another round, even if it is the same call again.
		const isSameRound =
			reply !== undefined &&
			reply === current &&
			!message.tool_calls!.some(({ id }) => answered.includes(id));
		if (isSameRound) continue;
		restored.push(reply ?? message);
		current = reply;
		answered = [];
	}
	return restored;
}

/** Finds the latest reply that contains all calls of the message: models may reuse ids in every round. */
function findReply(
	{ tool_calls: calls = [] }: ChatMessage,
	replies: readonly ChatMessage[],
): ChatMessage | undefined {
	if (calls.length === 0) return undefined;
	return replies.findLast(({ tool_calls: originals = [] }) =>
		calls.every((call) => originals.some((original) => isSameCall(original, call))),
	);
}

function isSameCall(original: ToolCall, rebuilt: ToolCall): boolean {
	return (
		original.id === rebuilt.id &&
		original.function.name === rebuilt.function.name &&
		isSubset(parseJson(original.function.arguments), parseJson(rebuilt.function.arguments))
	);
}

/** Deep comparison in which objects of the superset may have additional keys. */
function isSubset(subset: JsonValue | undefined, superset: JsonValue | undefined): boolean {
	if (Array.isArray(subset)) {
		return (
			Array.isArray(superset) &&
			subset.length === superset.length &&
			subset.every((value, index) => isSubset(value, superset[index]))
		);
	}
	if (!isJsonObject(subset)) return subset === superset;
	return (
		isJsonObject(superset) &&
		Object.entries(subset).every(([key, value]) => isSubset(value, superset[key]))
	);
}
