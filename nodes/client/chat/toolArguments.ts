import { dereference, Validator, type OutputUnit, type Schema } from '@cfworker/json-schema';

import { isJsonObject, objectOf, parseJsonObject, type JsonObject, type JsonValue } from '../json';
import { oneLine } from '../values';
import { callProblem, readFunction } from './toolCalls';
import type { ToolDeclaration } from './tools';
import type { ToolCall } from './types';

const SCHEMA: Schema = { $ref: '#' };
const LIST: Schema = { type: 'array', items: SCHEMA };
const MAP: Schema = { type: 'object', additionalProperties: SCHEMA };
const TEXT: Schema = { type: 'string' };
const TEXTS: Schema = { type: 'array', items: TEXT };
const TYPE: Schema = {
	enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'],
};
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
			type: { if: TEXT, then: TYPE, else: { type: 'array', items: TYPE, minItems: 1 } },
			// Without a value nothing could match.
			enum: { type: 'array', minItems: 1 },
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

/** Keywords whose value is a number. */
const LIMITS = [
	...['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum', 'multipleOf'],
	...['maxItems', 'maxLength', 'maxProperties', 'minItems', 'minLength', 'minProperties'],
];
const isNoLimit = (value: JsonValue | undefined) => value === null || typeof value === 'boolean';
/** Keywords that the validator cannot read, although the schema is good: the service checks them. */
const UNREADABLE = new Map<string, (value: JsonValue | undefined) => boolean>([
	['pattern', (value) => typeof value !== 'string' || !isPattern(value)],
	// Some programs write null for a limit that is not set; in draft 4 two of them are true or false.
	...LIMITS.map((name) => [name, isNoLimit] as const),
	// On a parameter, as in draft 3.
	['required', (value) => typeof value === 'boolean'],
	// The validator takes a field `id` in it for the id of a schema.
	['example', () => true],
]);
/** Keywords that may take quadratic time. They are checked in arguments up to a length that a model never needs for them. */
const SLOW = ['format', 'pattern', 'uniqueItems'];
const MAX_SLOW_CHARACTERS = 10_000;
/** Keywords whose value is data, not a schema. */
const DATA = ['const', 'default', 'enum'];
const MISMATCH = 'The arguments do not match the schema of the tool';

/**
 * Parses the arguments of a tool call and validates them against the schema of the tool (spec 2.3). Models sometimes
 * invent tools or break the schema, so a problem is a result, not an error, whatever the call looks like.
 *
 * @returns The arguments of a valid call, where an integer that a number would round is its text; or the problem to report
 *   to the model.
 */
export function readToolCall(
	call: ToolCall,
	tools: readonly ToolDeclaration[],
): { readonly arguments: JsonObject } | { readonly problem: string } {
	const called = readFunction(call.function);
	const problem = callProblem(
		called,
		tools.map((tool) => tool.function.name),
	);
	if (problem !== undefined) return { problem };
	const sent = parseJsonObject(called.arguments)!;
	const exact = parseJsonObject(called.arguments, true)!;
	const { parameters } = tools.find((tool) => tool.function.name === called.name)!.function;
	if (parameters === undefined) return { arguments: exact };
	const mismatch = findMismatch(parameters, sent);
	if (mismatch !== undefined) return { problem: `${MISMATCH}${mismatch}` };
	return { arguments: exact };
}

/** How a value does not match a schema, as the end of a sentence: ` at #/city: …`; undefined if it matches. */
export function findMismatch(schema: JsonObject, value: JsonValue): string | undefined {
	const undeclared = undeclaredKeys(schema, value);
	if (undeclared.length > 0) return `: it does not declare ${oneLine(undeclared.join(', '))}`;
	try {
		const skipped = JSON.stringify(value).length > MAX_SLOW_CHARACTERS ? SLOW : [];
		const readable = readableSchema(schema, skipped) as Schema;
		const { errors } = new Validator(readable, '7', false).validate(value);
		return errors.length === 0 ? undefined : ` ${describe(errors)}`;
	} catch {
		// A $ref that refers to itself: only the service can say what matches.
		return undefined;
	}
}

/** Why a schema cannot be used; undefined if it can. */
export function schemaProblem(schema: JsonObject): string | undefined {
	try {
		const readable = readableSchema(schema);
		const { errors } = META_SCHEMA.validate(readable);
		if (errors.length > 0) return describe(errors);

		const known = dereference(readable as Schema);
		const lost = Object.values(known)
			.filter((each) => typeof each === 'object')
			.find(({ __absolute_ref__: target }) => target && known[target] === undefined);
		return lost?.$ref === undefined ? undefined : `$ref to nowhere: ${lost.$ref}`;
	} catch (error) {
		return (error as Error).message;
	}
}

/** The keys of a value that its schema excludes with `additionalProperties: false`. */
function undeclaredKeys(
	schema: JsonValue | undefined,
	value: JsonValue | undefined,
): readonly string[] {
	if (!isJsonObject(schema)) return [];
	if (Array.isArray(value)) {
		return value.flatMap((each) => undeclaredKeys(schema['items'], each));
	}
	if (!isJsonObject(value)) return [];
	const { properties, additionalProperties, patternProperties } = schema;
	const declared = new Map(Object.entries(objectOf(properties)));
	const isClosed = additionalProperties === false && patternProperties === undefined;
	return Object.entries(value).flatMap(([key, each]) =>
		isClosed && !declared.has(key) ? [key] : undeclaredKeys(declared.get(key), each),
	);
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
 * A copy of a schema without what the validator cannot read. What is `nullable`, as in OpenAPI 3.0, may be null.
 *
 * @param skipped Other keywords to leave out.
 * @param map The keyword of MAPS that the value belongs to, if any.
 */
function readableSchema(
	value: JsonValue | undefined,
	skipped: readonly string[] = [],
	map?: string,
): JsonValue | undefined {
	if (Array.isArray(value)) return value.map((each) => readableSchema(each, skipped) ?? null);
	if (!isJsonObject(value)) return value;
	const isReadable = (key: string, each: JsonValue | undefined) =>
		map === undefined
			? !skipped.includes(key) && UNREADABLE.get(key)?.(each) !== true
			: map !== 'patternProperties' || isPattern(key);
	const isNullable = map === undefined && value['nullable'] === true;
	const read = (key: string, each: JsonValue | undefined) => {
		if (isNullable && key === 'type') return [each ?? null, 'null'].flat();
		if (isNullable && key === 'enum' && Array.isArray(each)) return [...each, null];
		if (map === undefined && DATA.includes(key)) return each;
		const isMap = map === undefined && MAPS.includes(key);
		return readableSchema(each, skipped, isMap ? key : undefined);
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
