export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

export interface JsonObject {
	[key: string]: JsonValue | undefined;
}

/** Tells a JSON object from every other value. */
export function isJsonObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The value that the text spells, or `undefined` where the text is not JSON. Keys that would change the prototype of an
 * object when somebody copies it are left out.
 */
export function parseJson(text: string): JsonValue | undefined {
	try {
		// Spelled out, or with an escape for any of its letters.
		const isSuspect = text.includes('__proto__') || text.includes('\\u00');
		return JSON.parse(text, isSuspect ? withoutPrototype : undefined) as JsonValue;
	} catch {
		return undefined;
	}
}

function withoutPrototype(key: string, value: unknown): unknown {
	return key === '__proto__' ? undefined : value;
}

/** The object that the text spells, or `undefined` where the text is not a JSON object. */
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
