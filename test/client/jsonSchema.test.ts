import { findMismatch, schemaProblem } from '../../nodes/client/chat/jsonSchema';
import type { JsonObject, JsonValue } from '../../nodes/client/json';

const A = (schema: JsonObject, more: JsonObject = {}): JsonObject => ({
	type: 'object',
	properties: { a: schema },
	...more,
});
const $defs = { name: { type: 'string' }, size: { type: 'integer' } };
const DRAFT_4 = { $schema: 'http://json-schema.org/draft-04/schema#' };
const DRAFT_7 = { $schema: 'http://json-schema.org/draft-07/schema#' };
const FILLER = 'x'.repeat(10_001);
const TREE = {
	$dynamicAnchor: 'node',
	type: 'object',
	properties: { a: { type: 'array', items: { $dynamicRef: '#node' } } },
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
	['exclusiveMinimum: true', A({ minimum: 0, exclusiveMinimum: true }), { a: 1 }, { a: 0 }],
	['exclusiveMaximum: true', A({ maximum: 9, exclusiveMaximum: true }), { a: 8 }, { a: 9 }],
	['the same in draft 4', A({ minimum: 0, exclusiveMinimum: true }, DRAFT_4), { a: 1 }, { a: 0 }],
	['exclusiveMinimum: false', A({ minimum: 0, exclusiveMinimum: false }), { a: 0 }, { a: -1 }],
	['$dynamicRef', TREE, tree({ a: [] }), tree({})],
	['nullable beside a type', A({ type: 'string', nullable: true }), { a: null }, { a: 1 }],
	[
		'nullable beside $ref',
		A({ $ref: '#/$defs/name', nullable: true }, { $defs }),
		{ a: null },
		{ a: 1 },
	],
	[
		'nullable beside anyOf',
		A({ anyOf: [{ type: 'string' }], nullable: true }),
		{ a: null },
		{ a: 1 },
	],
	[
		'nullable beside allOf',
		A({ allOf: [{ type: 'string' }], nullable: true }),
		{ a: null },
		{ a: 1 },
	],
	['nullable beside enum', A({ enum: ['x'], nullable: true }), { a: null }, { a: 'y' }],
	['nullable beside const', A({ const: 'x', nullable: true }), { a: null }, { a: 'y' }],
	['nullable: false', A({ type: 'string', nullable: false }), { a: 'x' }, { a: null }],
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
	['a needless escape', A({ pattern: '^\\@[\\w\\-]+\\-\\\\$' }), { a: '@a-b-\\' }, { a: '@a-b' }],
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
	['a pattern of a long text', A({ pattern: 'x$' }), { a: 'x'.repeat(10_000) }, { a: FILLER }],
])('%s', (_name, schema, matching, other) => {
	expect(schemaProblem(schema)).toBeUndefined();
	expect(findMismatch(schema, matching)).toBeUndefined();
	expect(findMismatch(schema, other)).toMatch(/^ at #|^: /);
});

test('keywords beside $ref count as draft 7 says', () => {
	const schema = A({ $ref: '#/$defs/size', minimum: 5 }, { $defs, ...DRAFT_7 });
	expect(findMismatch(schema, { a: 1 })).toBeUndefined();
});

test.each<[string, JsonObject, JsonObject, string]>([
	[
		'null beside $ref',
		A({ $ref: '#/$defs/name', nullable: true }, { $defs }),
		{ a: 1 },
		'Expected "string"',
	],
	['a text that is too long', A({ pattern: 'x' }), { a: FILLER }, 'too long'],
])('the error names what is expected: %s', (_name, schema, value, words) => {
	expect(findMismatch(schema, value)).toContain(words);
	expect(findMismatch(schema, value)).toContain(' at #/a: ');
});
