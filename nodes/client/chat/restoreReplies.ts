import { isJsonObject, parseJson, type JsonValue } from '../json';
import type { ChatMessage, ToolCall } from './types';

/**
 * The messages of an agent with the replies that ask for tools put back as the service had sent them (spec 4): with
 * their reasoning, all their calls together, and the arguments letter by letter.
 *
 * Agents rebuild such replies for the next round. They drop the reasoning, write the arguments anew and add to them,
 * and some hand the calls of one reply back one by one, each followed by its result.
 *
 * @param replies The replies as they came, oldest first.
 */
export function restoreReplies(
	messages: readonly ChatMessage[],
	replies: readonly ChatMessage[],
): ChatMessage[] {
	const replayed: ChatMessage[] = [];
	let current: ChatMessage | undefined;
	let answered: (string | undefined)[] = [];
	for (const message of messages) {
		if (message.role === 'tool') {
			replayed.push(message);
			answered.push(message.tool_call_id);
			continue;
		}
		const reply = replyOf(message, replies);
		// The same calls once more, after their results, are another round.
		const goesOn =
			reply !== undefined &&
			reply === current &&
			!message.tool_calls!.some(({ id }) => answered.includes(id));
		if (goesOn) continue;
		replayed.push(reply ?? message);
		current = reply;
		answered = [];
	}
	return replayed;
}

/** The newest reply that asks for all calls of the message; a model may use the same id in every round. */
function replyOf(
	{ tool_calls: calls = [] }: ChatMessage,
	replies: readonly ChatMessage[],
): ChatMessage | undefined {
	if (calls.length === 0) return undefined;
	return replies.findLast(({ tool_calls: asked = [] }) =>
		calls.every((call) => asked.some((each) => isSame(each, call))),
	);
}

function isSame(asked: ToolCall, rebuilt: ToolCall): boolean {
	return (
		asked.id === rebuilt.id &&
		asked.function.name === rebuilt.function.name &&
		isWithin(parseJson(asked.function.arguments), parseJson(rebuilt.function.arguments))
	);
}

/** Whether everything in the one value is in the other; objects may have more there. */
function isWithin(inner: JsonValue | undefined, outer: JsonValue | undefined): boolean {
	if (Array.isArray(inner)) {
		return (
			Array.isArray(outer) &&
			inner.length === outer.length &&
			inner.every((value, index) => isWithin(value, outer[index]))
		);
	}
	if (!isJsonObject(inner)) return inner === outer;
	return (
		isJsonObject(outer) &&
		Object.entries(inner).every(([key, value]) => isWithin(value, outer[key]))
	);
}
