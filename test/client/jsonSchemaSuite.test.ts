import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { findMismatch, schemaProblem } from '../../nodes/client/chat/jsonSchema';
import type { JsonObject, JsonValue } from '../../nodes/client/json';

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
