export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

export interface JsonObject {
	[key: string]: JsonValue | undefined;
}

/** Type guard: a JSON object, not null and not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
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

/**
 * Parses JSON; `undefined` if the text is not JSON. `__proto__` keys are dropped: they would change the prototype of an
 * object that the value is copied to.
 */
export function parseJson(text: string): JsonValue | undefined {
	try {
		// The reviver is slow. It runs only if the key may occur, literally or with escaped letters.
		const isSuspect = text.includes('__proto__') || text.includes('\\u00');
		return JSON.parse(text, isSuspect ? withoutPrototype : undefined) as JsonValue;
	} catch {
		return undefined;
	}
}

function withoutPrototype(key: string, value: unknown): unknown {
	return key === '__proto__' ? undefined : value;
}

/** Parses a JSON object; `undefined` if the text is anything else. */
export function parseJsonObject(text: string): JsonObject | undefined {
	const value = parseJson(text);
	return isJsonObject(value) ? value : undefined;
}

/** A copy without the keys whose value is `undefined`. */
export function withoutUndefined<T extends object>(
	fields: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
	const present = Object.entries(fields).filter(([, value]) => value !== undefined);
	return Object.fromEntries(present) as { [K in keyof T]: Exclude<T[K], undefined> };
}
