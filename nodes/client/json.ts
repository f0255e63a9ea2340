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

/** Maximum nesting of JSON from outside, far above any of the service: a host may fail to store thousands of levels. */
const MAX_DEPTH = 200;

/**
 * Removes `__proto__` keys: they would change the prototype of an object that the value is copied to. Replaces what is nested
 * too deep by null. The rest is kept: it may be paid for.
 */
function tidy(value: JsonValue | undefined, levels = MAX_DEPTH): void {
	if (typeof value !== 'object' || value === null) return;
	const list = value as JsonObject;
	delete list['__proto__'];
	for (const [name, each] of Object.entries(list))
		if (levels > 1) tidy(each, levels - 1);
		else if (typeof each === 'object') list[name] = null;
}

/**
 * Parses JSON; `undefined` if the text is not JSON. `__proto__` keys are dropped. What is nested more than 200 levels deep
 * becomes null. `JSON.parse` takes any depth, but not with a reviver.
 *
 * @param isExact Whether an integer that a number would round becomes its text.
 */
export function parseJson(text: string, isExact = false): JsonValue | undefined {
	try {
		const isLong = isExact && /\d{16}/.test(text);
		const value = JSON.parse(isLong ? withQuotedIntegers(text) : text) as JsonValue;
		// The key may occur literally or with escaped letters. A level takes two characters.
		const isSuspect =
			text.length > 2 * MAX_DEPTH || text.includes('__proto__') || text.includes('\\u00');
		if (isSuspect) tidy(value);
		return value;
	} catch {
		return undefined;
	}
}

/** The text of JSON whose integers that a number would round are texts. Reads each character once. */
function withQuotedIntegers(json: string): string {
	let isInText = false;
	return json.replace(/"|\\.|-?\d[\d.eE+-]*/g, (token) => {
		if (token === '"') isInText = !isInText;
		const number = Number(token);
		const isLost = /^-?\d{16,}$/.test(token) && isRounded(number) && String(number) !== token;
		return isLost && !isInText ? `"${token}"` : token;
	});
}

const isRounded = (value: unknown) => typeof value === 'number' && !Number.isSafeInteger(value);

/**
 * Parses a response, or an event of one, that has to be a JSON object; `undefined` if it is anything else. A task or session
 * ID that is a number above 2^53 becomes its text, as the number would be rounded to another ID; so do all such numbers in
 * the results of tools.
 */
export function parseBody(text: string): JsonObject | undefined {
	const body = parseJsonObject(text);
	const hasResults = body?.['extension'] !== undefined;
	if (!hasResults && !isRounded(body?.['task_id']) && !isRounded(body?.['session_id']))
		return body;
	const { task_id, session_id, extension } = parseJsonObject(text, true) ?? {};
	return withoutUndefined({ ...body, task_id, session_id, extension });
}

/** Parses a JSON object; `undefined` if the text is anything else. */
export function parseJsonObject(text: string, isExact = false): JsonObject | undefined {
	const value = parseJson(text, isExact);
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
