import { isJsonObject, type JsonObject } from '../json';
import type { ChatCompletion, Choice, TextDelta, ToolCall, Usage } from './types';

interface ToolCallParts {
	id: string;
	name: string;
	arguments: string;
}

interface ChoiceParts {
	readonly other: JsonObject;
	content: string | undefined;
	reasoning: string | undefined;
	readonly toolCalls: Map<number, ToolCallParts>;
	finishReason: string | null;
	usage: Usage | undefined;
}

/** A stream's chunks while they come in. Made by `startAccumulator`, changed by `addChunk`. */
export interface Accumulator {
	readonly envelope: JsonObject;
	readonly choices: Map<number, ChoiceParts>;
}

/** Fields of a chunk that are no part of the envelope; fields of a delta that come in pieces. */
const NOT_ENVELOPE: ReadonlySet<string> = new Set(['choices', 'extension']);
const PUT_TOGETHER: ReadonlySet<string> = new Set(['content', 'reasoning_content', 'tool_calls']);

/** An accumulator of no chunks. */
export function startAccumulator(): Accumulator {
	return { envelope: {}, choices: new Map() };
}

/**
 * Adds one chunk of a streamed reply (spec 2.5); chunks without `choices` are legal. The progress of a super
 * assistant's tools (`extension`, spec 2.7) is no part of a reply.
 *
 * @returns The text that the chunk adds to the first choice.
 */
export function addChunk(accumulator: Accumulator, chunk: JsonObject): TextDelta {
	keepOthers(accumulator.envelope, chunk, NOT_ENVELOPE);
	const { choices } = chunk;
	let added: TextDelta = { content: '', reasoning: '' };
	for (const choice of Array.isArray(choices) ? choices : []) {
		if (!isJsonObject(choice)) continue;
		const index = typeof choice['index'] === 'number' ? choice['index'] : 0;
		const text = addChoice(choiceAt(accumulator, index), choice);
		if (index === 0) added = text;
	}
	return added;
}

/** Whether the first choice has its finish reason (spec 3.2). */
export function isFinished({ choices }: Accumulator): boolean {
	return typeof choices.get(0)?.finishReason === 'string';
}

/** The chunks put together into the form of a non-streamed body (spec 2.4). */
export function toCompletion({ envelope, choices }: Accumulator): ChatCompletion {
	const sorted = [...choices.entries()].sort(([a], [b]) => a - b);
	// An assistant that only used its tools has replied without a word.
	const all: [number, ChoiceParts][] = sorted.length > 0 ? sorted : [[0, emptyChoice()]];
	return {
		...envelope,
		...(envelope['object'] === undefined ? {} : { object: 'chat.completion' }),
		choices: all.map(toChoice),
	};
}

/** The last good value of every other field. Run for every chunk of a stream: it copies nothing. */
function keepOthers(kept: JsonObject, fields: JsonObject, except: ReadonlySet<string>): void {
	for (const key in fields) {
		const value = fields[key];
		if (value !== null && value !== undefined && !except.has(key)) kept[key] = value;
	}
}

function choiceAt({ choices }: Accumulator, index: number): ChoiceParts {
	const known = choices.get(index);
	if (known !== undefined) return known;

	const fresh = emptyChoice();
	choices.set(index, fresh);
	return fresh;
}

function emptyChoice(): ChoiceParts {
	return {
		other: {},
		content: undefined,
		reasoning: undefined,
		toolCalls: new Map(),
		finishReason: null,
		usage: undefined,
	};
}

function addChoice(parts: ChoiceParts, choice: JsonObject): TextDelta {
	if (typeof choice['finish_reason'] === 'string') parts.finishReason = choice['finish_reason'];
	if (isJsonObject(choice['usage'])) parts.usage = choice['usage'] as unknown as Usage;

	const delta = isJsonObject(choice['delta']) ? choice['delta'] : {};
	keepOthers(parts.other, delta, PUT_TOGETHER);
	const { content, reasoning_content, tool_calls } = delta;
	for (const call of Array.isArray(tool_calls) ? tool_calls.filter(isJsonObject) : []) {
		addToolCall(parts.toolCalls, call);
	}
	if (typeof content === 'string') parts.content = (parts.content ?? '') + content;
	if (typeof reasoning_content === 'string') {
		parts.reasoning = (parts.reasoning ?? '') + reasoning_content;
	}
	return {
		content: typeof content === 'string' ? content : '',
		reasoning: typeof reasoning_content === 'string' ? reasoning_content : '',
	};
}

/** Pieces of one call share their index; where a server sends none, their id; else they follow the last one. */
function addToolCall(calls: Map<number, ToolCallParts>, piece: JsonObject): void {
	const id = typeof piece['id'] === 'string' ? piece['id'] : '';
	const sameId = [...calls].find(([, call]) => id !== '' && call.id === id)?.[0];
	const following = id === '' ? Math.max(0, calls.size - 1) : calls.size;
	const index = typeof piece['index'] === 'number' ? piece['index'] : (sameId ?? following);

	const call = calls.get(index) ?? { id: '', name: '', arguments: '' };
	calls.set(index, call);

	const named = isJsonObject(piece['function']) ? piece['function'] : {};
	if (call.id === '') call.id = id;
	if (typeof named['name'] === 'string' && call.name === '') call.name = named['name'];
	if (typeof named['arguments'] === 'string') call.arguments += named['arguments'];
}

function toChoice([index, parts]: [number, ChoiceParts]): Choice {
	const calls = [...parts.toolCalls.entries()].sort(([a], [b]) => a - b).map(toToolCall);
	return {
		index,
		message: {
			role: 'assistant',
			...parts.other,
			content: parts.content ?? (calls.length > 0 ? null : ''),
			...(parts.reasoning === undefined ? {} : { reasoning_content: parts.reasoning }),
			...(calls.length === 0 ? {} : { tool_calls: calls }),
		},
		finish_reason: parts.finishReason,
		...(parts.usage === undefined ? {} : { usage: parts.usage }),
	};
}

function toToolCall([, call]: [number, ToolCallParts]): ToolCall {
	return {
		id: call.id,
		type: 'function',
		function: { name: call.name, arguments: call.arguments },
	};
}
