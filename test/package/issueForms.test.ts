import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'yaml';

import { ROOT } from '../../lab/paths';
import { loadNode, NODE_NAMES } from '../../scripts/nodePages';

interface Part {
	readonly type: string;
	readonly id?: string;
	readonly attributes: { readonly label?: string; readonly options?: readonly string[] };
	readonly validations?: { readonly required?: boolean };
}
interface Form {
	readonly name: string;
	readonly description: string;
	readonly body: readonly Part[];
}

const FOLDER = join(ROOT, '.github', 'ISSUE_TEMPLATE');
const read = (...path: readonly string[]) => readFileSync(join(ROOT, ...path), 'utf8');
const form = (file: string) => parse(readFileSync(join(FOLDER, file), 'utf8')) as Form;
const labelsOf = ({ body }: Form) => body.flatMap(({ attributes }) => attributes.label ?? []);

test('the form for bugs asks for what docs/troubleshooting.md says', () => {
	const [, section = ''] = read('docs', 'troubleshooting.md').split('## Reporting a problem\n');
	const told = [...section.split('\n## ')[0]!.matchAll(/\*\*(.*?)\*\*/g)].map(
		([, label]) => label,
	);
	expect(told).toStrictEqual(labelsOf(form('bug.yml')));
});

test('the form for bugs offers every node by its name', async () => {
	const nodes = await Promise.all(NODE_NAMES.map(loadNode));
	const { body } = form('bug.yml');
	const { attributes } = body.find(({ id }) => id === 'node')!;
	const missing = nodes
		.map(({ description }) => description.displayName)
		.filter((name) => !attributes.options!.includes(name));
	expect(missing).toStrictEqual([]);
});
