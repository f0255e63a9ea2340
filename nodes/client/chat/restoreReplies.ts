import { asJson, parseJson, type JsonValue } from '../json';
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
	const originals = replies.map((reply) => ({
		reply,
		byId: new Map(reply.tool_calls?.map((call) => [call.id, call])),
	}));
	const restored: ChatMessage[] = [];
	let current: ChatMessage | undefined;
	let answered = new Set<string | undefined>();
	for (const message of messages) {
		const { role, tool_calls: calls = [] } = message;
		if (role === 'tool') {
			restored.push(message);
			answered.add(message.tool_call_id);
			continue;
		}
		// The latest one that has all calls: models may reuse ids in every round.
		const isOriginal = ({ byId }: (typeof originals)[number]) =>
			calls.every((call) => isSameCall(byId.get(call.id), call));
		const reply = calls.length === 0 ? undefined : originals.findLast(isOriginal)?.reply;
		// A call that already has a result starts another round, even if it is the same call again.
		const isNewRound = reply !== current || calls.some(({ id }) => answered.has(id));
		if (reply !== undefined && !isNewRound) continue;
		restored.push(reply ?? message);
		current = reply;
		answered = new Set();
	}
	return restored;
}

function isSameCall(original: ToolCall | undefined, rebuilt: ToolCall): boolean {
	return (
		original?.function.name === rebuilt.function.name &&
		isSubset(parseJson(original.function.arguments), parseJson(rebuilt.function.arguments))
	);
}

/** Deep comparison in which objects of the superset may have additional keys. */
export function isSubset(subset: JsonValue | undefined, superset: JsonValue | undefined): boolean {
	if (Array.isArray(subset) !== Array.isArray(superset)) return false;
	if (typeof subset !== 'object' || subset === null) return subset === superset;
	if (typeof superset !== 'object' || superset === null) return false;
	const hasAll = !Array.isArray(subset) || subset.length === superset.length;
	const values = asJson(superset);
	return hasAll && Object.entries(subset).every(([key, value]) => isSubset(value, values[key]));
}
