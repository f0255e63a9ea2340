export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

export interface JsonObject {
	[key: string]: JsonValue | undefined;
}

/** Type guard: a JSON object, not null and not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is a JSON object, otherwise an empty one. */
export function objectOf(value: unknown): JsonObject {
	return isJsonObject(value) ? value : {};
}

/**
 * A typed body as a JSON object. A cast, not a check: TypeScript does not assign an interface to an index signature,
 * although these bodies hold only JSON values.
 */
export function asJson(value: object): JsonObject {
	return value as unknown as JsonObject;
}

/**
 * JSON as a typed body. A cast, not a check: the caller has checked what it relies on, the rest is as the specification
 * describes it.
 */
export function fromJson<T>(json: JsonValue): T {
	return json as unknown as T;
}

/** Bounds of JSON from outside, far above any of the service. They are checked before the text is parsed. */
export const MAX_JSON = { characters: 16 * 1024 * 1024, values: 200_000, depth: 100 } as const;

/** The brackets are those of an object; those of a list differ in one bit. */
const [QUOTE, COMMA, BACKSLASH, OPEN, CLOSE, LIST_BIT] = [0x22, 0x2c, 0x5c, 0x7b, 0x7d, 0x20];
/** The fewest characters of a level: of a list, and of an object, `{"":}`. */
const [LIST_CHARACTERS, OBJECT_CHARACTERS] = [2, 5];

/**
 * Which bound a JSON text exceeds, as the end of a sentence: `more than 200,000 values`; undefined if none. A short text of
 * gzip may describe millions of values, which would take gigabytes. Reads each character at most once, and texts in it at the
 * speed of `indexOf`.
 */
export function exceededBound(text: string): string | undefined {
	const { characters, values, depth } = MAX_JSON;
	if (text.length <= depth * LIST_CHARACTERS || isFlat(text)) return undefined;
	if (text.length > characters) return `more than ${characters / 1024 / 1024} MB of text`;
	let found = 1;
	let level = 0;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code === QUOTE) at = endOfText(text, at);
		else if (code === COMMA) found++;
		else if ((code | LIST_BIT) === CLOSE) level--;
		else if ((code | LIST_BIT) === OPEN) {
			if (++level > depth) return `more than ${depth} levels`;
			if ((text.charCodeAt(at + 1) | LIST_BIT) !== CLOSE) found++;
		}
	}
	return found > values ? `more than ${values.toLocaleString('en')} values` : undefined;
}

/** Whether a text, such as an event of a stream, is too short for its few lists to exceed a bound. */
function isFlat(text: string): boolean {
	let spare = MAX_JSON.depth * OBJECT_CHARACTERS - text.length;
	for (let at = text.indexOf('['); at !== -1 && spare >= 0; at = text.indexOf('[', at + 1))
		spare -= OBJECT_CHARACTERS - LIST_CHARACTERS;
	return spare >= 0;
}

/** The index of the quote that ends a text of JSON; the length of all where none does. */
function endOfText(json: string, start: number): number {
	for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
		let before = at - 1;
		while (json.charCodeAt(before) === BACKSLASH) before--;
		if ((at - before) % 2 === 1) return at;
	}
	return json.length;
}

/** Drops `__proto__` keys: they would change the prototype of an object that the value is copied to. */
const withoutPrototypes = (key: string, value: JsonValue) =>
	key === '__proto__' ? undefined : value;

/** Parses JSON; `undefined` if the text is not JSON, or exceeds a bound, see `exceededBound`. `__proto__` keys are dropped. */
export function parseJson(text: string): JsonValue | undefined {
	if (exceededBound(text) !== undefined) return undefined;
	try {
		// The key may occur literally or with escaped letters.
		const isSuspect = text.includes('__proto__') || text.includes('\\u00');
		return JSON.parse(text, isSuspect ? withoutPrototypes : undefined) as JsonValue;
	} catch {
		return undefined;
	}
}

/** Parses JSON, also where control characters in its texts, such as line breaks, are not escaped. */
export function parseLoosely(text: string): JsonValue | undefined {
	const value = parseJson(text);
	if (value !== undefined) return value;
	let isInText = false;
	const escaped = text.replace(/\\[^]|["\p{Cc}]/gu, (token) => {
		if (token === '"') isInText = !isInText;
		return isInText && token < ' ' ? JSON.stringify(token).slice(1, -1) : token;
	});
	return parseJson(escaped);
}

/** Parses a JSON object; `undefined` if the text is anything else. */
export function parseJsonObject(text: string): JsonObject | undefined {
	const value = parseJson(text);
	return isJsonObject(value) ? value : undefined;
}

/** Bounds of what is kept of an answer: levels, entries of a list or object, characters of one text and of all. */
const MAX = { levels: 10, entries: 100, text: 10_000, total: 50_000 } as const;

/**
 * A copy of an object from outside within bounds, so that it can be kept and shown. A longer text is cut and ends in `…`;
 * what lies deeper, and what exceeds the total, is left out.
 *
 * @param first Names of the fields that are copied first.
 */
export function bounded(body: JsonObject, first: readonly string[]): JsonObject {
	let left: number = MAX.total;
	function copy(value: JsonValue | undefined, level: number): JsonValue | undefined {
		if (left <= 0 || level > MAX.levels) return undefined;
		const text = typeof value === 'string' ? shorten(value, Math.min(left, MAX.text)) : value;
		// A value that is no text counts, too.
		left -= typeof text === 'string' ? text.length : 10;
		if (typeof text !== 'object' || text === null) return text;
		if (Array.isArray(text))
			return text.slice(0, MAX.entries).map((each) => copy(each, level + 1) ?? null);
		const entries = Object.entries(text).slice(0, MAX.entries);
		const copies = entries.map(([name, each]) => [shorten(name, 100), copy(each, level + 1)]);
		return withoutUndefined(Object.fromEntries(copies) as JsonObject);
	}
	const ordered = Object.fromEntries(first.map((name) => [name, undefined]));
	return copy({ ...ordered, ...body }, 0) as JsonObject;
}

/** The text, or its first characters and `…`. */
export function shorten(text: string, max: number): string {
	return text.length > max ? `${text.slice(0, max)}…` : text;
}

/** A copy with other values, without the keys whose value becomes `undefined`. */
export function mapValues<V, R>(
	fields: Readonly<Record<string, V>>,
	change: (value: V, key: string) => R,
): Record<string, Exclude<R, undefined>> {
	const changed = Object.entries(fields).map(
		([key, value]) => [key, change(value, key)] as const,
	);
	return withoutUndefined(Object.fromEntries(changed));
}

/** A copy without the keys whose value is `undefined`. */
export function withoutUndefined<T extends object>(fields: T) {
	const present = Object.entries(fields).filter(([, value]) => value !== undefined);
	return Object.fromEntries(present) as { [K in keyof T]: Exclude<T[K], undefined> };
}
