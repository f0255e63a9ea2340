import { tooLarge } from '../http/request';
import {
	asJson,
	bounded,
	isJsonObject,
	MAX_JSON,
	objectOf,
	withoutUndefined,
	type JsonObject,
	type JsonValue,
} from '../json';
import { oneLine, shown } from '../values';
import { idText, isSubset, objectsOf, parseArguments, toolCall } from './toolCalls';
import {
	endOf,
	type ChatCompletion,
	type ChatDelta,
	type Choice,
	type ToolCall,
	type ToolProgressEvent,
} from './types';

/** A tool call whose arguments arrive in fragments. */
interface PartialCall {
	/** Position among the calls. */
	readonly index: number;
	/** With other fields, which some services want back, such as the signature of a thought. */
	readonly sent: ToolCall;
	/** How often the arguments so far were parsed. */
	parses: number;
}

/** A choice so far. */
interface PartialChoice {
	/** Its message is without tool calls. */
	readonly choice: Choice & Record<string, unknown>;
	readonly calls: PartialCall[];
	/** The latest call with an index, a number, or an ID, a text: a hostile event may have 100,000 fragments. */
	readonly latest: Map<number | string, PartialCall>;
	/** The call of the last fragment. */
	current?: PartialCall;
	/** How many pieces its text has arrived in, and whether any of it has come in deltas. */
	pieces: number;
	hasDeltas: boolean;
}

/** After so many fragments with a name, a call is no longer taken for complete: each check parses all of its arguments. */
const MAX_PARSES = 16;
/** Fields of a delta that are not copied. */
const COMPOSED_FIELDS = new Set(['tool_calls']);
/** Fields of a tool call that are not copied as they are. */
const CALL_FIELDS = new Set(['index', 'id', 'type', 'function']);
/** Fields that have the same value in every fragment. */
const CONSTANT_FIELDS = new Set(['role', 'id', 'type', 'index', 'name', 'format']);

/** Types of the parts that have reasoning, and not the answer. */
const THOUGHTS: readonly unknown[] = ['reasoning', 'thinking'];
/** Fields of a message that are read, beside a content that is no text. */
const READ_FIELDS = new Set([
	'reasoning',
	'reasoning_content',
	'reasoning_details',
	'function_call',
	'parts',
]);

const NO_PARTS: readonly JsonValue[] = [];
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
	const partial = [...choices.values()].map(({ choice, calls }) => [choice, calls]);
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
	const executed = progress.filter(({ type }) => type === 'tool_calls');
	// A super assistant that only ran tools sends no choices: its reply is empty.
	const first = mainChoice(accumulator) ?? addChoice({ choices: new Map() }, 0);
	const others = [...choices.values()].filter((each) => each !== first);
	return {
		...envelope,
		...(envelope['object'] === undefined ? {} : { object: 'chat.completion' }),
		choices: [toChoice(first, executed), ...others.map((each) => toChoice(each, []))],
	};
}

/** Adds the fields of a message or of a call, which may be fragments. */
function mergeFields(target: object, fields: JsonObject, except?: ReadonlySet<string>): void {
	for (const key in fields)
		if (except?.has(key) !== true) mergeField(asJson(target), key, fields[key]);
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
	else if (isFragment && isJsonObject(old) && isJsonObject(value)) mergeFields(old, value);
	else if (!Array.isArray(old) || !Array.isArray(value)) target[key] = value;
	else {
		for (const entry of value) {
			const last = objectOf(old.at(-1));
			const isNext = isFragment && isJsonObject(entry) && entry['index'] !== undefined;
			if (isNext && last['index'] === entry['index']) mergeFields(last, entry);
			else old.push(entry);
		}
	}
}

function addChoice({ choices }: Pick<Accumulator, 'choices'>, index: number): PartialChoice {
	const message = { role: 'assistant', content: null };
	const choice = { index, message, finish_reason: null };
	const partial = { choice, calls: [], latest: new Map(), pieces: 0, hasDeltas: false };
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
	const { said, parts } = readMessage(isDelta || partial.hasDeltas ? delta : whole);
	const before = message.content ?? '';
	const text = stringOf(said['content']);
	if (text !== '') {
		// The last one may repeat the answer.
		const isMore = text.length > before.length ? !isDelta : reason !== null;
		const isKnown = before !== '' && (!isDelta || partial.pieces > 1);
		if (isMore && isKnown && text.length >= before.length && text.startsWith(before))
			said['content'] = text.slice(before.length);
		partial.pieces += 1;
	}
	for (const key in sent)
		if (key !== 'index' && key !== 'delta' && key !== 'message' && key !== 'finish_reason')
			mergeField(asJson(choice), key, sent[key], false);
	mergeFields(message, said, COMPOSED_FIELDS);
	for (const call of objectsOf(said['tool_calls'])) applyToolCall(partial, call);
	for (const part of parts) (message.parts ??= []).push(part);
	partial.hasDeltas ||= isDelta && (message.content !== null || partial.calls.length > 0);
	return said;
}

/** A finish reason; null where there is none: some servers send one that says nothing with each chunk. */
export function readReason(reason: unknown): string | null {
	return typeof reason === 'string' && reason !== '' && reason !== 'null' ? reason : null;
}

/**
 * Adds a fragment to its tool call: the latest one with the same index; without an index, the one with the same id;
 * without an id, that of the last fragment. Any other fragment with a name begins a call, and so does one with a name once
 * that call is complete, unless it is that call again.
 */
function applyToolCall(partial: PartialChoice, fragment: JsonObject): void {
	const { calls, latest } = partial;
	const { name: sentName, arguments: args = null } = objectOf(fragment['function']);
	const name = stringOf(sentName);
	const text = args === null ? '' : shown(args);
	const whole = parseArguments(text);
	const id = idText(fragment['id']);
	const index = indexOf(fragment['index']);
	const isUnnamed = name === '';
	let call = index === undefined && id === '' ? partial.current : latest.get(index ?? id);
	if (index === undefined && isUnnamed) call ??= partial.current;
	const known = call?.sent.id ?? '';
	// Some servers number all calls 0, with ids, or each whole in one fragment; others give each fragment another id.
	if (id !== '' && known !== '' && id !== known)
		call = latest.get(id) ?? (isUnnamed ? call : undefined);
	else if (call !== undefined && !isUnnamed) {
		const isUnknown = id === '' && known === '';
		const old = index === undefined || (isUnknown && whole) ? readArguments(call) : undefined;
		const isSame = !whole || isSubset(old, whole) || isSubset(whole, old);
		const mayRepeat = name === call.sent.function.name && (index !== undefined || !isUnknown);
		if (old && !(mayRepeat && isSame)) call = undefined;
	}
	if (call === undefined) {
		call = { index: index ?? calls.length, sent: toolCall('', '', ''), parses: 0 };
		calls.push(call);
		latest.set(call.index, call);
	}
	partial.current = call;
	const { sent } = call;
	if (sent.id === '') sent.id = id;
	latest.set(sent.id, call);
	mergeFields(sent, fragment, CALL_FIELDS);
	const { function: called } = sent;
	if (called.name === '') called.name = name;
	// Some send `{}` first, or the same or all so far again.
	if (called.arguments === '{}' && text.trim() !== '') called.arguments = text;
	else if (!whole || called.arguments === '' || !readArguments(call)) called.arguments += text;
	else if (text.length > called.arguments.length) called.arguments = text;
}

/** An index, which some servers send as text. */
function indexOf(value: JsonValue | undefined): number | undefined {
	const isIndex = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
	return isIndex ? Number(value) : undefined;
}

/** A text; empty if it is none. */
export const stringOf = (value: unknown) => (typeof value === 'string' ? value : '');

const byIndex = (a: { index: number }, b: { index: number }) => a.index - b.index;

/** The arguments so far, if they are complete. */
function readArguments(call: PartialCall): JsonObject | undefined {
	return call.parses++ < MAX_PARSES ? parseArguments(call.sent.function.arguments) : undefined;
}

/** @param executed The tools that a super assistant has run. The server may have told their results in the message as well. */
function toChoice(
	{ calls, choice }: PartialChoice,
	executed: readonly ToolProgressEvent[],
): Choice {
	const { message, finish_reason: reason } = choice;
	const hasRun = executed.length > 0 && message['tool_results'] === undefined;
	const ran = (hasRun ? executed : []).map(({ tool = '', arguments: args = {} }, at) =>
		toolCall(`call_${at + 1}`, tool, shown(args)),
	);
	// Beside executed calls, those of the model are requested only if the finish reason says so.
	const asked = (hasRun && reason !== 'tool_calls' ? [] : calls)
		.toSorted(byIndex)
		.map(({ sent }) => sent);
	const text = message.content ?? '';
	const content = text === '' && asked.length > 0 ? null : text;
	const tool_calls = [...ran, ...asked];
	const tool_results = ran.map(({ id }, at) => ({
		tool_call_id: id,
		content: executed[at]!.result ?? '',
	}));
	const called = {
		...(tool_calls.length > 0 && { tool_calls }),
		...(hasRun && { tool_results }),
	};
	return { ...choice, message: { ...message, content, ...called } };
}

/**
 * Reads a message, or a delta of one (spec 2.4, 2.5): its fields, with the content, the reasoning and the refusal as texts, where
 * some servers send parts, one or a list, and the old field of a call as one of the calls; and the parts that are no text, such
 * as images, as the service sent them.
 */
export function readMessage(value: unknown) {
	const fields = objectOf(value);
	if (!mustBeRead(fields)) return { said: fields, parts: NO_PARTS };
	const { text, parts, refusal, thought } = readContent(fields['content']);
	const {
		reasoning_content,
		reasoning,
		reasoning_details: details,
		function_call: call,
	} = fields;
	const thoughts = readContent(reasoning_content ?? reasoning ?? thought ?? details);
	const said: JsonObject = withoutUndefined({
		...fields,
		content: text,
		reasoning_content: thoughts.text ?? undefined,
		refusal: refusal ?? fields['refusal'],
		tool_calls: fields['tool_calls'] ?? (isJsonObject(call) ? [{ function: call }] : undefined),
		function_call: undefined,
		// The service may have a field of this name itself.
		parts: undefined,
	});
	return { said, parts };
}

/** Runs for every chunk. */
function mustBeRead(fields: JsonObject): boolean {
	for (const key in fields)
		if (key === 'content' ? typeof fields[key] !== 'string' : READ_FIELDS.has(key)) return true;
	return false;
}

/** The text, null without content; the parts that are not text; the words of a refusal, and those of a thought. */
function readContent(content: JsonValue = null) {
	const parts: JsonValue[] = [];
	if (content === null || typeof content === 'string') return { text: content, parts };
	const read = { text: '', refusal: '', thought: '' };
	for (const part of [content].flat()) {
		const { summary = part, text = summary, thinking = text, refusal, type } = objectOf(part);
		if (THOUGHTS.includes(type)) read.thought += readContent(thinking).text ?? '';
		else if (typeof text === 'string') read.text += text;
		else if (typeof refusal === 'string') read.refusal += refusal;
		else if (isJsonObject(part)) parts.push(part);
		else if (part !== null) read.text += shown(part);
	}
	const { text, refusal, thought } = read;
	return { text, parts, refusal: refusal || undefined, thought: thought || undefined };
}

/** Parses the `extension` of a stream chunk (spec 2.7). Returns a list, because one chunk can report several tools. */
export function toolProgressEvents({ type: sent, data }: JsonObject): ToolProgressEvent[] {
	const type = typeof sent === 'string' ? sent : '';
	if (type === 'tool_start' && isJsonObject(data))
		return [toolEvent(type, { name: data['tool'], arguments: data['arguments'] })];
	if (type === 'tool_calls' && isJsonObject(data))
		return objectsOf(data['tool_calls']).map((call) => toolEvent(type, call));
	return [{ type, data: data ?? null }];
}

function toolEvent(type: string, fields: JsonObject): ToolProgressEvent {
	const { name, arguments: args, result, status, elapsed } = fields;
	const text = (value: JsonValue = null) => (value === null ? undefined : shown(value));
	return withoutUndefined({
		type,
		tool: typeof name === 'string' ? name : '',
		arguments: args,
		result: text(result),
		status: text(status),
		elapsed: text(elapsed),
	});
}

/** One line of text for a chat window; empty if the event is of a type that the specification does not list. */
export function progressLine(event: ToolProgressEvent): string {
	const { type, tool = '', arguments: args, status = 'success', elapsed = '' } = event;
	const name = oneLine(tool);
	if (type === 'tool_start') {
		// The line shows the beginning only.
		const text = JSON.stringify(bounded({ args: args ?? {} }, ['args'])['args']);
		return `Running ${name}${text === '{}' ? '' : `: ${oneLine(text)}`}`;
	}
	if (type !== 'tool_calls') return '';
	const end = status === 'success' ? `Finished ${name}` : `${name}: ${oneLine(status)}`;
	return elapsed === '' ? end : `${end} in ${oneLine(elapsed)}`;
}
