/** Whether a JSON value is an object, and neither a list nor null. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** A table in which texts from outside are looked up: without the names that each object has. */
export const bare = <T extends object>(rows: T): T =>
	Object.assign(Object.create(null) as object, rows);

/** The value of a JSON text; undefined for any other text. */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}

/** Whether a body is nested too deeply: serializing it again would overflow the stack. */
export const isTooDeep = (body: unknown): boolean => exceedsDepth(100, body);

/** Whether a JSON value is nested deeper than `maxDepth`. Iterative, so that any depth is safe. */
export function exceedsDepth(maxDepth: number, value: unknown): boolean {
	let level: readonly unknown[] = [value];
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > maxDepth) return true;
		level = level.flatMap((item): unknown[] =>
			typeof item === 'object' && item !== null ? Object.values(item) : [],
		);
	}
	return false;
}
