import {
	dereference,
	Validator,
	type OutputUnit,
	type Schema,
	type SchemaDraft,
} from '@cfworker/json-schema';

import { isJsonObject, mapValues, objectOf, type JsonObject, type JsonValue } from '../json';
import { oneLine } from '../values';

type Value = JsonValue | undefined;

/** The reading of a schema for the validator. */
interface Reading {
	readonly draft: SchemaDraft;
	/** Whether it is one schema, without others inside that have an `$id`. */
	readonly isOne: boolean;
	/** What the validator cannot check of it. */
	readonly lost: string[];
}

/** What the validator gets of the value of a keyword; undefined leaves the keyword out. */
type Read = (value: Value, reading: Reading) => Value;

const asIs: Read = (value) => value;
/** Some programs write null for a limit that is not set. */
const asLimit: Read = (value) => value ?? undefined;

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
const LIMIT: Schema = { type: 'number' };

/** How each keyword is read, and the shape that the validator relies on. Any other keyword may contain schemas. */
const KEYWORDS: readonly (readonly [read: Read, shape: Schema, ...names: string[]])[] = [
	[asMap, MAP, 'properties', 'definitions', '$defs', 'dependentSchemas'],
	[(value, reading) => asMap(value, reading, asPattern), MAP, 'patternProperties'],
	[readSchema, LIST, 'allOf', 'anyOf', 'oneOf', 'prefixItems'],
	[readSchema, SCHEMA, 'not', 'if', 'then', 'else', 'contains', 'propertyNames'],
	[readSchema, SCHEMA, 'additionalItems', 'additionalProperties'],
	[readSchema, SCHEMA, 'unevaluatedItems', 'unevaluatedProperties'],
	[asIs, TEXT, '$id', 'id', '$ref', '$anchor'],
	[readSchema, ITEMS, 'items'],
	[asIs, { if: TEXT, then: TYPE, else: TYPES }, 'type'],
	// Without a value nothing could match.
	[asIs, { type: 'array', minItems: 1 }, 'enum'],
	[asRequired, TEXTS, 'required'],
	[asIs, { type: 'object', additionalProperties: TEXTS }, 'dependentRequired'],
	[asMap, { type: 'object', additionalProperties: DEPENDENCY }, 'dependencies'],
	[asIs, ANY, 'const', 'default'],
	[asLimit, LIMIT, 'exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum', 'multipleOf'],
	[asLimit, LIMIT, 'maxItems', 'maxLength', 'maxProperties', 'maxContains'],
	[asLimit, LIMIT, 'minItems', 'minLength', 'minProperties', 'minContains'],
	[asPattern, TEXT, 'pattern'],
	// The validator takes a field `id` in it for the id of a schema.
	[() => undefined, ANY, 'example'],
];
const ROWS = new Map(KEYWORDS.flatMap((row) => row.slice(2).map((name) => [String(name), row])));
const SHAPES = Object.fromEntries([...ROWS].map(([name, [, shape]]) => [name, shape]));
const META = new Validator({ type: ['object', 'boolean'], properties: SHAPES }, '7', false);

/** The draft by `$schema`, newest first. The first is also that of a schema without one; draft 4 is read as draft 7. */
const DRAFTS: readonly (readonly [uri: RegExp, draft: SchemaDraft])[] = [
	[/^$|2020-12|json-schema\.org\/schema|\/oas\/3\.1/, '2020-12'],
	[/2019-09/, '2019-09'],
	[/draft-0[467]/, '7'],
];

/** The longest text that a pattern or format reads, and the longest list of unique items: they may take quadratic time. */
const MAX_SLOW_CHARACTERS = 10_000;
const MAX_UNIQUE_ITEMS = 1_000;
const DYNAMIC = { $dynamicRef: '$ref', $dynamicAnchor: '$anchor' };
/** In draft 4, and in OpenAPI 3.0, the first says that the second does not belong to the range. */
const EXCLUSIVE = { exclusiveMinimum: 'minimum', exclusiveMaximum: 'maximum' };
/** Keywords that would reject null where it is allowed by `nullable` of OpenAPI 3.0. */
const NOT_NULL = /^(?:type|enum|const|not|if|then|else|\$ref|allOf|anyOf|oneOf)$/;
/** What may be escaped in patterns of other languages; in JavaScript only in a class, and some not even there. */
const NEEDLESS = /[-_@"'#%&,:;<=>!~` ]/;

/** How a value does not match a schema, as the end of a sentence: ` at #/city: …`; undefined if it matches. */
export function findMismatch(schema: JsonObject, value: JsonValue): string | undefined {
	try {
		const { draft, readable } = readRoot(schema);
		// Nothing matches a schema with mistakes, such as a type that does not exist.
		if (!META.validate(readable).valid) return undefined;
		const { errors } = new Validator(readable as Schema, draft, false).validate(value);
		return errors.length === 0 ? undefined : describe(errors);
	} catch {
		// A $ref to nowhere, or to itself: only the service can say what matches.
		return undefined;
	}
}

/** Why a schema cannot be used, or cannot be checked in full; undefined if it can. */
export function schemaProblem(schema: JsonObject): string | undefined {
	try {
		const { readable, lost } = readRoot(schema);
		const { errors } = META.validate(readable);
		if (errors.length > 0) return describe(errors).trim();
		if (lost.length > 0) return `${oneLine(lost[0]!)} cannot be checked`;

		const known = dereference(readable as Schema);
		const targetOf = ({ __absolute_ref__: target = '' }: Schema) => objectOf(known[target]);
		for (const each of Object.values(known)) {
			let last = objectOf(each) as Schema;
			for (const seen = new Set(); last.$ref !== undefined; last = targetOf(last)) {
				if (known[last.__absolute_ref__!] === undefined)
					return `$ref to nowhere: ${last.$ref}`;
				if (seen.has(last)) return `$ref to itself: ${last.$ref}`;
				seen.add(last);
			}
		}
		return undefined;
	} catch (error) {
		return (error as Error).message;
	}
}

function readRoot(schema: JsonObject) {
	const uri = String(schema['$schema'] ?? '');
	const draft = DRAFTS.find(([pattern]) => pattern.test(uri))?.[1];
	const lost = draft === undefined ? [`$schema ${uri}`] : [];
	const isOne = JSON.stringify(schema).split('"$id":').length <= 2;
	const reading = { draft: draft ?? DRAFTS[0]![1], isOne, lost };
	return { ...reading, readable: readSchema(schema, reading) };
}

/** A copy of a schema, or of a list of schemas, that the validator can read. Its parts keep their places, for each `$ref`. */
function readSchema(schema: Value, reading: Reading): Value {
	if (Array.isArray(schema)) return schema.map((each) => readSchema(each, reading) ?? null);
	if (!isJsonObject(schema)) return schema;
	const read = mapValues(withoutDialect(schema, reading), (value, keyword) =>
		(ROWS.get(keyword)?.[0] ?? readSchema)(value, reading),
	);
	return withBounds(read);
}

/** The schema in the words of the validator: without those of draft 4, of OpenAPI 3.0, and for references in several schemas. */
function withoutDialect({ nullable, ...schema }: JsonObject, reading: Reading): JsonObject {
	const { draft, isOne, lost } = reading;
	// The validator takes `id` for `$id` in each draft, and looks for a reference below the new base.
	const isOld = draft === '7';
	if (!isOld || schema['$ref'] !== undefined) schema['id'] = undefined;
	if (isOld && schema['$ref'] !== undefined) schema['$id'] = undefined;
	for (const [dynamic, plain] of Object.entries(DYNAMIC)) {
		if (typeof schema[dynamic] !== 'string') continue;
		// In one schema, a dynamic reference is a reference.
		if (!isOne || schema[plain] !== undefined) lost.push(`${dynamic} ${schema[dynamic]}`);
		schema[plain] ??= schema[dynamic];
	}
	for (const [exclusive, limit] of Object.entries(EXCLUSIVE)) {
		if (typeof schema[exclusive] !== 'boolean') continue;
		schema[exclusive] = schema[exclusive] ? schema[limit] : undefined;
	}
	if (nullable !== true) return schema;
	const pick = (isMoved: boolean) =>
		mapValues(schema, (value, name) => (NOT_NULL.test(name) === isMoved ? value : undefined));
	return { ...pick(false), if: { not: { type: 'null' } }, then: pick(true) };
}

/** A schema that reads formats and unique items of short values only, and whose patterns match no longer text. */
function withBounds({ format, uniqueItems, ...schema }: JsonObject): JsonObject {
	const { allOf = [], pattern } = schema;
	const isShort = { maxLength: MAX_SLOW_CHARACTERS };
	const more: JsonObject[] = [];
	if (pattern !== undefined) more.push(isShort);
	if (format !== undefined) more.push({ if: isShort, then: { format } });
	if (uniqueItems !== undefined)
		more.push({ if: { maxItems: MAX_UNIQUE_ITEMS }, then: { uniqueItems } });
	const isList = Array.isArray(allOf) && more.length > 0;
	return { ...schema, ...(isList && { allOf: [...allOf, ...more] }) };
}

function asMap(value: Value, reading: Reading, readName: Read = asIs): Value {
	if (!isJsonObject(value)) return value;
	const entries = Object.entries(value).map(([name, each]) => {
		return [readName(name, reading), readSchema(each, reading)] as const;
	});
	return Object.fromEntries(entries.filter(([name]) => name !== undefined)) as JsonObject;
}

/** Draft 3 says `true` in the parameter itself. */
function asRequired(value: Value, { lost }: Reading): Value {
	if (typeof value !== 'boolean') return value;
	lost.push(`required: ${value}`);
	return undefined;
}

/** A pattern that JavaScript can compile, without needless escapes such as `\\-`. Other languages have constructs of their own. */
function asPattern(value: Value, { lost }: Reading): Value {
	if (typeof value !== 'string') return value ?? undefined;
	const pattern = value.replace(/\\([\s\S])/g, (escape, char: string) =>
		NEEDLESS.test(char) ? `\\x${char.charCodeAt(0).toString(16)}` : escape,
	);
	try {
		return new RegExp(pattern, 'u').source;
	} catch {
		lost.push(`pattern ${value}`);
		return undefined;
	}
}

/** The end of a sentence about a mismatch. The last error is the most specific one: those before it only say that a parent does not match. */
function describe(errors: readonly OutputUnit[]): string {
	const { instanceLocation, error, keyword } = errors.at(-1)!;
	if (keyword !== 'false') return ` at ${instanceLocation}: ${error}`;
	// The schema of what is not declared.
	const excluded = errors.filter((each) => each.keyword === keyword);
	const names = excluded.map((each) => each.instanceLocation.split('/').at(-1)!);
	return `: it does not declare ${oneLine(decodeURIComponent(names.join(', ')))}`;
}
