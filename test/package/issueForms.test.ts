import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
const FORMS = readdirSync(FOLDER).filter((file) => file !== 'config.yml');
const labelsOf = ({ body }: Form) => body.flatMap(({ attributes }) => attributes.label ?? []);

test.each(FORMS)('%s has what GitHub asks of a form', (file) => {
	const { name, description, body } = form(file);
	expect([name, description].filter(Boolean)).toHaveLength(2);
	const types = new Set(body.map(({ type }) => type));
	expect(
		[...types].filter((type) => !['markdown', 'textarea', 'input', 'dropdown'].includes(type)),
	).toStrictEqual([]);
	const fields = body.filter(({ type }) => type !== 'markdown');
	expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
	expect(new Set(labelsOf({ name, description, body })).size).toBe(fields.length);
	expect(fields.some(({ validations }) => validations?.required === true)).toBe(true);
});

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

test('Dependabot looks where versions are kept, once a week, in groups', () => {
	const { updates } = parse(read('.github', 'dependabot.yml')) as {
		updates: readonly {
			'package-ecosystem': string;
			directory: string;
			schedule: { interval: string };
			groups: Record<string, { patterns: string[] }>;
		}[];
	};
	const places = updates.map((update) => ({
		kind: update['package-ecosystem'],
		at: update.directory,
	}));
	expect(places).toStrictEqual([
		{ kind: 'npm', at: '/' },
		{ kind: 'npm', at: '/lab/n8n/pinned' },
		{ kind: 'github-actions', at: '/' },
		{ kind: 'docker-compose', at: '/docker' },
	]);
	for (const { kind, at } of places.filter((place) => place.kind === 'npm'))
		expect([kind, existsSync(join(ROOT, at, 'package-lock.json'))]).toStrictEqual([kind, true]);
	for (const { schedule, groups } of updates) {
		expect(schedule.interval).toBe('weekly');
		expect(Object.values(groups).at(-1)!.patterns).toStrictEqual(['*']);
	}
});
