import { readResult } from '../concurrency';
import { ServiceError } from '../errors';
import { asJson, type JsonObject, type JsonValue, parseJson } from '../json';
import { isBlank, oneLine } from '../values';
import { addUsage, canonicalJson } from './conversation';
import { userMessage, withMore } from './messages';
import { usageOf, withoutThought, withReply } from './result';
import { splitCalls } from './toolCalls';
import { findMismatch } from './jsonSchema';
import type { Chat } from './sendChat';
import { endOf, type ChatCompletion, type ChatMessage, type Taker } from './types';
import { END_ADVICE, formOf, type Form } from './verdict';

const JSON_MODE = { response_format: { type: 'json_object' } };
const JSON_ONLY = 'Answer with JSON only, without any text around it.';
const BY_SCHEMA = `${JSON_ONLY} Leave out a field that is not required if it has no value. The JSON must match this JSON Schema:`;

/** What is said about a reply with integers that a number would round. */
export const LONG_INTEGERS =
	'An integer of the reply has more digits than a number can hold: it is a text, with all of them';

/** What a JSON reply has to be. */
export interface JsonFormat {
	/** The JSON Schema that it has to match; without one it may be any JSON. */
	readonly schema?: JsonObject | undefined;
	/** How often the model may correct an invalid reply. Each attempt is a call. */
	readonly repairAttempts: number;
}

/**
 * A chat that asks for replies in JSON (spec 2.1): in `response_format`, and in words at the end of the last user message,
 * which is the only one that a super assistant reads (spec 2.7). An invalid reply is sent back with what is wrong with it,
 * as often as the format says; the usage of all calls is added up.
 *
 * @param chat Sends one request. The messages of an attempt to repair end with the invalid reply and a new user message.
 * @param format Undefined for a text: then requests are sent as they are.
 * @param taker A reply with tool calls is no answer, unless an assistant has run them.
 * @returns A chat that returns the last reply, valid or not: see `readJsonReply`. It throws what `chat` throws; a
 *   ServiceError then has the invalid reply in `details.partial`.
 */
export function withJson(chat: Chat, format: JsonFormat | undefined, taker: Taker = 'reply'): Chat {
	if (format === undefined) return chat;
	return async (request) => {
		let messages = withInstruction(request.messages, format);
		const send = async () => await chat({ ...JSON_MODE, ...request, messages });
		let reply = await send();
		for (let left = format.repairAttempts; left > 0; left -= 1) {
			const invalid = reply;
			const read = readResult(() => readJsonReply(invalid, format, taker));
			const isRepairable = REPAIRABLE.includes(formOf(reply, taker)) && isWhole(reply);
			if ('value' in read || !isRepairable) break;
			const { content } = reply.choices[0]!.message;
			// The service takes no empty message.
			const said: ChatMessage[] = isBlank(content) ? [] : [{ role: 'assistant', content }];
			messages = [
				...messages,
				...said,
				userMessage(`${(read.error as Error).message}. ${JSON_ONLY}`),
			];
			const next = await send().catch((failure: unknown) => {
				throw withReply(failure, asJson(invalid));
			});
			const usage = addUsage(usageOf(invalid), usageOf(next));
			reply = usage === undefined ? next : { ...next, usage };
		}
		return reply;
	};
}

/**
 * The value of a reply in JSON mode: parsed, salvaged from prose around it, and validated. An integer that a number would
 * round is its text.
 *
 * @param onHint Is told what there is to say about the value.
 * @returns Undefined for a text, and for a reply that asks for tool calls.
 * @throws ServiceError `protocol` if the reply is not the JSON that was asked for. `details.partial` has it.
 */
export function readJsonReply(
	completion: ChatCompletion,
	format: JsonFormat | undefined,
	taker: Taker = 'reply',
	onHint?: (hint: string) => void,
): JsonValue | undefined {
	if (format === undefined) return undefined;
	const { schema } = format;
	const { message, finish_reason: reason } = completion.choices[0]!;
	const { asked, ran } = splitCalls(message);
	const asks = asked.length > 0 || (reason === 'tool_calls' && ran.length > 0);
	if (asks && taker !== 'assistant' && endOf(reason) === 'whole') return undefined;

	const text = withoutThought(message.content ?? '');
	const found = salvageJson(text);
	const mismatch = (value: JsonValue) => schema && findMismatch(schema, value);
	// The schema speaks of numbers, also where the output has a text.
	const exact = /\d{16}/.test(text) ? salvageJson(text, true) : found;
	const fitting = exact.filter((_value, index) => mismatch(found[index]!) === undefined);
	const different = new Set(fitting.map(canonicalJson));
	if (different.size === 1) {
		if (canonicalJson(found) !== canonicalJson(exact)) onHint?.(LONG_INTEGERS);
		return fitting[0]!;
	}

	const problem =
		found.length === 0
			? 'is not valid JSON'
			: different.size > 1
				? 'has several JSON values'
				: `does not match the schema${oneLine(mismatch(found.at(-1)!)!).replace(/\.$/, '')}`;
	const advice = isWhole(completion) ? 'describeFields' : END_ADVICE[endOf(reason)];
	const details = { serviceMessage: text.trim() };
	const error = new ServiceError('protocol', `The reply ${problem}`, advice, details);
	throw withReply(error, asJson(completion));
}

/** What a reply in another format may be. The others would only be paid for again. */
const REPAIRABLE: readonly Form[] = ['answer', 'work', 'nothing'];

/** Whether nothing has ended a reply early. */
function isWhole({ choices }: ChatCompletion): boolean {
	return ['whole', 'unknown'].includes(endOf(choices[0]!.finish_reason));
}

/** The messages with what the model has to do. A prompt that already asks for JSON without a schema stays as it is. */
function withInstruction(
	messages: readonly ChatMessage[],
	{ schema }: JsonFormat,
): readonly ChatMessage[] {
	const asked = messages.filter(({ role }) => role === 'user' || role === 'system');
	if (schema === undefined && asked.some(({ content }) => /json/i.test(JSON.stringify(content))))
		return messages;
	const text = schema === undefined ? JSON_ONLY : `${BY_SCHEMA}\n${JSON.stringify(schema)}`;
	return withMore(messages, text);
}

/** The first line of a Markdown code fence, and the same at the end of the text before a value. */
const CODE_FENCE = /^```[a-z]*[^\S\n]*\n/i;
const AFTER_FENCE = /```\w*\s*$/;
/** How many levels of brackets are read, see `parseJson`. */
const MAX_DEPTH = 200;
/** How many values are looked for in one text, and how long one may be that is not valid JSON. */
const MAX_PARTS = 20;
const MAX_LENIENT_CHARACTERS = 100_000;
/** Brackets of prose: the mark of a citation `[1]` or of a task `[x]`. */
const MARK = /^\[[\sx\d]*\]$/i;
/** A comment in place of values that the model has left out. */
const LEFT_OUT = /\/[/*]\s*(?:\.{3}|…)/;
/** What JSON writes in another way: a text in quotes, a comment, a word that may be a key. Each is read once, also without its end. */
const LENIENT =
	/(["'])((?:(?!\1)[^\\]|\\[^])*)\1?|\/\/.*|\/\*[^]*?(?:\*\/|$)|([\p{L}_$][\p{L}\p{N}_$]*)(\s*:)?/gu;
/** A comma after the last value, and what tells it from one without a value before it. */
const COMMA = /"(?:[^"\\]|\\[^])*"|[[{:,]\s*,|,(?=\s*[}\]])/g;

/**
 * The JSON values in a text that should have been one JSON value: the whole text; else those in code fences, or those
 * between prose. Valid JSON counts before what models write for it: with trailing commas, comments, single quotes and keys
 * without quotes. None if a bracket is not closed: what is cut off is never completed.
 *
 * @param isExact Whether an integer that a number would round becomes its text.
 */
export function salvageJson(text: string, isExact = false): JsonValue[] {
	const trimmed = text.trim();
	const parts = bracketed(trimmed);
	const [fence = ''] = trimmed.endsWith('```') ? (CODE_FENCE.exec(trimmed) ?? []) : [];
	const whole = parseJson(fence === '' ? trimmed : trimmed.slice(fence.length, -3), isExact);
	const isScalar = typeof whole !== 'object' || whole === null;
	if (whole !== undefined && (isScalar || parts.length > 0)) return [whole];
	if (parts.length > MAX_PARTS) return [];

	const fenced = parts.filter(({ isFenced }) => isFenced);
	const tried = fenced.length > 0 ? fenced : parts.filter((part) => !MARK.test(part.text));
	const values = (read: typeof parseLenient) =>
		tried.map(({ text: each }) => read(each, isExact)).filter((value) => value !== undefined);
	const valid = values(parseJson);
	return valid.length > 0 ? valid : values(parseLenient);
}

function parseLenient(text: string, isExact: boolean): JsonValue | undefined {
	if (text.length > MAX_LENIENT_CHARACTERS || LEFT_OUT.test(text)) return undefined;
	const quoted = text.replace(
		LENIENT,
		(token, quote?: string, inner?: string, word?: string, colon?: string) => {
			if (quote !== undefined) return `"${inner!.replace(/\\[^]|"/g, inDoubleQuotes)}"`;
			if (word === undefined) return ' ';
			return colon === undefined ? token : `"${word}"${colon}`;
		},
	);
	const strict = quoted.replace(COMMA, (token) => (token === ',' ? '' : token));
	return parseJson(strict, isExact);
}

/** An escape, or a quote, as it stands in double quotes. */
const inDoubleQuotes = (part: string) => ({ '"': '\\"', "\\'": "'" })[part] ?? part;

/**
 * The pieces of a text from an opening bracket to the one that closes it; none if a bracket is not closed, closed by
 * another one, or nested too deep. Brackets in strings and comments do not count. Linear in the length of the text.
 */
function bracketed(text: string) {
	const parts: { readonly text: string; readonly isFenced: boolean }[] = [];
	const closers: string[] = [];
	let start = 0;
	let quote = '';
	/** The last character that is no white space. */
	let before = '';
	for (let at = 0; at < text.length; at++) {
		const char = text.charAt(at);
		if (quote !== '') {
			if (char === '\\') at++;
			else if (char === quote) quote = '';
		} else if (char === '{' || char === '[') {
			if (closers.length === 0) start = at;
			closers.push(char === '{' ? '}' : ']');
			if (closers.length > MAX_DEPTH) return [];
		} else if (closers.length > 0) {
			if (char === '"' || (char === "'" && '[{,:'.includes(before))) quote = char;
			else if (char === '/') at = endOfComment(text, at);
			else if ((char === '}' || char === ']') && closers.pop() !== char) return [];
			if (closers.length === 0) {
				const isFenced = AFTER_FENCE.test(text.slice(Math.max(0, start - 50), start));
				parts.push({ text: text.slice(start, at + 1), isFenced });
			}
		}
		if (char.trim() !== '') before = char;
	}
	return closers.length === 0 ? parts : [];
}

/** The index of the last character of a comment that begins here; the same index if none does. */
function endOfComment(text: string, at: number): number {
	const end = { '//': '\n', '/*': '*/' }[text.slice(at, at + 2)];
	if (end === undefined) return at;
	const found = text.indexOf(end, at + 2);
	return found === -1 ? text.length : found + end.length - 1;
}
