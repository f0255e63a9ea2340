import type { JSONSchema7 } from 'json-schema';
import { isObject } from '../../json';
import type { Tool } from '../requestSchema';

/** JSON schema, as far as arguments are generated from it. */
export type JsonSchema = JSONSchema7;

/** A value as a schema; anything that is not an object counts as the empty schema. */
const asSchema = (value: unknown): JsonSchema => (isObject(value) ? value : {});

function lookUp(reference: string, root: unknown): JsonSchema {
	const path = reference.replace(/^#\/?/, '').split('/').filter(Boolean);
	const found = path.reduce<unknown>(
		(value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
		root,
	);
	return asSchema(found);
}

const MAX_REFERENCES = 8;

/** Resolves `$ref` and `allOf`, and chooses the first alternative of `anyOf` or `oneOf`. */
export function resolveSchema(value: unknown, root: unknown, depth = 0): JsonSchema {
	const schema = asSchema(value);
	if (depth > MAX_REFERENCES) return {};
	const follow = (next: unknown) => resolveSchema(next, root, depth + 1);

	if (typeof schema.$ref === 'string') return follow(lookUp(schema.$ref, root));
	if (Array.isArray(schema.allOf))
		return Object.assign({}, schema, ...schema.allOf.map(follow)) as JsonSchema;
	const choices = [schema.anyOf, schema.oneOf].find((list) => Array.isArray(list)) ?? [];
	const chosen = choices.map(follow).find(({ type }) => type !== 'null');
	return chosen ? { ...schema, ...chosen } : schema;
}

/** Type of the value to generate; a type other than null is preferred. */
export function schemaType({ type, properties, items }: JsonSchema): string {
	if (typeof type === 'string') return type;
	if (Array.isArray(type)) return (type as string[]).find((name) => name !== 'null') ?? 'null';
	return properties ? 'object' : items ? 'array' : 'string';
}

/** Properties of a tool's arguments, and which are required: all, unless it says so. */
export function parametersOf({ function: { parameters } }: Tool) {
	const { properties = {}, required = Object.keys(properties) } = resolveSchema(
		parameters,
		parameters,
	);
	return { properties, required };
}
