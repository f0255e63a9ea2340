import { tooLarge } from '../http/request';
import { asJson, isJsonObject, MAX_JSON, objectOf, type JsonObject, type JsonValue } from '../json';
import { shown } from '../values';
import { isSubset } from './messages';
import { readMessage, readReason, stringOf } from './replyMessage';
import {
	executedCalls,
	idText,
	objectsOf,
	parseArguments,
	toolCall,
	toolProgressEvents,
} from './toolCalls';
import {
	endOf,
	type ChatCompletion,
	type ChatDelta,
	type Choice,
	type ToolCall,
	type ToolProgressEvent,
} from './types';

/** A choice so far. */
interface PartialChoice {
	/** Its message is without tool calls. */
	readonly choice: Choice & Record<string, unknown>;
	readonly calls: PartialCalls;
	/** How many deltas had text or calls. */
	deltas: number;
}

const NO_PROGRESS: readonly ToolProgressEvent[] = [];

/** An empty accumulator of the chunks of a stream, which `applyChunk` changes in place. */
export function startAccumulator() {
	return {
		/** Top-level fields of the body: `model`, `session_id`, `usage`, … */
		envelope: {} as JsonObject,
		choices: new Map<number, PartialChoice>(),
		/** All tool progress of a super assistant (spec 2.7). */
		progress: [] as ToolProgressEvent[],
		/** At least as many values as it has. */
		values: 0,
	};
}

type Accumulator = ReturnType<typeof startAccumulator>;

/**
 * Adds one chunk of a stream (spec 2.5), which may have no `choices`. The tools that a super assistant has run
 * (`extension`, spec 2.7) become calls and results of the message, as in a non-streamed body (spec 2.4).
 *
 * @param characters Length of its JSON.
 * @returns The text that the chunk adds to the first choice, and its tool progress.
 * @throws ServiceError `protocol` when all chunks together have more values than a body may have.
 */
export function applyChunk(accumulator: Accumulator, chunk: JsonObject, characters = 0): ChatDelta {
	// A value takes two characters, at least: few streams have to be counted.
	accumulator.values += characters / 2;
	if (accumulator.values > MAX_JSON.values) accumulator.values = countValues(accumulator, chunk);
	if (accumulator.values > MAX_JSON.values)
		throw tooLarge(`The reply has more than ${MAX_JSON.values.toLocaleString('en')} values`);
	const { envelope } = accumulator;
	for (const key in chunk) {
		if (key === 'choices' || key === 'extension') continue;
		const value = chunk[key];
		if (value !== envelope[key] && value !== null) envelope[key] = value;
	}
	const { choices, extension } = chunk;
	const progress = isJsonObject(extension) ? toolProgressEvents(extension) : NO_PROGRESS;
	for (const event of progress) accumulator.progress.push(event);
	const added = { content: '', reasoning: '', progress };
	for (const choice of Array.isArray(choices) ? choices : []) {
		if (!isJsonObject(choice)) continue;
		const index = indexOf(choice['index']) ?? 0;
		const partial = accumulator.choices.get(index) ?? addChoice(accumulator, index);
		const said = applyChoice(partial, choice);
		if (index !== 0 && partial !== mainChoice(accumulator)) continue;
		added.content = stringOf(said['content']);
		added.reasoning = stringOf(said['reasoning_content']);
	}
	return added;
}

/** Counts what is kept and a chunk that is about to be: together they may have as many values as one body. */
function countValues(accumulator: Accumulator, chunk: JsonObject): number {
	const { envelope, progress, choices } = accumulator;
	const partial = [...choices.values()].map(({ choice, calls }) => [choice, calls.all]);
	return valuesIn([envelope, progress, partial, chunk]);
}

function valuesIn(value: unknown): number {
	if (typeof value !== 'object' || value === null) return 1;
	return Object.values(value).reduce((count: number, each) => count + valuesIn(each), 1);
}

/** The choice that is the reply, in whatever order they come. */
function mainChoice({ choices }: Accumulator): PartialChoice | undefined {
	return choices.get(0) ?? choices.values().next().value;
}

/** Whether the reply has a finish reason (spec 3.2), and not one that tells of a failure. */
export function isFinished(accumulator: Accumulator): boolean {
	const reason = mainChoice(accumulator)?.choice.finish_reason ?? null;
	return reason !== null && endOf(reason) !== 'failure';
}

/** The accumulated chunks in the form of a non-streamed body (spec 2.4). */
export function toCompletion(accumulator: Accumulator): ChatCompletion {
	const { envelope, choices, progress } = accumulator;
	// A super assistant that only ran tools sends no choices: its reply is empty.
	const main = mainChoice(accumulator) ?? addChoice(accumulator, 0);
	const others = [...choices.values()].filter((each) => each !== main);
	return {
		...envelope,
		...(envelope['object'] !== undefined && { object: 'chat.completion' }),
		choices: [toChoice(main, progress), ...others.map((each) => toChoice(each))],
	};
}

function addChoice({ choices }: Accumulator, index: number): PartialChoice {
	const message = { role: 'assistant', content: null };
	const choice = { index, message, finish_reason: null };
	const partial = { choice, calls: startCalls(), deltas: 0 };
	choices.set(index, partial);
	return partial;
}

/** @returns What the chunk says, see `readMessage`. */
function applyChoice(partial: PartialChoice, sent: JsonObject): JsonObject {
	const { choice } = partial;
	const { message } = choice;
	const { finish_reason: sentReason, delta, message: whole } = sent;
	const reason = readReason(sentReason);
	choice.finish_reason = reason ?? choice.finish_reason;

	// Servers that do not stream a reply send it whole, as one event; others all so far, or a piece, in place of a delta.
	const isDelta = isJsonObject(delta);
	const { said, parts } = readMessage(isDelta || partial.deltas > 0 ? delta : whole);
	const before = message.content ?? '';
	const text = stringOf(said['content']);
	const hasGrown = !isDelta && text.length > before.length && text.startsWith(before);
	// The last one may repeat the answer.
	const isRepeated = reason !== null && text === before && (!isDelta || partial.deltas > 1);
	if (hasGrown || isRepeated) said['content'] = text.slice(before.length);
	for (const key in sent)
		if (key !== 'index' && key !== 'delta' && key !== 'message' && key !== 'finish_reason')
			mergeField(asJson(choice), key, sent[key], false);
	for (const key in said) if (key !== 'tool_calls') mergeField(asJson(message), key, said[key]);
	for (const call of objectsOf(said['tool_calls'])) addFragment(partial.calls, call);
	for (const part of parts) (message.parts ??= []).push(part);
	if (isDelta && (text !== '' || partial.calls.all.length > 0)) partial.deltas += 1;
	return said;
}

/** @param progress Of a super assistant. The server may have told the results of its tools in the message as well. */
function toChoice(
	{ calls, choice }: PartialChoice,
	progress: readonly ToolProgressEvent[] = [],
): Choice {
	const { message, finish_reason: reason } = choice;
	const executed = executedCalls(message['tool_results'] === undefined ? progress : []);
	const hasRun = executed.tool_calls.length > 0;
	// Beside executed calls, those of the model are requested only if the finish reason says so.
	const asked = hasRun && reason !== 'tool_calls' ? [] : calls.all;
	const text = message.content ?? '';
	const content = text === '' && asked.length > 0 ? null : text;
	const tool_calls = [...executed.tool_calls, ...asked.map(({ sent }) => sent)];
	const called = tool_calls.length > 0 && { ...(hasRun && executed), tool_calls };
	return { ...choice, message: { ...message, content, ...called } };
}

/** After so many fragments with a name, a call is no longer taken for complete: each check parses all of its arguments. */
const MAX_PARSES = 16;
/** Fields of a tool call that are not copied as they are. */
const CALL_FIELDS = new Set(['index', 'id', 'type', 'function']);
/** Fields that have the same value in every fragment. */
const CONSTANT_FIELDS = new Set(['role', 'id', 'type', 'index', 'name', 'format']);

/** A tool call whose arguments arrive in fragments. */
interface PartialCall {
	/** With other fields, which some services want back, such as the signature of a thought. */
	readonly sent: ToolCall;
	/** How often the arguments so far were parsed. */
	parses: number;
}

/** No calls yet, which `addFragment` adds to. */
function startCalls() {
	return {
		all: [] as PartialCall[],
		/** The latest call with an index, a number, or an ID, a text: a hostile event may have 100,000 fragments. */
		latest: new Map<number | string, PartialCall>(),
		/** The call of the last fragment. */
		current: undefined as PartialCall | undefined,
	};
}

type PartialCalls = ReturnType<typeof startCalls>;

/**
 * Adds a fragment to its tool call: the latest one with the same index; without an index, the one with the same id; without an
 * id, that of the last fragment. A fragment with a name begins another one if the ids differ, or if the arguments of that call
 * are whole, and its own do not belong to it.
 */
function addFragment(calls: PartialCalls, fragment: JsonObject): void {
	const { all, latest } = calls;
	const { name: sentName, arguments: args = null } = objectOf(fragment['function']);
	const name = stringOf(sentName);
	const text = args === null ? '' : shown(args);
	const whole = parseArguments(text);
	const id = idText(fragment['id']);
	const index = indexOf(fragment['index']);
	const isUnnamed = name === '';
	let call = index === undefined && id === '' ? calls.current : latest.get(index ?? id);
	if (index === undefined && isUnnamed) call ??= calls.current;
	const known = call?.sent.id ?? '';
	// Some servers number all calls 0, with ids, or each whole in one fragment; others give each fragment another id.
	if (id !== '' && known !== '' && id !== known)
		call = latest.get(id) ?? (isUnnamed ? call : undefined);
	else if (call !== undefined && !isUnnamed) {
		const isNamedSo = name === call.sent.function.name && (index !== undefined || known !== '');
		const old = readArguments(call);
		const isSame = !whole || isSubset(old, whole) || isSubset(whole, old);
		if (old && !(isNamedSo && isSame)) call = undefined;
	}
	if (call === undefined) {
		call = { sent: toolCall('', '', ''), parses: 0 };
		latest.set(index ?? all.length, call);
		all.push(call);
	}
	calls.current = call;
	const { sent } = call;
	if (sent.id === '') sent.id = id;
	latest.set(sent.id, call);
	for (const key in fragment)
		if (!CALL_FIELDS.has(key)) mergeField(asJson(sent), key, fragment[key]);
	const { function: called } = sent;
	if (called.name === '') called.name = name;
	// Some send `{}` first, or the same or all so far again.
	if (called.arguments === '{}' && text.trim() !== '') called.arguments = text;
	else if (!whole || called.arguments === '' || !readArguments(call)) called.arguments += text;
	else if (text.length > called.arguments.length) called.arguments = text;
}

/** The arguments so far, if they are complete. */
function readArguments(call: PartialCall): JsonObject | undefined {
	return call.parses++ < MAX_PARSES ? parseArguments(call.sent.function.arguments) : undefined;
}

/** An index, which some servers send as text. */
function indexOf(value: JsonValue | undefined): number | undefined {
	const isIndex = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
	return isIndex ? Number(value) : undefined;
}

/**
 * Adds a field that is not null. Runs for every chunk, so it allocates nothing.
 *
 * @param isFragment Whether texts and objects are added to those before, and to the last entry of a list one with its index, as
 *   lists are in any case. Any other value replaces the last one.
 */
function mergeField(
	target: JsonObject,
	key: string,
	value: JsonValue = null,
	isFragment = !CONSTANT_FIELDS.has(key),
): void {
	if (value === null || (isFragment && value === '')) return;
	const old = target[key];
	if (isFragment && typeof old === 'string' && typeof value === 'string')
		target[key] = old + value;
	else if (isFragment && isJsonObject(old) && isJsonObject(value))
		for (const name in value) mergeField(old, name, value[name]);
	else if (!Array.isArray(old) || !Array.isArray(value)) target[key] = value;
	else {
		for (const entry of value) {
			const last = objectOf(old.at(-1));
			const isNext = isFragment && isJsonObject(entry) && entry['index'] !== undefined;
			if (isNext && last['index'] === entry['index'])
				for (const name in entry) mergeField(last, name, entry[name]);
			else old.push(entry);
		}
	}
}
