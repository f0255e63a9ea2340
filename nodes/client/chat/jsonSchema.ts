import {
	dereference,
	validate,
	Validator,
	type OutputUnit,
	type Schema,
	type SchemaDraft,
} from '@cfworker/json-schema';

import { isJsonObject, mapValues, type JsonObject, type JsonValue } from '../json';
import { oneLine } from '../values';

const SCHEMA: Schema = { $ref: '#' };
const TYPE = { enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] };
const listOr = (items: Schema, other: Schema): Schema => {
	return { if: { type: 'array' }, then: { items, minItems: 1 }, else: other };
};
/** What the validator relies on, and the keywords that it holds for. */
const SHAPES: readonly (readonly [shape: Schema | boolean, keywords: string])[] = [
	[{ type: 'object', additionalProperties: SCHEMA }, 'properties definitions $defs'],
	[{ type: 'object', additionalProperties: SCHEMA }, 'patternProperties dependentSchemas'],
	[{ type: 'array', items: SCHEMA }, 'allOf anyOf oneOf prefixItems'],
	[SCHEMA, 'not if then else contains propertyNames additionalItems additionalProperties'],
	[listOr(SCHEMA, SCHEMA), 'items'],
	[listOr(TYPE, TYPE), 'type'],
	[{ type: 'array', items: { type: 'string' } }, 'required'],
	// Without a value nothing could match.
	[{ type: 'array', minItems: 1 }, 'enum'],
	[{ type: 'number' }, 'minimum maximum exclusiveMinimum exclusiveMaximum maxLength minLength'],
	// The validator would ignore it.
	[false, '$dynamicRef'],
];
const ROWS = SHAPES.flatMap(([shape, names]) => names.split(' ').map((name) => [name, shape]));
const META = new Validator({
	type: ['object', 'boolean'],
	properties: Object.fromEntries(ROWS) as Record<string, Schema>,
});
const DRAFT = /^https?:\/\/json-schema\.org\/draft(?:-0(7)|\/(2019-09|2020-12))\/schema#?$/;

/** How many steps a check may take: a schema is applied to a value, in about a microsecond. */
const MAX_STEPS = 500_000;
const TOO_MANY = 'it takes too many steps';
/** What a pattern, a format or unique items take in addition, for longer texts and lists: their time may be quadratic. */
const SLOW = [
	[100, 200],
	[1_000, 20_000],
	[10_000, Infinity],
] as const;

/** The errors of a value. Throws where that would take too many steps. */
type Check = (value: JsonValue) => readonly OutputUnit[];

/** The schemas of a form or tool, each of which checks many values. */
const COMPILED = new WeakMap<JsonObject, Check | string>();

/** Compiles a schema; a text is the reason why it cannot be used. */
function compiled(schema: JsonObject): Check | string {
	const check = COMPILED.get(schema) ?? compile(schema);
	COMPILED.set(schema, check);
	return check;
}

function compile(schema: JsonObject): Check | string {
	const uri = String(schema['$schema'] ?? 'https://json-schema.org/draft/2020-12/schema');
	const [known, old, draft = old] = DRAFT.exec(uri) ?? [];
	if (known === undefined) return `$schema ${oneLine(uri)} is not draft 7, 2019-09 or 2020-12`;
	let left = 0;
	/** Counts the steps: the validator reads this keyword of each schema that it applies. */
	function counted(part: Schema, steps: number): Schema {
		const { $recursiveRef } = part;
		const get = () => {
			left -= steps;
			if (left < 0) throw new Error(TOO_MANY);
			return $recursiveRef;
		};
		return Object.defineProperty(part, '$recursiveRef', { get });
	}
	try {
		const [mistake] = META.validate(schema).errors.slice(-1);
		if (mistake !== undefined) return `at ${mistake.instanceLocation}: ${mistake.error}`;
		const root = JSON.parse(JSON.stringify(schema)) as Schema;
		const lookup = dereference(root);
		const parts = [...new Set(Object.values(lookup))].filter(isJsonObject) as Schema[];
		for (const part of parts) {
			counted(part, 1 + JSON.stringify(part).length / 1_000);
			const { pattern, format, uniqueItems, patternProperties, allOf = [] } = part;
			const tolls = SLOW.map(([longest, steps]) => ({
				if: { maxLength: longest, maxItems: longest / 10 },
				else: counted({}, steps),
			}));
			if ((pattern ?? format ?? uniqueItems ?? patternProperties) !== undefined)
				part.allOf = [...tolls, { propertyNames: { allOf: tolls } }, ...allOf];
		}
		const check = (part: Schema, value: JsonValue) => {
			left = MAX_STEPS / weightOf(value);
			return validate(value, part, draft as SchemaDraft, lookup, false).errors;
		};
		// A $ref to nowhere, or to itself, shows with any value, a pattern with these.
		for (const part of parts) for (const value of [null, '', {}]) check(part, value);
		return (value) => check(root, value);
	} catch (error) {
		return reasonOf(error, 'it leads to itself');
	}
}

/** What a step costs: for an object the validator lists all keys, and a text it may read. */
function weightOf(value: JsonValue | undefined): number {
	if (typeof value === 'string') return 1 + value.length / 5_000;
	if (typeof value !== 'object' || value === null) return 1;
	const parts = Object.values(value);
	const own = Array.isArray(value) ? 1 : 1 + parts.length / 20;
	return parts.reduce<number>((most, part) => Math.max(most, weightOf(part)), own);
}

/** The first sentence of an error of the validator; it says nothing about a recursion that is too deep. */
function reasonOf(error: unknown, tooDeep = TOO_MANY): string {
	if (error instanceof RangeError) return tooDeep;
	return oneLine((error as Error).message.split(/ {2}|\n/)[0]!);
}

/** Why a schema cannot be used; undefined if it can. */
export function schemaProblem(schema: JsonObject): string | undefined {
	const check = compiled(schema);
	return typeof check === 'string' ? check : undefined;
}

/**
 * What is wrong with a value, as the end of a sentence: `does not match the schema at #/city: …`, or that it could not be
 * checked. Undefined if it matches, and for a schema that cannot be used, see `schemaProblem`.
 */
export function findMismatch(
	schema: JsonObject,
	value: JsonValue,
	mismatch = 'does not match the schema',
): string | undefined {
	const check = compiled(schema);
	if (typeof check === 'string') return undefined;
	try {
		const errors = check(value);
		return errors.length === 0 ? undefined : `${mismatch}${describe(errors)}`;
	} catch (error) {
		return `could not be checked against the schema: ${reasonOf(error)}`;
	}
}

/**
 * What of a value matches a schema, without null for a field that may be left out: some models write it there. Otherwise what
 * is wrong with it, see `findMismatch`.
 */
export function fitTo<T extends JsonValue>(
	schema: JsonObject,
	value: T,
	mismatch?: string,
): { readonly value: T } | { readonly problem: string } {
	const problem = findMismatch(schema, value, mismatch);
	if (problem === undefined) return { value };
	if (!isJsonObject(value)) return { problem };
	const required = [schema['required']].flat();
	const given = mapValues(value, (each, name) =>
		each === null && !required.includes(name) ? undefined : each,
	) as T;
	return findMismatch(schema, given) === undefined ? { value: given } : { problem };
}

/** Where a value does not match. The last error is the most specific one: those before it say that a parent does not match. */
function describe(errors: readonly OutputUnit[]): string {
	const { instanceLocation, error, keyword } = errors.at(-1)!;
	if (keyword !== 'false') return ` at ${instanceLocation}: ${error}`;
	// The schema of what is not declared.
	const excluded = errors.filter((each) => each.keyword === keyword);
	const names = excluded.map((each) => each.instanceLocation.split('/').at(-1)!);
	return `: it does not declare ${oneLine(decodeURIComponent(names.join(', ')))}`;
}
