import { parse } from 'json5';

import { parseJson, type JsonValue } from '../json';

/** The first line of a Markdown code fence, and the same at the end of the text before a value. */
const CODE_FENCE = /^```[a-z]*[^\S\n]*\n/i;
const AFTER_FENCE = /```\w*\s*$/;
/** How many levels of brackets are read, see `parseJson`. */
const MAX_DEPTH = 200;
/** How many values are looked for in one text, and how long one may be that is not valid JSON: its parser is slow. */
const MAX_PARTS = 20;
const MAX_LENIENT_CHARACTERS = 100_000;
/** Brackets of prose: the mark of a citation `[1]` or of a task `[x]`. */
const MARK = /^\[[\sx\d]*\]$/i;
/** A comment in place of values that the model has left out. */
const LEFT_OUT = /\/[/*]\s*(?:\.{3}|…)/;

/** A piece of a text in brackets. */
interface Part {
	readonly text: string;
	readonly isFenced: boolean;
}

/**
 * The JSON values in a text that should have been one JSON value: the whole text; else those in code fences, or those
 * between prose. Valid JSON counts before JSON5, which allows trailing commas, comments, single quotes and keys without
 * quotes. None if a bracket is not closed: what is cut off is never completed.
 */
export function salvageJson(text: string): JsonValue[] {
	const trimmed = text.trim();
	const parts = bracketed(trimmed);
	const whole = parseJson(withoutFence(trimmed));
	const isScalar = typeof whole !== 'object' || whole === null;
	if (whole !== undefined && (isScalar || parts.length > 0)) return [whole];
	if (parts.length > MAX_PARTS) return [];

	const fenced = parts.filter(({ isFenced }) => isFenced);
	const tried = fenced.length > 0 ? fenced : parts.filter((part) => !MARK.test(part.text));
	const valid = valuesOf(tried, parseJson);
	return valid.length > 0 ? valid : valuesOf(tried, parseLenient);
}

function withoutFence(text: string): string {
	const [fence = ''] = text.endsWith('```') ? (CODE_FENCE.exec(text) ?? []) : [];
	return fence === '' ? text : text.slice(fence.length, -3);
}

function valuesOf(
	parts: readonly Part[],
	read: (text: string) => JsonValue | undefined,
): JsonValue[] {
	return parts.map(({ text }) => read(text)).filter((value) => value !== undefined);
}

function parseLenient(text: string): JsonValue | undefined {
	if (text.length > MAX_LENIENT_CHARACTERS || LEFT_OUT.test(text)) return undefined;
	try {
		return parseJson(JSON.stringify(parse(text, onlyJson)));
	} catch {
		return undefined;
	}
}

/** Rejects the numbers of JSON5 that JSON does not have: NaN and Infinity. */
function onlyJson(_key: string, value: unknown): unknown {
	if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError();
	return value;
}

/**
 * The pieces of a text from an opening bracket to the one that closes it; none if a bracket is not closed, closed by
 * another one, or nested too deep. Brackets in strings and comments do not count. Linear in the length of the text.
 */
function bracketed(text: string): Part[] {
	const parts: Part[] = [];
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
