import { ESLint, type Linter } from 'eslint';
import plugin from 'eslint-plugin-n8n-nodes-base';
import type { INodeProperties } from 'n8n-workflow';

import { NODE_TYPES } from '../support/engine';

const ORDER = 'a person fills them in this order, and they stand below one another';

/** What deviates on purpose: the rule, what the line contains, and why. */
const EXCEPTIONS = [
	['node-param-fixed-collection-type-unsorted-items', 'displayName: "Role"', ORDER],
	['node-param-fixed-collection-type-unsorted-items', 'displayName: "Name"', ORDER],
	['node-param-options-type-unsorted-items', 'name: "16:9"', 'from wide to tall'],
	['node-param-default-wrong-for-number', '$fromAI(', 'a tool lets the model decide'],
	['node-param-default-wrong-for-boolean', '$fromAI(', 'a tool lets the model decide'],
] as const;

/**
 * n8n's rules for parameters read literals, and most of our forms are derived from tables: they are written out here,
 * as a person would have typed them.
 */
const rules = Object.fromEntries(
	Object.keys(plugin.rules ?? {})
		.filter((rule) => rule.startsWith('node-param-'))
		.map((rule) => [`n8n-nodes-base/${rule}`, 'error'] as const),
);

const eslint = new ESLint({
	overrideConfigFile: true,
	overrideConfig: [{ plugins: { 'n8n-nodes-base': plugin }, rules }],
});

const nodes = Object.entries(NODE_TYPES).filter(([type]) => !type.startsWith('test.'));

/** The rule and the first lines of what it complains about. */
async function findingsOf(description: object): Promise<string[]> {
	// The rules do not see quoted names.
	const literal = JSON.stringify(description, null, '\t').replaceAll(/^(\t*)"(\w+)":/gm, '$1$2:');
	const text = `export class Written { description = ${literal}; }\n`;
	const lines = text.split('\n');
	const results = await eslint.lintText(text, { filePath: 'Written.node.js' });
	return results
		.flatMap(({ messages }): readonly Linter.LintMessage[] => messages)
		.map(
			({ ruleId, line }) => `${String(ruleId)} ${lines.slice(line - 1, line + 3).join(' ')}`,
		);
}

test('the forms follow n8n’s rules when they are written out', async () => {
	const all = await Promise.all(
		nodes.map(async ([, { description }]) => findingsOf(description)),
	);
	const findings = all.flat();
	const isException = (finding: string) =>
		EXCEPTIONS.some(([rule, part]) => finding.includes(`/${rule} `) && finding.includes(part));
	expect(findings.filter((finding) => !isException(finding))).toStrictEqual([]);
	const unused = EXCEPTIONS.filter(
		([rule, part]) =>
			!findings.some((found) => found.includes(`/${rule} `) && found.includes(part)),
	);
	expect(unused).toStrictEqual([]);
});

test("a change of another field empties no list: n8n's editor does so where a condition names that field", () => {
	const conditions = nodes.flatMap(([, { description }]) =>
		description.properties
			.filter(({ type }) => type === 'fixedCollection' || type === 'collection')
			.flatMap(({ name, displayOptions = {} }) =>
				Object.values(displayOptions as Readonly<Record<string, object>>).flatMap((each) =>
					Object.keys(each).map((key) => `${name}: ${key}`),
				),
			),
	);
	expect(conditions).toContain('references: /model');
	expect(conditions.filter((each) => !/: [/@]/.test(each))).toStrictEqual([]);
});

test.each(nodes)('the options of %s are in the order of their labels', (_type, { description }) => {
	const { options = [] } = description.properties.find(({ name }) => name === 'options')!;
	const labels = (options as INodeProperties[]).map(({ displayName }) => displayName);
	expect(labels).toStrictEqual(labels.toSorted((a, b) => a.localeCompare(b)));
});
