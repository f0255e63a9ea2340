import { fromJson, isJsonObject, parseJson, type JsonValue } from '../json';
import { isBlank } from '../values';
import { checkOrder, userMessage } from './messages';
import type { ChatMessage, ContentPart } from './types';

/** Limits of what a memory keeps; 0 means none. */
export interface MemoryLimits {
	readonly memoryMessages: number;
	/** Of the messages as JSON. */
	readonly memoryCharacters: number;
}

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
 * text gets one: the service rejects messages without content (spec 7.1).
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
		return [isSilent ? { ...message, content: '[reply without text]' } : message];
	});
}

/**
 * The newest whole turns within the limits. Of a last turn that is too long alone, its question and its last rounds: a tool
 * call is never without its result, nor a reply without a question. Empty if not even these fit.
 */
export function limitMemory(
	messages: readonly ChatMessage[],
	{ memoryMessages: maxMessages, memoryCharacters: maxCharacters }: MemoryLimits,
): readonly ChatMessage[] {
	const count = messages.length;
	// By the number of the newest messages.
	const characters = [0];
	for (let start = count - 1; start >= 0; start -= 1)
		characters.push(characters.at(-1)! + JSON.stringify(messages[start]).length);
	const charactersFrom = (start: number) => characters[count - start]!;
	/** Whether the messages from an index fit, with the question from `question` to `reply` before them. */
	const fits = (start: number, question = start, reply = start) => {
		const size = charactersFrom(start) + charactersFrom(question) - charactersFrom(reply);
		return (
			(maxMessages === 0 || count - start + reply - question <= maxMessages) &&
			(maxCharacters === 0 || size <= maxCharacters)
		);
	};
	const starts = turns(messages);
	const first = starts.find((start) => fits(start));
	if (first !== undefined) return messages.slice(first);

	const question = starts.at(-1) ?? count;
	const reply = messages.findIndex(({ role }, index) => index > question && role !== 'user');
	const round = messages.findIndex(
		({ role }, index) => index >= reply && role === 'assistant' && fits(index, question, reply),
	);
	if (reply < 0 || round < 0) return [];
	return [...messages.slice(question, reply), ...messages.slice(round)];
}

/** The indexes at which a turn begins. */
function turns(messages: readonly ChatMessage[]): number[] {
	return messages.flatMap(({ role }, index) =>
		role === 'user' && messages[index - 1]?.role !== 'user' ? [index] : [],
	);
}

const ROLE = /^(system|user|assistant|tool)$/;

/** Parses remembered messages, which a person can change; `undefined` if they cannot be continued. Empty text is none. */
export function parseMemory(text: string): readonly ChatMessage[] | undefined {
	const messages = parseJson(text || '[]');
	if (!Array.isArray(messages) || !messages.every(isMessage)) return undefined;
	const remembered = fromJson<ChatMessage[]>(messages);
	try {
		checkOrder([...remembered, userMessage('next')], '');
	} catch {
		return undefined;
	}
	return remembered;
}

/** Whether a value has the form of a message. Less than `checkMessages` wants: a model may have called a tool without a name. */
function isMessage(value: JsonValue): boolean {
	if (!isJsonObject(value) || !ROLE.test(String(value['role']))) return false;
	const { content = null, tool_calls: calls = [] } = value;
	const hasContent = content === null || typeof content === 'string' || Array.isArray(content);
	return hasContent && Array.isArray(calls) && calls.every(isJsonObject);
}
