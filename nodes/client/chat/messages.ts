import { EMPTY_TEXT_HINT, InputError, rejectMistakes } from '../errors';
import { checkPublicUrl } from '../http/publicUrl';
import { asJson, fromJson, isJsonObject, objectOf, parseJson, type JsonValue } from '../json';
import { isBlank, oneLine } from '../values';
import { readJson } from './requestFields';
import type { ChatMessage, ContentPart, ToolCall } from './types';

const ROLES = ['system', 'user', 'assistant', 'tool'];
const TOOL_RESULT_HINT =
	'After an assistant message with tool_calls, add one message with the role tool for each call';

const CALLED_HINT =
	'Place it after the assistant message whose tool_calls contain this tool_call_id';
const LAST_HINT = 'End with a message with the role user or tool: the model answers it';
const LIST_HINT = 'Enter a JSON list: [{ "role": "user", "content": "Hello" }]';
const PART_HINT =
	'Use { "type": "text", "text": … } or { "type": "image_url", "image_url": { "url": … } }';
const MESSAGE_HINT =
	'A message has a role (system, user, assistant, tool) and content. Only assistant has tool_calls; only tool has a tool_call_id, and its content is a text';
const CALL_HINT =
	'Write each as { "id": …, "type": "function", "function": { "name": …, "arguments": "{}" } }. The arguments are JSON in a text';

/** Builds a user message from text and image URLs; without images its content is a plain string (spec 2.2). */
export function userMessage(text: string, imageUrls: readonly string[] = []): ChatMessage {
	return { role: 'user', content: imageUrls.length === 0 ? text : toParts(text, imageUrls) };
}

/** Adds a text and images to the last message of the user; as a message of its own where there is none. */
export function withMore(
	messages: readonly ChatMessage[],
	text: string,
	imageUrls: readonly string[] = [],
): readonly ChatMessage[] {
	const last = messages.findLastIndex(({ role }) => role === 'user');
	if (last === -1) return [...messages, userMessage(text, imageUrls)];
	const message = messages[last]!;
	const { content } = message;
	if (typeof content === 'string') {
		const all = [content, text].filter((each) => each !== '').join('\n\n');
		return messages.with(last, { ...message, ...userMessage(all, imageUrls) });
	}
	const parts = [...(content ?? []), ...toParts(text, imageUrls)];
	return messages.with(last, { ...message, content: parts });
}

function toParts(text: string, imageUrls: readonly string[]): ContentPart[] {
	const images = imageUrls.map((url): ContentPart => ({ type: 'image_url', image_url: { url } }));
	return isBlank(text) ? images : [{ type: 'text', text }, ...images];
}

/**
 * Validates messages one by one (spec 2.2); `checkOrder` validates their order.
 *
 * @param label Label of the field that contains the messages.
 * @throws InputError with the number of the invalid entry and the reason.
 */
export function checkMessages(
	value: JsonValue,
	label: string,
	{ allowPrivate }: { readonly allowPrivate: boolean },
): ChatMessage[] {
	if (!Array.isArray(value)) throw new InputError(label, 'is not a list', LIST_HINT);
	value.forEach((message, index) => {
		checkMessage(message, `${label}: entry ${index + 1}`, allowPrivate);
	});
	return fromJson<ChatMessage[]>(value);
}

/**
 * Validates the order of messages (spec 2.2, 4): the last one must be one that the model can answer, and every tool call
 * must be followed by its result.
 *
 * @param label Label of the field that contains the messages.
 * @throws InputError with the number of the misplaced entry and the reason.
 */
export function checkOrder(messages: readonly ChatMessage[], label: string): void {
	let open = new Set<string>();
	for (const [index, { role, tool_call_id: id, tool_calls: calls }] of messages.entries()) {
		const isResult = role === 'tool';
		const isLost = isResult && !open.delete(id ?? '');
		const [first] = isResult ? [] : open;
		const isEarly = `comes before the result of the tool call ${oneLine(first ?? '')}`;
		rejectMistakes(`${label}: entry ${index + 1}`, [
			[isLost, 'is a tool result without a matching tool call', CALLED_HINT],
			[first !== undefined, isEarly, TOOL_RESULT_HINT],
		]);
		if (!isResult) open = new Set((calls ?? []).map((call) => call.id));
	}
	const { role = '' } = messages.at(-1) ?? {};
	const [first] = open;
	const isOpen = `has no result for the tool call ${oneLine(first ?? '')}`;
	rejectMistakes(label, [
		[role === '', 'is empty', LAST_HINT],
		[first !== undefined, isOpen, TOOL_RESULT_HINT],
	]);
	const isLast = role === 'system' || role === 'assistant';
	rejectMistakes(`${label}: the last entry`, [[isLast, `has the role ${role}`, LAST_HINT]]);
}

/** Throws InputError where the service rejects a message (spec 2.2, 2.3). */
function checkMessage(message: JsonValue, entry: string, allowPrivate: boolean): void {
	const { role, content, tool_calls: sent, tool_call_id: id } = objectOf(message);
	const isTool = role === 'tool';
	const parts = Array.isArray(content) ? content : [];
	const isContent = parts === content || typeof (content ?? '') === 'string';
	const hasCalls = [sent ?? []].flat().length > 0;
	const isCalls = Array.isArray(sent) && sent.every(isCall);
	const mistakes = [
		[!ROLES.includes(String(role)), 'has an unknown role'],
		[role !== 'assistant' && isSet(sent), 'has tool_calls, but not the role assistant'],
		[!isTool && isSet(id), 'has a tool_call_id, but not the role tool'],
		[isTool && !isText(id), 'has no tool_call_id'],
		[isTool && typeof content !== 'string', 'has a tool result that is not a text'],
		[!isContent, 'has content that is neither a text nor a list of parts'],
		[isSet(sent) && !isCalls, 'has tool_calls that are not a list of tool calls', CALL_HINT],
		[!isTool && !hasCalls && isEmpty(content), 'has no content', EMPTY_TEXT_HINT],
	] as const;
	rejectMistakes(entry, mistakes, MESSAGE_HINT);
	for (const part of parts) checkPart(part, entry, allowPrivate);
}

const isSet = (value: JsonValue | undefined) => (value ?? null) !== null;
const isText = (value: JsonValue | undefined) => typeof value === 'string' && !isBlank(value);

function isCall(call: JsonValue): boolean {
	const { id, type, function: called } = objectOf(call);
	const { name, arguments: args } = objectOf(called);
	const isJson = typeof args === 'string' && parseJson(args) !== undefined;
	return isText(id) && type === 'function' && isText(name) && isJson;
}

/** Whether content has neither text nor another part. */
function isEmpty(content: JsonValue | undefined): boolean {
	if (!Array.isArray(content)) return isBlank(content);
	return content.map(objectOf).every(({ type, text }) => type === 'text' && isBlank(text));
}

function checkPart(part: JsonValue, entry: string, allowPrivate: boolean): void {
	const { type, text, image_url: image } = objectOf(part);
	if (type === 'text' && typeof text === 'string') return;
	if (type === 'image_url' && isJsonObject(image) && typeof image['url'] === 'string') {
		checkPublicUrl(image['url'], { field: `${entry}, image`, allowPrivate });
		return;
	}
	throw new InputError(entry, 'has a part that is neither text nor image', PART_HINT);
}

/** Maximum length of a memory, of the messages as JSON: a host stores it in one cell. */
const MAX_CHARACTERS = 100_000;

/** What a reply without text says where it is sent again: the service rejects messages without content (spec 7.1). */
export const NO_TEXT = '[reply without text]';

/** Inserts a memory after the leading system messages (spec 2.2). */
export function withMemory(
	memory: readonly ChatMessage[],
	messages: readonly ChatMessage[],
): ChatMessage[] {
	const first = messages.findIndex(({ role }) => role !== 'system');
	return [...messages.slice(0, first), ...memory, ...messages.slice(first)];
}

/** Index of the last turn: its question, one or more user messages, and what follows. The length if there is no question. */
export function lastTurn(messages: readonly ChatMessage[]): number {
	return turns(messages).at(-1) ?? messages.length;
}

/**
 * The messages of a turn as they are kept: without system messages, and without URLs that expire. A reply without
 * text gets `NO_TEXT`.
 */
export function toKeep(
	turn: readonly ChatMessage[],
	expires: (url: string) => boolean,
): ChatMessage[] {
	const keptPart = (part: ContentPart): ContentPart =>
		part.type === 'image_url' && expires(part.image_url.url)
			? { type: 'text', text: '[image, no longer available]' }
			: part;
	return turn.flatMap((message) => {
		const { role, content, tool_calls: calls } = message;
		if (role === 'system') return [];
		if (typeof content === 'object' && content !== null)
			return [{ ...message, content: content.map(keptPart) }];
		const isSilent = role === 'assistant' && calls === undefined && isBlank(content);
		return [isSilent ? { ...message, content: NO_TEXT } : message];
	});
}

/**
 * The newest whole turns within the limits. Of a last turn that is too long alone, its question and its last rounds: a tool
 * call is never without its result, nor a reply without a question. Empty if not even these fit.
 *
 * @param maxMessages 0 means no limit.
 */
export function limitMemory(
	messages: readonly ChatMessage[],
	maxMessages: number,
	maxCharacters = MAX_CHARACTERS,
): readonly ChatMessage[] {
	/** The characters of the messages before each index. */
	const characters = [0];
	for (const each of messages) characters.push(characters.at(-1)! + JSON.stringify(each).length);
	const starts = turns(messages);
	const question = starts.at(-1) ?? messages.length;
	const reply = messages.findIndex(({ role }, index) => index > question && role !== 'user');
	const rounds = messages.flatMap(({ role }, index) =>
		reply >= 0 && index >= reply && role === 'assistant' ? [[question, reply, index]] : [],
	);
	// What could be kept, the most first: the messages from `begin` to `end`, and those from `rest`.
	const parts = [...starts.map((start) => [start, start, start]), ...rounds] as const;
	for (const [begin = 0, end = 0, rest = 0] of parts) {
		const size = characters[end]! - characters[begin]! + characters.at(-1)! - characters[rest]!;
		const kept = end - begin + messages.length - rest;
		if ((maxMessages || Infinity) >= kept && maxCharacters >= size)
			return [...messages.slice(begin, end), ...messages.slice(rest)];
	}
	return [];
}

/** The indexes at which a turn begins. */
function turns(messages: readonly ChatMessage[]): number[] {
	return messages.flatMap(({ role }, index) =>
		role === 'user' && messages[index - 1]?.role !== 'user' ? [index] : [],
	);
}

/** Parses remembered messages, which a person can change; `undefined` if they cannot be continued. Empty text is none. */
export function parseMemory(text: string): readonly ChatMessage[] | undefined {
	try {
		const remembered = checkMessages(readJson(text || '[]', ''), '', { allowPrivate: true });
		checkOrder([...remembered, userMessage('next')], '');
		return remembered;
	} catch {
		return undefined;
	}
}

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
