/** The parts of a JSON schema that arguments are filled by. */
export interface Schema {
	readonly type?: string | readonly string[];
	readonly const?: unknown;
	readonly default?: unknown;
	readonly enum?: readonly unknown[];
	readonly format?: string;
	readonly pattern?: string;
	readonly minLength?: number;
	readonly maxLength?: number;
	readonly minimum?: number;
	readonly maximum?: number;
	readonly exclusiveMinimum?: number;
	readonly exclusiveMaximum?: number;
	readonly multipleOf?: number;
	readonly items?: Schema;
	readonly minItems?: number;
	readonly maxItems?: number;
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly required?: readonly string[];
	readonly anyOf?: readonly Schema[];
	readonly oneOf?: readonly Schema[];
	readonly allOf?: readonly Schema[];
	readonly $ref?: string;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a value is allowed to be; anything that is no schema allows everything. */
const asSchema = (value: unknown): Schema => (isObject(value) ? value : {});

function lookUp(reference: string, root: unknown): Schema {
	const path = reference.replace(/^#\/?/, '').split('/').filter(Boolean);
	const found = path.reduce<unknown>(
		(value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
		root,
	);
	return asSchema(found);
}

const MOST_REFERENCES = 8;

/** A schema with its references followed and the first of its alternatives chosen. */
export function resolveSchema(value: unknown, root: unknown, depth = 0): Schema {
	const schema = asSchema(value);
	if (depth > MOST_REFERENCES) return {};
	const follow = (next: unknown) => resolveSchema(next, root, depth + 1);

	if (typeof schema.$ref === 'string') return follow(lookUp(schema.$ref, root));
	if (Array.isArray(schema.allOf))
		return Object.assign({}, schema, ...schema.allOf.map(follow)) as Schema;
	const choices = [schema.anyOf, schema.oneOf].find((list) => Array.isArray(list)) ?? [];
	const chosen = choices.map(follow).find(({ type }) => type !== 'null');
	return chosen ? { ...schema, ...chosen } : schema;
}

/** The type a value of this schema is given; null is the last resort. */
export function typeOf({ type, properties, items }: Schema): string {
	if (typeof type === 'string') return type;
	if (Array.isArray(type)) return (type as string[]).find((name) => name !== 'null') ?? 'null';
	return properties ? 'object' : items ? 'array' : 'string';
}
