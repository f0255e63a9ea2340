import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { findMismatch, schemaProblem } from '../../nodes/client/chat/jsonSchema';
import type { JsonObject, JsonValue } from '../../nodes/client/json';
import { inferSchema } from '../../nodes/shared/chat/schemaForm';

const A = (schema: JsonObject, more: JsonObject = {}): JsonObject => ({
	type: 'object',
	properties: { a: schema },
	...more,
});
const $defs = { size: { type: 'integer' } };
const DRAFT_2019 = { $schema: 'https://json-schema.org/draft/2019-09/schema' };
const FILLER = 'x'.repeat(10_001);
type Checked = [name: string, schema: JsonObject, matching: JsonValue, other: JsonValue];
test.each<Checked>([
	[
		'$recursiveRef in draft 2019-09',
		A({ type: 'string' }, { ...DRAFT_2019, additionalProperties: { $recursiveRef: '#' } }),
		{ a: 'x', b: { a: 'y' } },
		{ a: 'x', b: { a: 1 } },
	],
	...(
		[
			['a pattern', { pattern: '^a$' }, 'a', 'b'],
			['a format', { format: 'date' }, '2026-01-31', 'b'],
			['unique items', { uniqueItems: true }, [1, 2], [1, 1]],
		] as Checked[]
	).map(([name, schema, a, other]): Checked => [
		`${name} in a long reply`,
		A(schema),
		{ a, b: FILLER },
		{ a: other, b: FILLER },
	]),
	[
		'a pattern of a long text',
		A({ pattern: 'x$' }),
		{ a: 'x'.repeat(10_000) },
		{ a: 'y'.repeat(10_000) },
	],
	['a long text', A({ type: 'string' }), { a: FILLER.repeat(100) }, { b: 1, a: 1 }],
])('%s', (_name, schema, matching, other) => {
	expect(schemaProblem(schema)).toBeUndefined();
	expect(findMismatch(schema, matching)).toBeUndefined();
	expect(findMismatch(schema, other)).toMatch(/^does not match the schema(?: at #|: )/);
});

test.each<[string, JsonObject]>([
	['a draft that is not read', { $schema: 'http://json-schema.org/draft-04/schema#' }],
	['a $ref to nowhere', A({ $ref: '#/$defs/a' })],
	['a $ref to another address', A({ items: { $ref: 'https://a.example/s.json' } })],
	['a $ref to itself', { ...A({}), $defs: { b: { $ref: '#/$defs/b' } } }],
	['a schema that leads to itself', { allOf: [A({})], anyOf: [{ not: { $ref: '#' } }] }],
	['a pattern that does not compile', A({ pattern: '(?P<a>x)' })],
	['such a pattern for names', A({ patternProperties: { '(?i)x': {} } })],
	['a $dynamicRef', A({ $dynamicRef: '#a' })],
	['exclusiveMinimum of draft 4', A({ minimum: 0, exclusiveMinimum: true })],
])('%s is a problem of the schema, which then checks nothing', (_name, schema) => {
	expect(schemaProblem(schema)).toBeDefined();
	expect(findMismatch(schema, { a: 'x' })).toBeUndefined();
});

const nested = (levels: number, leaf: JsonValue): JsonValue =>
	levels === 0 ? leaf : { c: nested(levels - 1, leaf) };
/** Each level is checked twice as often as the one above. */
const TWICE = {
	anyOf: [
		{ type: 'object', properties: { c: { $ref: '#' } }, required: ['x'] },
		{ type: 'object', properties: { c: { $ref: '#' } }, required: ['y'] },
		{ type: 'null' },
	],
};
const list = (length: number, of: (index: number) => JsonValue) =>
	Array.from({ length }, (_, index) => of(index));
const names = (length: number) =>
	Object.fromEntries(list(length, (index) => [`k${index}`, 1]) as []);

test.each<[string, JsonObject, JsonValue, JsonValue]>([
	['a recursive schema', TWICE, nested(8, 1), nested(40, null)],
	['a wide object', { ...A({}), description: FILLER.repeat(10) }, names(10), names(100_000)],
	['a pattern', { items: { pattern: '^a' } }, list(5, () => FILLER.slice(1)), [FILLER]],
	['many patterns', { items: { pattern: '^x' } }, ['b'], list(20, () => FILLER.slice(1))],
	['a pattern for names', { patternProperties: { x$: false } }, { x: 1 }, { [FILLER]: 1 }],
	['a format', { items: { format: 'uri' } }, ['a'], [FILLER]],
	['unique items', { uniqueItems: true }, [1, 1], list(1_001, (index) => index)],
	['many lists', { items: { uniqueItems: true } }, [[1, 1]], list(30, () => list(999, String))],
])('what would take too many steps is said: %s', (_name, schema, few, many) => {
	const isFew = findMismatch(schema, few) ?? 'matches';
	expect(isFew).toMatch(/^does not match|^matches/);
	expect(findMismatch(schema, many)).toBe(
		'could not be checked against the schema: it takes too many steps',
	);
	// The budget is that of one value.
	expect(findMismatch(schema, few) ?? 'matches').toBe(isFew);
});

test('the longest list that is read can be checked, to its end', () => {
	const schema = { type: 'array', items: { $ref: '#/$defs/size' }, $defs };
	const all = list(199_999, (index) => (index === 199_998 ? 'x' : index));
	expect(findMismatch(schema, all)).toContain('at #/199998: ');
});

const NUMBERS = { type: 'array', items: { type: 'number' } };
/** An object whose fields are all required, and the only ones. */
const closed = (properties: JsonObject) => ({
	type: 'object',
	properties,
	required: Object.keys(properties),
	additionalProperties: false,
});
test.each<[JsonValue, object]>([
	[{}, { type: 'object', properties: {}, required: [] }],
	[[], { type: 'array' }],
	[[1.5], NUMBERS],
	[{ a: null, b: true }, closed({ a: {}, b: { type: 'boolean' } })],
	[[1, 2], NUMBERS],
	[[10, 9.99, 10], NUMBERS],
	[['a', 1], { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } }],
	[[1, null], { type: 'array', items: { anyOf: [{ type: 'number' }, {}] } }],
	[[{ a: 1 }, { a: 9.99 }], { type: 'array', items: closed({ a: { type: 'number' } }) }],
])('infers the schema of %j, which it matches', (example, schema) => {
	expect(inferSchema(example)).toStrictEqual(schema);
	expect(findMismatch(inferSchema(example), example)).toBeUndefined();
});

/** A file of the official JSON Schema Test Suite, see the README beside them. */
interface Group {
	readonly description: string;
	readonly schema: JsonObject | boolean;
	readonly tests: readonly { description: string; data: JsonValue; valid: boolean }[];
}

const SUITE = join(__dirname, '../fixtures/json-schema-suite');
/** Why a schema of the suite is rejected. */
const REASONS = ['Unresolved $ref', '$dynamicRef', '$schema', 'at #/enum'];
/** The form takes objects only. */
const asObject = (schema: JsonObject | boolean) =>
	typeof schema === 'boolean' ? { allOf: [schema] } : schema;

/** The cases of a draft: how many passed, which failed, and how many schemas were rejected beforehand, by reason. */
function runDraft(draft: string, $schema: string) {
	let passed = 0;
	const failed: string[] = [];
	const rejected = new Map<string, number>();
	for (const file of readdirSync(join(SUITE, draft))) {
		const groups = JSON.parse(readFileSync(join(SUITE, draft, file), 'utf8')) as Group[];
		for (const { description: group, schema: sent, tests } of groups) {
			const schema = { ...($schema !== '' && { $schema }), ...asObject(sent) };
			const problem = schemaProblem(schema) ?? '';
			const reason = REASONS.find((each) => problem.includes(each)) ?? problem;
			for (const { description, data, valid } of tests) {
				if (reason !== '') rejected.set(reason, (rejected.get(reason) ?? 0) + 1);
				else if ((findMismatch(schema, data) === undefined) === valid) passed += 1;
				else failed.push(`${file}: ${group}: ${description}`);
			}
		}
	}
	return { passed, failed, rejected: Object.fromEntries(rejected) };
}

test.each([
	[
		'draft7',
		'http://json-schema.org/draft-07/schema#',
		898,
		Array<RegExp>(2).fill(
			/^ref\.json: \$ref prevents a sibling \$id from changing the base uri/,
		),
		{ 'Unresolved $ref': 27 },
	],
	[
		'draft2020-12',
		'',
		1189,
		[
			// A format is checked: a person who defines one expects it.
			...Array<RegExp>(15).fill(/^format\.json: .* is only an annotation by default$/),
			/^ref\.json: order of evaluation: \$id and \$anchor and \$ref: data is valid/,
		],
		{ 'Unresolved $ref': 50, $dynamicRef: 33, $schema: 5, 'at #/enum': 6 },
	],
])('%s: its required part', (draft, $schema, passed, failed, rejected) => {
	expect(runDraft(draft, $schema)).toStrictEqual({
		passed,
		failed: failed.map((like) => expect.stringMatching(like) as string),
		rejected,
	});
});
