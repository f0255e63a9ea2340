import {
	asJson,
	fromJson,
	isJsonObject,
	objectOf,
	parseJsonObject,
	type JsonObject,
	type JsonValue,
} from '../json';
import { idText, jsonText, objectsOf, toolCall } from './toolCalls';
import { toolProgressEvents, type ToolProgressEvent } from './toolProgress';
import type { ChatCompletion, ChatDelta, Choice, Usage } from './types';

/** A tool call whose arguments arrive in fragments. */
interface PartialToolCall {
	/** Position among the calls. */
	readonly index: number;
	id: string;
	name: string;
	arguments: string;
	/** How often the arguments so far were parsed. */
	parses: number;
}

/** The calls of a choice. Both lookups take constant time: a hostile event may have 100,000 fragments. */
interface PartialCalls {
	readonly byIndex: Map<number, PartialToolCall>;
	/** The last call with an id. */
	readonly byId: Map<string, PartialToolCall>;
	last?: PartialToolCall;
}

/** A choice so far; its message is without tool calls. */
interface PartialChoice extends Choice {
	readonly toolCalls: PartialCalls;
}

/** Accumulates the chunks of a stream. Created by `startAccumulator`, changed in place by `applyChunk`. */
interface Accumulator {
	/** Top-level fields of the body: `model`, `session_id`, `usage`, … */
	readonly envelope: JsonObject;
	readonly choices: Map<number, PartialChoice>;
	/** The tools that a super assistant has run (spec 2.7). */
	readonly executed: ToolProgressEvent[];
}

/** After so many fragments with a name, a call is no longer taken for complete: each check parses all of its arguments. */
const MAX_PARSES = 16;
/** Fields of a chunk that do not belong to the envelope. */
const EXCLUDED_FIELDS = new Set(['choices', 'extension']);
/** Fields of a delta that are not copied: those that arrive in fragments, and `parts`, which comes from the content. */
const COMPOSED_FIELDS = new Set(['content', 'reasoning_content', 'tool_calls', 'parts']);

const NO_PARTS: readonly JsonValue[] = [];
const NO_PROGRESS: readonly ToolProgressEvent[] = [];

/** An empty accumulator. */
export function startAccumulator(): Accumulator {
	return { envelope: {}, choices: new Map(), executed: [] };
}

/**
 * Adds one chunk of a stream (spec 2.5), which may have no `choices`. The tools that a super assistant has run
 * (`extension`, spec 2.7) become calls and results of the message, as in a non-streamed body (spec 2.4).
 *
 * @returns The text that the chunk adds to the first choice, and its tool progress.
 */
export function applyChunk(accumulator: Accumulator, chunk: JsonObject): ChatDelta {
	mergeFields(accumulator.envelope, chunk, EXCLUDED_FIELDS);
	const { choices, extension } = chunk;
	const progress = isJsonObject(extension) ? toolProgressEvents(extension) : NO_PROGRESS;
	for (const event of progress) if (event.type === 'tool_calls') accumulator.executed.push(event);
	let added = { content: '', reasoning: '' };
	for (const choice of Array.isArray(choices) ? choices : []) {
		if (!isJsonObject(choice)) continue;
		const index = indexOf(choice['index']) ?? 0;
		const partial = accumulator.choices.get(index) ?? emptyChoice(index);
		accumulator.choices.set(index, partial);
		const text = applyChoice(partial, choice);
		if (index === 0) added = text;
	}
	return { content: added.content, reasoning: added.reasoning, progress };
}

/** Whether the first choice has a finish reason (spec 3.2). */
export function isFinished({ choices }: Accumulator): boolean {
	return typeof choices.get(0)?.finish_reason === 'string';
}

/** The accumulated chunks in the form of a non-streamed body (spec 2.4). */
export function toCompletion({ envelope, choices, executed }: Accumulator): ChatCompletion {
	const sorted = [...choices.values()].sort((a, b) => a.index - b.index);
	// A super assistant that only ran tools sends no choices: its reply is empty.
	const [first = emptyChoice(0), ...others] = sorted;
	return {
		...envelope,
		...(envelope['object'] === undefined ? {} : { object: 'chat.completion' }),
		choices: [withExecuted(toChoice(first), executed), ...others.map(toChoice)],
	};
}

/** Copies fields that are not null; the last value wins. Runs for every chunk, so it allocates nothing. */
function mergeFields(target: JsonObject, fields: JsonObject, except: ReadonlySet<string>): void {
	for (const key in fields) {
		const value = fields[key];
		if (value !== null && value !== undefined && !except.has(key)) target[key] = value;
	}
}

function emptyChoice(index: number): PartialChoice {
	return {
		index,
		message: { role: 'assistant', content: null },
		finish_reason: null,
		toolCalls: { byIndex: new Map(), byId: new Map() },
	};
}

function applyChoice(partial: PartialChoice, choice: JsonObject): Omit<ChatDelta, 'progress'> {
	if (typeof choice['finish_reason'] === 'string')
		partial.finish_reason = choice['finish_reason'];
	if (isJsonObject(choice['usage'])) partial.usage = fromJson<Usage>(choice['usage']);

	const { message, toolCalls } = partial;
	const delta = isJsonObject(choice['delta']) ? choice['delta'] : wholeMessage(partial, choice);
	mergeFields(asJson(message), delta, COMPOSED_FIELDS);
	const { content, reasoning_content, tool_calls } = delta;
	for (const call of objectsOf(tool_calls)) applyToolCall(toolCalls, call);
	const { text, parts } = readContent(content);
	if (text !== null) message.content = (message.content ?? '') + text;
	for (const part of parts) (message.parts ??= []).push(part);
	const reasoning = typeof reasoning_content === 'string' ? reasoning_content : '';
	if (reasoning !== '') message.reasoning_content = (message.reasoning_content ?? '') + reasoning;
	return { content: text ?? '', reasoning };
}

/** The reply of servers that send one which they do not stream as one event. */
function wholeMessage({ message, toolCalls }: PartialChoice, choice: JsonObject): JsonObject {
	const isNew = message.content === null && toolCalls.last === undefined;
	return isNew ? objectOf(choice['message']) : {};
}

/**
 * Adds a fragment to its tool call: the one with the same index; without an index, the one with the same id; without
 * an id, the last one. Without an index, a fragment with a name begins another call once that one is complete.
 */
function applyToolCall(calls: PartialCalls, fragment: JsonObject): void {
	const { name, arguments: args } = objectOf(fragment['function']);
	const id = idText(fragment['id']);
	const sent = indexOf(fragment['index']) ?? indexByOrder(calls, id, typeof name === 'string');
	const before = calls.byIndex.get(sent);
	const known = before?.id ?? '';
	// Some servers number all calls 0, with ids, or each whole in one fragment.
	const isOther = id !== '' && known !== '' && id !== known;
	const isWhole = typeof name === 'string' && isObjectText(args) && id === '' && known === '';
	const isNext = isWhole && before !== undefined && isNextCall(before);
	const index = isOther ? indexByOrder(calls, id, false) : isNext ? calls.byIndex.size : sent;
	const call = calls.byIndex.get(index) ?? { index, id: '', name: '', arguments: '', parses: 0 };
	calls.byIndex.set(index, call);
	calls.last = call;

	if (call.id === '') call.id = id;
	calls.byId.set(call.id, call);
	if (typeof name === 'string' && call.name === '') call.name = name;
	call.arguments += jsonText(args ?? '');
}

/** An index, which some servers send as text. */
function indexOf(value: JsonValue | undefined): number | undefined {
	const isIndex = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
	return isIndex ? Number(value) : undefined;
}

function indexByOrder({ byIndex, byId, last }: PartialCalls, id: string, hasName: boolean): number {
	const known = id === '' ? last : byId.get(id);
	if (known === undefined) return byIndex.size;
	return hasName && isNextCall(known) ? byIndex.size : known.index;
}

/** Whether a call is complete, so that a name begins another one. */
function isNextCall(call: PartialToolCall): boolean {
	return call.parses++ < MAX_PARSES && isObjectText(call.arguments);
}

function isObjectText(value: JsonValue | undefined): boolean {
	return typeof value === 'string' && parseJsonObject(value) !== undefined;
}

function toChoice({ toolCalls, ...choice }: PartialChoice): Choice {
	const calls = [...toolCalls.byIndex.values()]
		.sort((a, b) => a.index - b.index)
		.map(({ id, name, arguments: args }) => toolCall(id, name, args));
	const { message } = choice;
	const text = message.content ?? '';
	const content = text === '' && calls.length > 0 ? null : text;
	const asked = calls.length === 0 ? {} : { tool_calls: calls };
	return { ...choice, message: { ...message, content, ...asked } };
}

/** Adds the tools that a super assistant has run, unless the server has told the results in the message as well. */
function withExecuted(choice: Choice, executed: readonly ToolProgressEvent[]): Choice {
	const { message, finish_reason: reason } = choice;
	if (executed.length === 0 || message['tool_results'] !== undefined) return choice;
	const ran = executed.map(({ tool: name = '', arguments: args = {} }, at) =>
		toolCall(`call_${at + 1}`, name, jsonText(args)),
	);
	// Beside executed calls, those of the model are requested only if the finish reason says so.
	const asked = reason === 'tool_calls' ? (message.tool_calls ?? []) : [];
	const tool_calls = [...ran, ...asked];
	const content = asked.length > 0 ? message.content : (message.content ?? '');
	const tool_results = executed.map(({ result = '' }, at) => ({
		tool_call_id: ran[at]!.id,
		content: result,
	}));
	return { ...choice, message: { ...message, content, tool_calls, tool_results } };
}

/**
 * Reads the content of a reply or of a delta (spec 2.4, 2.5), which some servers send as parts, one or a list: all its text,
 * null without content, and the parts that are not text, such as images, as the service sent them.
 */
export function readContent(content: JsonValue = null): {
	readonly text: string | null;
	readonly parts: readonly JsonValue[];
} {
	if (content === null || typeof content === 'string') return { text: content, parts: NO_PARTS };
	let all = '';
	const parts: JsonValue[] = [];
	for (const part of [content].flat()) {
		const { text = part, refusal } = objectOf(part);
		if (typeof text === 'string') all += text;
		// A refusal is a paragraph of its own.
		else if (typeof refusal === 'string') all += all === '' ? refusal : `\n\n${refusal}`;
		else if (isJsonObject(part)) parts.push(part);
		else if (part !== null) all += jsonText(part);
	}
	return { text: all, parts };
}
