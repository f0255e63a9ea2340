/** A JSON schema as n8n's editor reads it, for the fields that it offers before a node has run. */
export interface OutputSchema {
	readonly type: string;
	readonly properties?: Readonly<Record<string, OutputSchema>>;
	readonly items?: OutputSchema;
}

/**
 * Describes outputs: each field that one of them has.
 *
 * @param open Paths of fields whose content is the person's or the model's, such as `tool_calls.arguments`.
 * @throws Error for a field that has different types.
 */
export function schemaOf(
	values: readonly unknown[],
	open: readonly string[] = [],
	path = '',
): OutputSchema {
	const known = values.filter((value) => value !== null && value !== undefined);
	const types = [...new Set(known.map(typeOf))];
	const [type = 'string'] = types;
	if (open.includes(path)) return { type };
	if (types.length > 1) throw new Error(`${path} is ${types.join(' and ')}`);
	if (type === 'array') return { type, items: schemaOf(known.flat(), open, path) };
	if (type !== 'object') return { type };
	const objects: Record<string, unknown>[] = known.map((each) => ({ ...each }));
	const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
	const inside = (name: string) => (path === '' ? name : `${path}.${name}`);
	const properties = names.map((name) => {
		const fields = objects.map((object) => object[name]);
		return [name, schemaOf(fields, open, inside(name))] as const;
	});
	return { type, properties: Object.fromEntries(properties) };
}

const typeOf = (value: unknown) => (Array.isArray(value) ? 'array' : typeof value);

/** The paths of fields in a value that a schema does not describe, or describes with another type. */
export function missingFields(
	value: unknown,
	schema: OutputSchema | undefined,
	path = '',
): readonly string[] {
	if (schema === undefined) return [path];
	if (value === null || value === undefined) return [];
	if (typeOf(value) !== schema.type) return [`${path} is ${typeOf(value)}`];
	if (Array.isArray(value) && schema.items !== undefined)
		return [
			...new Set(value.flatMap((each) => missingFields(each, schema.items, `${path}[]`))),
		];
	if (schema.properties === undefined) return [];
	return Object.entries(value).flatMap(([name, field]) =>
		missingFields(field, schema.properties?.[name], path === '' ? name : `${path}.${name}`),
	);
}
