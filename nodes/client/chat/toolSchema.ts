import { dereference, Validator, type OutputUnit, type Schema } from '@cfworker/json-schema';

import { isJsonObject, type JsonObject, type JsonValue } from '../json';

const SCHEMA: Schema = { $ref: '#' };
const LIST: Schema = { type: 'array', items: SCHEMA };
const MAP: Schema = { type: 'object', additionalProperties: SCHEMA };
const TEXT: Schema = { type: 'string' };
const TEXTS: Schema = { type: 'array', items: TEXT };
/** Keywords whose value has a schema for each of its own keys. */
const MAPS = ['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas'];

/** Meta-schema: the shapes of the keywords that the validator relies on (JSON Schema, draft 7 and 2020-12). */
const META_SCHEMA = new Validator(
	{
		type: ['object', 'boolean'],
		properties: {
			...keywords(MAP, ...MAPS),
			...keywords(LIST, 'allOf', 'anyOf', 'oneOf', 'prefixItems'),
			...keywords(SCHEMA, 'not', 'if', 'then', 'else', 'contains', 'propertyNames'),
			...keywords(SCHEMA, 'additionalItems', 'additionalProperties'),
			...keywords(SCHEMA, 'unevaluatedItems', 'unevaluatedProperties'),
			...keywords(TEXT, '$id', '$ref', '$anchor'),
			items: { if: { type: 'array' }, then: LIST, else: SCHEMA },
			type: { if: TEXT, else: TEXTS },
			enum: { type: 'array' },
			required: TEXTS,
			dependentRequired: { type: 'object', additionalProperties: TEXTS },
			dependencies: {
				type: 'object',
				additionalProperties: { if: { type: 'array' }, then: TEXTS, else: SCHEMA },
			},
		},
	},
	'7',
	false,
);

/** Keywords that the validator cannot read, although the schema is good: the service checks them. */
const UNREADABLE = new Map<string, (value: JsonValue | undefined) => boolean>([
	['pattern', (value) => !isPattern(String(value))],
	// On a parameter, as in draft 3.
	['required', (value) => typeof value === 'boolean'],
	// The validator takes a field `id` in it for the id of a schema.
	['example', () => true],
]);
/** Keywords whose value is data, not a schema. */
const DATA = ['const', 'default', 'enum'];

/** Why a schema cannot be used; undefined if it can. */
export function schemaProblem(schema: JsonObject): string | undefined {
	try {
		const readable = readableSchema(schema);
		const { errors } = META_SCHEMA.validate(readable);
		if (errors.length > 0) return describe(errors);

		const known = dereference(readable as Schema);
		const { $ref } =
			Object.values(known)
				.filter((each) => typeof each === 'object')
				.find(({ __absolute_ref__: target }) => target && known[target] === undefined) ??
			{};
		return $ref === undefined ? undefined : `$ref to nowhere: ${$ref}`;
	} catch (error) {
		return (error as Error).message;
	}
}

/** Where and why a value does not match a schema; undefined if it matches. */
export function schemaMismatch(schema: JsonObject, value: JsonObject): string | undefined {
	try {
		const { errors } = new Validator(readableSchema(schema) as Schema, '7', false).validate(
			value,
		);
		return errors.length === 0 ? undefined : describe(errors);
	} catch {
		// A $ref that refers to itself: only the service can say what matches.
		return undefined;
	}
}

function keywords(shape: Schema, ...names: string[]): Record<string, Schema> {
	return Object.fromEntries(names.map((name) => [name, shape]));
}

/** The last error is the most specific one; those before it only say that a parent does not match. */
function describe(errors: readonly OutputUnit[]): string {
	const { instanceLocation, error } = errors.at(-1)!;
	return `at ${instanceLocation}: ${error}`;
}

/**
 * A copy of a schema without what the validator cannot read.
 *
 * @param map The keyword of MAPS that the value belongs to, if any.
 */
function readableSchema(value: JsonValue | undefined, map?: string): JsonValue | undefined {
	if (Array.isArray(value)) return value.map((each) => readableSchema(each) ?? null);
	if (!isJsonObject(value)) return value;
	const isReadable = (key: string, each: JsonValue | undefined) =>
		map === undefined
			? UNREADABLE.get(key)?.(each) !== true
			: map !== 'patternProperties' || isPattern(key);
	const read = (key: string, each: JsonValue | undefined) => {
		if (map !== undefined) return readableSchema(each);
		return DATA.includes(key)
			? each
			: readableSchema(each, MAPS.includes(key) ? key : undefined);
	};
	return Object.fromEntries(
		Object.entries(value)
			.filter(([key, each]) => isReadable(key, each))
			.map(([key, each]) => [key, read(key, each)]),
	);
}

/** Whether JavaScript can compile a pattern: other languages have constructs of their own, such as `(?P<a>…)`. */
function isPattern(pattern: string): boolean {
	try {
		return new RegExp(pattern, 'u') instanceof RegExp;
	} catch {
		return false;
	}
}
