import {
	asJson,
	bounded,
	isJsonObject,
	objectOf,
	parseJsonObject,
	withoutUndefined,
	type JsonObject,
	type JsonValue,
} from '../json';
import { oneLine, shown } from '../values';
import { idText, objectsOf, toolCall } from './toolCalls';
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
}

/** After so many fragments with a name, a call is no longer taken for complete: each check parses all of its arguments. */
const MAX_PARSES = 16;
/** Fields of a chunk that do not belong to the envelope. */
const EXCLUDED_FIELDS = new Set(['choices', 'extension']);
/** Fields of a delta that are not copied: those that arrive in fragments, and `parts`, which comes from the content. */
const COMPOSED_FIELDS = new Set(['content', 'reasoning_content', 'refusal', 'tool_calls', 'parts']);
/** Fields of a choice that are not copied as they are. */
const CHOICE_FIELDS = new Set(['index', 'delta', 'message', 'finish_reason', 'usage']);
/** Fields of a tool call that are not copied as they are. */
const CALL_FIELDS = new Set(['index', 'id', 'type', 'function']);
/** Fields that have the same value in every fragment. */
const CONSTANT_FIELDS = new Set(['role', 'id', 'type', 'index', 'name', 'format']);

/** Types of the parts that have reasoning, and not the answer. */
const THOUGHTS: readonly unknown[] = ['reasoning', 'thinking'];

const NO_FIELDS: ReadonlySet<string> = new Set();
const NO_PARTS: readonly JsonValue[] = [];
const NO_PROGRESS: readonly ToolProgressEvent[] = [];

/** An empty accumulator of the chunks of a stream, which `applyChunk` changes in place. */
export function startAccumulator() {
	return {
		/** Top-level fields of the body: `model`, `session_id`, `usage`, … */
		envelope: {} as JsonObject,
		choices: new Map<number, PartialChoice>(),
		/** The tools that a super assistant has run (spec 2.7). */
		executed: [] as ToolProgressEvent[],
	};
}

type Accumulator = Readonly<ReturnType<typeof startAccumulator>>;

/**
 * Adds one chunk of a stream (spec 2.5), which may have no `choices`. The tools that a super assistant has run
 * (`extension`, spec 2.7) become calls and results of the message, as in a non-streamed body (spec 2.4).
 *
 * @returns The text that the chunk adds to the first choice, and its tool progress.
 */
export function applyChunk(accumulator: Accumulator, chunk: JsonObject): ChatDelta {
	mergeFields(accumulator.envelope, chunk, EXCLUDED_FIELDS, 'nothing');
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

/** Whether the first choice has a finish reason (spec 3.2), and not one that tells of a failure. */
export function isFinished({ choices }: Accumulator): boolean {
	const reason = choices.get(0)?.choice.finish_reason ?? null;
	return reason !== null && endOf(reason) !== 'failure';
}

/** The accumulated chunks in the form of a non-streamed body (spec 2.4). */
export function toCompletion({ envelope, choices, executed }: Accumulator): ChatCompletion {
	// A super assistant that only ran tools sends no choices: its reply is empty.
	const sorted = [...choices.values()].sort((a, b) => byIndex(a.choice, b.choice));
	const [first = emptyChoice(0), ...others] = sorted;
	return {
		...envelope,
		...(envelope['object'] === undefined ? {} : { object: 'chat.completion' }),
		choices: [toChoice(first, executed), ...others.map((each) => toChoice(each, []))],
	};
}

/**
 * Adds the fields of a chunk that are not null. Runs for every chunk, so it allocates nothing.
 *
 * @param joins Which values are added to the ones before: lists; or texts and objects as well, and to the last entry of a list
 *   one with its index. Any other value replaces the last one.
 */
function mergeFields(
	target: Record<string, unknown>,
	fields: JsonObject,
	except: ReadonlySet<string>,
	joins: 'nothing' | 'lists' | 'fragments',
): void {
	for (const key in fields) {
		const value = fields[key];
		if (value === null || value === undefined || except.has(key)) continue;
		const old = joins === 'nothing' ? undefined : target[key];
		const isFragment = joins === 'fragments' && !CONSTANT_FIELDS.has(key);
		if (isFragment && typeof old === 'string' && typeof value === 'string')
			target[key] = old + value;
		else if (isFragment && isJsonObject(old) && isJsonObject(value))
			mergeFields(old, value, NO_FIELDS, joins);
		else if (!Array.isArray(old) || !Array.isArray(value)) target[key] = value;
		else {
			for (const entry of value) {
				const last = objectOf(old.at(-1));
				const isNext = isFragment && isJsonObject(entry) && entry['index'] !== undefined;
				if (isNext && last['index'] === entry['index'])
					mergeFields(last, entry, NO_FIELDS, joins);
				else old.push(entry);
			}
		}
	}
}

function emptyChoice(index: number): PartialChoice {
	const message = { role: 'assistant', content: null };
	return { choice: { index, message, finish_reason: null }, calls: [], latest: new Map() };
}

function applyChoice(partial: PartialChoice, sent: JsonObject): Omit<ChatDelta, 'progress'> {
	const { choice } = partial;
	const { message } = choice;
	const { finish_reason: reason, usage, delta, message: whole } = sent;
	// Some servers send one that says nothing with each chunk.
	if (typeof reason === 'string' && !['', 'null'].includes(reason)) choice.finish_reason = reason;
	if (isJsonObject(usage)) choice.usage = usage;

	// Servers that do not stream a reply send it whole, as one event.
	const isNew = message.content === null && partial.current === undefined;
	const fields = isJsonObject(delta) || !isNew ? objectOf(delta) : objectOf(whole);
	mergeFields(choice, sent, CHOICE_FIELDS, 'lists');
	mergeFields(message, fields, COMPOSED_FIELDS, 'fragments');
	const { content, reasoning: thought, reasoning_content = thought, tool_calls } = fields;
	for (const call of objectsOf(tool_calls)) applyToolCall(partial, call);
	const { text, parts, refusal } = readContent(content);
	if (text !== null) message.content = (message.content ?? '') + text;
	const refused = `${stringOf(fields['refusal'])}${refusal}`;
	if (refused !== '') message['refusal'] = stringOf(message['refusal']) + refused;
	for (const part of parts) (message.parts ??= []).push(part);
	const reasoning = typeof reasoning_content === 'string' ? reasoning_content : '';
	if (reasoning !== '') message.reasoning_content = (message.reasoning_content ?? '') + reasoning;
	return { content: text ?? '', reasoning };
}

/**
 * Adds a fragment to its tool call: the latest one with the same index; without an index, the one with the same id;
 * without an id, that of the last fragment. Any other fragment begins a call.
 */
function applyToolCall(partial: PartialChoice, fragment: JsonObject): void {
	const { calls, latest } = partial;
	const { name, arguments: args } = objectOf(fragment['function']);
	const id = idText(fragment['id']);
	const index = indexOf(fragment['index']);
	const isNamed = typeof name === 'string';
	let call = index === undefined && id === '' ? partial.current : latest.get(index ?? id);
	// Some servers number all calls 0, with ids, or each whole in one fragment.
	const known = call?.sent.id ?? '';
	if (id !== '' && known !== '' && id !== known) call = latest.get(id);
	else if (call !== undefined && isNamed) {
		const isWhole = id === '' && known === '' && isObjectText(args);
		// A name begins another call once the last one is complete.
		if ((index === undefined || isWhole) && isComplete(call)) call = undefined;
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
	mergeFields(asJson(sent), fragment, CALL_FIELDS, 'fragments');
	if (isNamed && sent.function.name === '') sent.function.name = name;
	sent.function.arguments += shown(args ?? '');
}

/** An index, which some servers send as text. */
function indexOf(value: JsonValue | undefined): number | undefined {
	const isIndex = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
	return isIndex ? Number(value) : undefined;
}

const stringOf = (value: unknown) => (typeof value === 'string' ? value : '');

const byIndex = (a: { index: number }, b: { index: number }) => a.index - b.index;

function isComplete(call: PartialCall): boolean {
	return call.parses++ < MAX_PARSES && isObjectText(call.sent.function.arguments);
}

function isObjectText(value: JsonValue | undefined): boolean {
	return typeof value === 'string' && parseJsonObject(value) !== undefined;
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
 * Reads the content of a reply or of a delta (spec 2.4, 2.5), which some servers send as parts, one or a list: all its text,
 * null without content; the parts that are not text, such as images, as the service sent them; and the words of a refusal.
 */
export function readContent(content: JsonValue = null) {
	if (content === null || typeof content === 'string')
		return { text: content, parts: NO_PARTS, refusal: '' };
	let all = '';
	let refused = '';
	const parts: JsonValue[] = [];
	for (const part of [content].flat()) {
		const { text = part, refusal, type } = objectOf(part);
		if (THOUGHTS.includes(type)) parts.push(part);
		else if (typeof text === 'string') all += text;
		else if (typeof refusal === 'string') refused += refusal;
		else if (isJsonObject(part)) parts.push(part);
		else if (part !== null) all += shown(part);
	}
	return { text: all, parts, refusal: refused };
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
