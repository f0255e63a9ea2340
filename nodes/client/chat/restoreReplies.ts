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
	const originals = replies.map(
		({ tool_calls: calls = [] }) => new Map(calls.map((call) => [call.id, call])),
	);
	const restored: ChatMessage[] = [];
	let current: ChatMessage | undefined;
	let answered = new Set<string | undefined>();
	for (const message of messages) {
		if (message.role === 'tool') {
			restored.push(message);
			answered.add(message.tool_call_id);
			continue;
		}
		const reply = replies[findReply(message, originals)];
		// A call that already has a result starts another round, even if it is the same call again.
		const isSameRound =
			reply !== undefined &&
			reply === current &&
			!message.tool_calls!.some(({ id }) => answered.has(id));
		if (isSameRound) continue;
		restored.push(reply ?? message);
		current = reply;
		answered = new Set();
	}
	return restored;
}

/** Index of the latest reply that contains all calls of the message, or -1: models may reuse ids in every round. */
function findReply(
	{ tool_calls: calls = [] }: ChatMessage,
	originals: readonly ReadonlyMap<string, ToolCall>[],
): number {
	if (calls.length === 0) return -1;
	return originals.findLastIndex((byId) =>
		calls.every((call) => isSameCall(byId.get(call.id), call)),
	);
}

function isSameCall(original: ToolCall | undefined, rebuilt: ToolCall): boolean {
	return (
		original?.function.name === rebuilt.function.name &&
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
