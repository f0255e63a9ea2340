/** The parts of a JSON Schema that the emulated model understands. */
export interface JsonSchema {
	readonly type?: string;
	readonly properties?: Readonly<Record<string, JsonSchema>>;
	readonly items?: JsonSchema;
	readonly minItems?: number;
	readonly enum?: readonly unknown[];
}

/** Limit of generated values in a list. */
const MAX_ITEMS = 20;

/** The JSON Schema in the last line of a text; undefined if that is something else. */
export function schemaIn(text: string): JsonSchema | undefined {
	try {
		const value: unknown = JSON.parse(text.slice(text.lastIndexOf('\n') + 1));
		const isSchema = typeof value === 'object' && value !== null && 'type' in value;
		return isSchema ? (value as JsonSchema) : undefined;
	} catch {
		return undefined;
	}
}

/**
 * A value that matches a schema.
 * @param write writes the text or number for a key, by the first character of such a value in JSON, or one of those allowed
 * @param turn position in a list, so that its values differ
 */
export function valueFor(
	{ type, properties = {}, items = {}, minItems = 1, enum: allowed }: JsonSchema,
	key: string,
	write: (key: string, sample: string, turn: number, allowed?: readonly unknown[]) => unknown,
	turn = 0,
): unknown {
	if (allowed !== undefined) return write(key, '', turn, allowed);
	if (type === 'object')
		return Object.fromEntries(
			Object.entries(properties).map(([name, schema]) => [
				name,
				valueFor(schema, name, write, turn),
			]),
		);
	if (type === 'array') {
		const length = Math.min(Math.max(minItems, 1), MAX_ITEMS);
		return Array.from({ length }, (_, index) => valueFor(items, key, write, index));
	}
	if (type === 'integer' || type === 'number') return write(key, '1', turn);
	if (type === 'boolean') return true;
	const text = write(key, '', turn);
	return typeof text === 'string' ? text : String(text);
}
