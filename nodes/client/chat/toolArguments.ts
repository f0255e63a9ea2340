import { dereference, Validator, type OutputUnit, type Schema } from '@cfworker/json-schema';

import { isJsonObject, objectOf, parseJsonObject, type JsonObject, type JsonValue } from '../json';
import { oneLine } from '../values';
import { callProblem, readFunction } from './toolCalls';
import type { ToolDeclaration } from './requestFields';
import type { ToolCall } from './types';

type Value = JsonValue | undefined;
/**
 * What the validator gets of the value of a keyword. Undefined leaves the keyword out: the validator cannot read the value,
 * although the schema is good, and the service checks it.
 *
 * @param isLong Whether the arguments are too long for keywords that may take quadratic time.
 */
type Read = (value: Value, isLong: boolean) => Value;

const asIs: Read = (value) => value;
const ifShort: Read = (value, isLong) => (isLong ? undefined : value);
const asPattern: Read = (value, isLong) => (isLong || !isPattern(value) ? undefined : value);
/** Some programs write null for a limit that is not set; in draft 4 two of them are true or false. */
const asLimit: Read = (value) => (typeof value === 'boolean' ? undefined : (value ?? undefined));
/** In draft 3 a parameter itself is required. */
const asRequired: Read = (value) => (typeof value === 'boolean' ? undefined : value);
const asMap: Read = (value, isLong) => mapped(value, (_key, each) => readSchema(each, isLong));
const asPatterns: Read = (value, isLong) =>
	mapped(value, (key, each) => (isPattern(key) ? readSchema(each, isLong) : undefined));

const ANY: Schema = {};
const SCHEMA: Schema = { $ref: '#' };
const LIST: Schema = { type: 'array', items: SCHEMA };
const MAP: Schema = { type: 'object', additionalProperties: SCHEMA };
const TEXT: Schema = { type: 'string' };
const TEXTS: Schema = { type: 'array', items: TEXT };
const TYPE: Schema = {
	enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'],
};
const TYPES: Schema = { type: 'array', items: TYPE, minItems: 1 };
const ITEMS: Schema = { if: { type: 'array' }, then: LIST, else: SCHEMA };
const DEPENDENCY: Schema = { if: { type: 'array' }, then: TEXTS, else: SCHEMA };

/**
 * How each keyword is read, and the shape that the validator relies on (JSON Schema, draft 7 and 2020-12). Any other keyword
 * may contain schemas.
 */
const KEYWORDS: readonly (readonly [read: Read, shape: Schema, ...names: string[]])[] = [
	[asMap, MAP, 'properties', 'definitions', '$defs', 'dependentSchemas'],
	[asPatterns, MAP, 'patternProperties'],
	[readSchema, LIST, 'allOf', 'anyOf', 'oneOf', 'prefixItems'],
	[readSchema, SCHEMA, 'not', 'if', 'then', 'else', 'contains', 'propertyNames'],
	[readSchema, SCHEMA, 'additionalItems', 'additionalProperties'],
	[readSchema, SCHEMA, 'unevaluatedItems', 'unevaluatedProperties'],
	[asIs, TEXT, '$id', '$ref', '$anchor'],
	[readSchema, ITEMS, 'items'],
	[asIs, { if: TEXT, then: TYPE, else: TYPES }, 'type'],
	// Without a value nothing could match.
	[asIs, { type: 'array', minItems: 1 }, 'enum'],
	[asRequired, TEXTS, 'required'],
	[asIs, { type: 'object', additionalProperties: TEXTS }, 'dependentRequired'],
	[asMap, { type: 'object', additionalProperties: DEPENDENCY }, 'dependencies'],
	[asIs, ANY, 'const', 'default'],
	[asLimit, ANY, 'exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum', 'multipleOf'],
	[asLimit, ANY, 'maxItems', 'maxLength', 'maxProperties'],
	[asLimit, ANY, 'minItems', 'minLength', 'minProperties'],
	[asPattern, ANY, 'pattern'],
	[ifShort, ANY, 'format', 'uniqueItems'],
	// The validator takes a field `id` in it for the id of a schema.
	[() => undefined, ANY, 'example'],
];
const READ = new Map(KEYWORDS.flatMap(([read, , ...names]) => names.map((name) => [name, read])));
const validator = (schema: Schema) => new Validator(schema, '7', false);
const META_SCHEMA = validator({
	type: ['object', 'boolean'],
	properties: Object.fromEntries(
		KEYWORDS.flatMap(([, shape, ...names]) => names.map((name) => [name, shape])),
	),
});

/** Longer arguments than a model ever needs for the keywords that may take quadratic time. */
const MAX_SLOW_CHARACTERS = 10_000;

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
	const declared = tools.map((tool) => tool.function);
	const problem = callProblem(
		called,
		declared.map(({ name }) => name),
	);
	if (problem !== undefined) return { problem };
	const { parameters = {} } = declared.find(({ name }) => name === called.name)!;
	const sent = parseJsonObject(called.arguments)!;
	const mismatch = findMismatch(parameters, sent);
	const isExact = !/\d{16}/.test(called.arguments);
	return mismatch === undefined
		? { arguments: isExact ? sent : parseJsonObject(called.arguments, true)! }
		: { problem: `The arguments do not match the schema of the tool${mismatch}` };
}

/** How a value does not match a schema, as the end of a sentence: ` at #/city: …`; undefined if it matches. */
export function findMismatch(schema: JsonObject, value: JsonValue): string | undefined {
	const undeclared = undeclaredKeys(schema, value);
	if (undeclared.length > 0) return `: it does not declare ${oneLine(undeclared.join(', '))}`;
	try {
		const isLong = JSON.stringify(value).length > MAX_SLOW_CHARACTERS;
		const { errors } = validator(readSchema(schema, isLong) as Schema).validate(value);
		return errors.length === 0 ? undefined : ` ${describe(errors)}`;
	} catch {
		// A $ref that refers to itself: only the service can say what matches.
		return undefined;
	}
}

/** Why a schema cannot be used; undefined if it can. */
export function schemaProblem(schema: JsonObject): string | undefined {
	try {
		const readable = readSchema(schema, false);
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

/** A copy of a schema, or of a list of schemas, that the validator can read. What is `nullable`, as in OpenAPI 3.0, may be null. */
function readSchema(schema: Value, isLong: boolean): Value {
	if (Array.isArray(schema)) return schema.map((each) => readSchema(each, isLong) ?? null);
	const isNullable = objectOf(schema)['nullable'] === true;
	return mapped(schema, (keyword, value) => {
		if (isNullable && keyword === 'type') return [value ?? null, 'null'].flat();
		if (isNullable && keyword === 'enum' && Array.isArray(value)) return [...value, null];
		return (READ.get(keyword) ?? readSchema)(value, isLong);
	});
}

/** A copy of an object with other values, without those that become undefined. Any other value stays as it is. */
function mapped(value: Value, change: (key: string, each: Value) => Value): Value {
	if (!isJsonObject(value)) return value;
	const entries = Object.entries(value).map(([key, each]) => [key, change(key, each)] as const);
	return Object.fromEntries(entries.filter(([, each]) => each !== undefined));
}

/** The keys of a value that its schema excludes with `additionalProperties: false`. */
function undeclaredKeys(schema: Value, value: Value): readonly string[] {
	if (!isJsonObject(schema)) return [];
	const { items, properties, additionalProperties, patternProperties } = schema;
	if (Array.isArray(value)) return value.flatMap((each) => undeclaredKeys(items, each));
	const declared = new Map(Object.entries(objectOf(properties)));
	const isClosed = additionalProperties === false && patternProperties === undefined;
	return Object.entries(objectOf(value)).flatMap(([key, each]) =>
		isClosed && !declared.has(key) ? [key] : undeclaredKeys(declared.get(key), each),
	);
}

/** The last error is the most specific one; those before it only say that a parent does not match. */
function describe(errors: readonly OutputUnit[]): string {
	const { instanceLocation, error } = errors.at(-1)!;
	return `at ${instanceLocation}: ${error}`;
}

/** Whether JavaScript can compile a pattern: other languages have constructs of their own, such as `(?P<a>…)`. */
function isPattern(pattern: Value): boolean {
	try {
		return typeof pattern === 'string' && new RegExp(pattern, 'u') instanceof RegExp;
	} catch {
		return false;
	}
}
