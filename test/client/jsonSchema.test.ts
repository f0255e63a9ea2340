import { findMismatch, schemaProblem } from '../../nodes/client/chat/jsonSchema';
import type { JsonObject, JsonValue } from '../../nodes/client/json';

const A = (schema: JsonObject, more: JsonObject = {}): JsonObject => ({
	type: 'object',
	properties: { a: schema },
	...more,
});
const $defs = { name: { type: 'string' }, size: { type: 'integer' } };
const DRAFT_7 = { $schema: 'http://json-schema.org/draft-07/schema#' };
const DRAFT_2019 = { $schema: 'https://json-schema.org/draft/2019-09/schema' };
const FILLER = 'x'.repeat(10_001);
/** A tree: a schema that leads to itself through its properties. */
const TREE = {
	type: 'object',
	properties: { a: { type: 'array', items: { $ref: '#' } } },
	required: ['a'],
};
const tree = (leaf: JsonObject): JsonObject => ({ a: [{ a: [leaf] }] });

test.each<[name: string, schema: JsonObject, matching: JsonValue, other: JsonValue]>([
	['a limit beside $ref', A({ $ref: '#/$defs/size', minimum: 5 }, { $defs }), { a: 5 }, { a: 1 }],
	[
		'required beside $ref',
		{ $ref: '#/$defs/o', required: ['b'], $defs: { o: A({ type: 'string' }) } },
		{ a: 'x', b: 1 },
		{ a: 'x' },
	],
	[
		'a type beside $ref',
		A({ $ref: '#/$defs/name', maxLength: 1 }, { $defs }),
		{ a: 'x' },
		{ a: 1 },
	],
	[
		'$recursiveRef in draft 2019-09',
		A({ type: 'string' }, { ...DRAFT_2019, additionalProperties: { $recursiveRef: '#' } }),
		{ a: 'x', b: { a: 'y' } },
		{ a: 'x', b: { a: 1 } },
	],
	['a recursive schema', TREE, tree({ a: [] }), tree({})],
	[
		'prefixItems',
		A({ prefixItems: [{ type: 'string' }], items: false }),
		{ a: ['x'] },
		{ a: ['x', 1] },
	],
	[
		'items as a list in draft 7',
		A({ items: [{ type: 'string' }] }, DRAFT_7),
		{ a: ['x'] },
		{ a: [1] },
	],
	['dependentRequired', A({}, { dependentRequired: { a: ['b'] } }), { b: 1 }, { a: 1 }],
	['unevaluatedProperties', { allOf: [A({})], unevaluatedProperties: false }, { a: 1 }, { b: 1 }],
	[
		'a pattern in a long reply',
		A({ pattern: '^a$' }),
		{ a: 'a', b: FILLER },
		{ a: 'b', b: FILLER },
	],
	[
		'a format in a long reply',
		A({ format: 'date' }),
		{ a: '2026-01-31', b: FILLER },
		{ a: 'b', b: FILLER },
	],
	[
		'unique items in a long reply',
		A({ uniqueItems: true }),
		{ a: [1, 2], b: FILLER },
		{ a: [1, 1], b: FILLER },
	],
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

test('keywords beside $ref count as draft 7 says', () => {
	const schema = A({ $ref: '#/$defs/size', minimum: 5 }, { $defs, ...DRAFT_7 });
	expect(findMismatch(schema, { a: 1 })).toBeUndefined();
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
const oneOf = (levels: number): JsonObject => {
	const levelOf = (level: number) => ({ $ref: `#/$defs/${level}` });
	const choice = (level: number) => ({
		oneOf: ['a', 'b'].map((required) => ({
			properties: { c: levelOf(level - 1) },
			required: [required],
		})),
	});
	const entries = Array.from({ length: levels }, (_, level) => [level + 1, choice(level + 1)]);
	return {
		$ref: `#/$defs/${levels}`,
		$defs: Object.fromEntries([[0, {}], ...entries]) as JsonObject,
	};
};
const list = (length: number, of: (index: number) => JsonValue) =>
	Array.from({ length }, (_, index) => of(index));
const names = (length: number) =>
	Object.fromEntries(list(length, (index) => [`k${index}`, 1]) as []);

test.each<[string, JsonObject, JsonValue, JsonValue]>([
	['a recursive schema', TWICE, nested(8, 1), nested(40, null)],
	['oneOf at many levels', oneOf(16), nested(4, 1), nested(16, 1)],
	['a wide object', { anyOf: list(2_000, () => A({})) }, names(10), names(20_000)],
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

test('the longest list that is read can be checked', () => {
	const schema = { type: 'array', items: { $ref: '#/$defs/size' }, $defs };
	expect(
		findMismatch(
			schema,
			list(199_999, (index) => index),
		),
	).toBeUndefined();
	expect(findMismatch(schema, list(199_999, String))).toContain('at #/199998: ');
});
