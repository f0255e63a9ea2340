import { fromJson, isJsonObject, parseJsonObject, type JsonObject, type JsonValue } from '../json';
import { idText, jsonText } from './toolCalls';
import type { ChatCompletion, Choice, TextDelta, ToolCall, Usage } from './types';

/** A tool call whose arguments arrive in fragments. */
interface PartialToolCall {
	id: string;
	name: string;
	arguments: string;
}

interface PartialChoice {
	/** Fields of the deltas that are sent whole. */
	readonly fields: JsonObject;
	content: string | undefined;
	reasoning: string | undefined;
	readonly toolCalls: Map<number, PartialToolCall>;
	finishReason: string | null;
	usage: Usage | undefined;
}

/** Accumulates the chunks of a stream. Created by `startAccumulator`, changed in place by `applyChunk`. */
export interface Accumulator {
	/** Top-level fields of the body: `model`, `session_id`, `usage`, … */
	readonly envelope: JsonObject;
	readonly choices: Map<number, PartialChoice>;
}

/** Fields of a chunk that do not belong to the envelope. */
const EXCLUDED_FIELDS: ReadonlySet<string> = new Set(['choices', 'extension']);
/** Fields of a delta that arrive in fragments and are concatenated. */
const CONCATENATED_FIELDS: ReadonlySet<string> = new Set([
	'content',
	'reasoning_content',
	'tool_calls',
]);

/** An empty accumulator. */
export function startAccumulator(): Accumulator {
	return { envelope: {}, choices: new Map() };
}

/**
 * Adds one chunk of a stream (spec 2.5), which may have no `choices`. The tool progress of a super assistant
 * (`extension`, spec 2.7) is not part of the reply and is ignored.
 *
 * @returns The text that the chunk adds to the first choice.
 */
export function applyChunk(accumulator: Accumulator, chunk: JsonObject): TextDelta {
	mergeFields(accumulator.envelope, chunk, EXCLUDED_FIELDS);
	const { choices } = chunk;
	let added: TextDelta = { content: '', reasoning: '' };
	for (const choice of Array.isArray(choices) ? choices : []) {
		if (!isJsonObject(choice)) continue;
		const index = indexOf(choice['index']) ?? 0;
		const text = applyChoice(choiceAt(accumulator, index), choice);
		if (index === 0) added = text;
	}
	return added;
}

/** Whether the first choice has a finish reason (spec 3.2). */
export function isFinished({ choices }: Accumulator): boolean {
	return typeof choices.get(0)?.finishReason === 'string';
}

/** The accumulated chunks in the form of a non-streamed body (spec 2.4). */
export function toCompletion({ envelope, choices }: Accumulator): ChatCompletion {
	const sorted = [...choices.entries()].sort(([a], [b]) => a - b);
	// A super assistant that only ran tools sends no choices: its reply is empty.
	const all: [number, PartialChoice][] = sorted.length > 0 ? sorted : [[0, emptyChoice()]];
	return {
		...envelope,
		...(envelope['object'] === undefined ? {} : { object: 'chat.completion' }),
		choices: all.map(toChoice),
	};
}

/** Copies fields that are not null; the last value wins. Runs for every chunk, so it allocates nothing. */
function mergeFields(target: JsonObject, fields: JsonObject, except: ReadonlySet<string>): void {
	for (const key in fields) {
		const value = fields[key];
		if (value !== null && value !== undefined && !except.has(key)) target[key] = value;
	}
}

function choiceAt({ choices }: Accumulator, index: number): PartialChoice {
	const known = choices.get(index);
	if (known !== undefined) return known;

	const fresh = emptyChoice();
	choices.set(index, fresh);
	return fresh;
}

function emptyChoice(): PartialChoice {
	return {
		fields: {},
		content: undefined,
		reasoning: undefined,
		toolCalls: new Map(),
		finishReason: null,
		usage: undefined,
	};
}

function applyChoice(partial: PartialChoice, choice: JsonObject): TextDelta {
	if (typeof choice['finish_reason'] === 'string') partial.finishReason = choice['finish_reason'];
	if (isJsonObject(choice['usage'])) partial.usage = fromJson<Usage>(choice['usage']);

	const delta = isJsonObject(choice['delta']) ? choice['delta'] : {};
	mergeFields(partial.fields, delta, CONCATENATED_FIELDS);
	const { content, reasoning_content, tool_calls } = delta;
	for (const call of Array.isArray(tool_calls) ? tool_calls.filter(isJsonObject) : []) {
		applyToolCall(partial.toolCalls, call);
	}
	const text = contentText(content);
	if (text !== null) partial.content = (partial.content ?? '') + text;
	if (typeof reasoning_content === 'string') {
		partial.reasoning = (partial.reasoning ?? '') + reasoning_content;
	}
	return {
		content: text ?? '',
		reasoning: typeof reasoning_content === 'string' ? reasoning_content : '',
	};
}

/** The content of a reply (spec 2.4) as text, also where a server sends a list of parts; null without content. */
export function contentText(content: JsonValue | undefined): string | null {
	if (content === undefined || content === null) return null;
	if (!Array.isArray(content)) return jsonText(content);
	return content.map((part) => (isJsonObject(part) ? jsonText(part['text'] ?? '') : '')).join('');
}

/**
 * Adds a fragment to its tool call: the one with the same index; without an index, the one with the same id; without
 * an id, the last one. Without an index, a fragment with a name begins another call once that one is complete.
 */
function applyToolCall(calls: Map<number, PartialToolCall>, fragment: JsonObject): void {
	const { name, arguments: args } = isJsonObject(fragment['function'])
		? fragment['function']
		: {};
	const id = idText(fragment['id']);
	const sent = indexOf(fragment['index']) ?? indexByOrder(calls, id, typeof name === 'string');
	const { id: known = '' } = calls.get(sent) ?? {};
	// Some servers number all calls 0.
	const index = id === '' || known === '' || id === known ? sent : indexByOrder(calls, id, false);
	const call = calls.get(index) ?? { id: '', name: '', arguments: '' };
	calls.set(index, call);

	if (call.id === '') call.id = id;
	if (typeof name === 'string' && call.name === '') call.name = name;
	call.arguments += jsonText(args ?? '');
}

/** An index, which some servers send as text. */
function indexOf(value: JsonValue | undefined): number | undefined {
	const isIndex = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
	return isIndex ? Number(value) : undefined;
}

function indexByOrder(
	calls: ReadonlyMap<number, PartialToolCall>,
	id: string,
	hasName: boolean,
): number {
	const known = [...calls].findLast(([, call]) => id === '' || call.id === id);
	if (known === undefined) return calls.size;
	const isNext = hasName && parseJsonObject(known[1].arguments) !== undefined;
	return isNext ? calls.size : known[0];
}

function toChoice([index, partial]: [number, PartialChoice]): Choice {
	const calls = [...partial.toolCalls.entries()].sort(([a], [b]) => a - b).map(toToolCall);
	return {
		index,
		message: {
			role: 'assistant',
			...partial.fields,
			content: partial.content ?? (calls.length > 0 ? null : ''),
			...(partial.reasoning === undefined ? {} : { reasoning_content: partial.reasoning }),
			...(calls.length === 0 ? {} : { tool_calls: calls }),
		},
		finish_reason: partial.finishReason,
		...(partial.usage === undefined ? {} : { usage: partial.usage }),
	};
}

function toToolCall([, call]: [number, PartialToolCall]): ToolCall {
	return {
		id: call.id,
		type: 'function',
		function: { name: call.name, arguments: call.arguments },
	};
}
