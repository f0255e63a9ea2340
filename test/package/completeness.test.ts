/**
 * Everything that a node of this package must come with. The list of nodes is the one in package.json, so a new node
 * fails here until all of it exists.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { INodePropertyOptions, INodeType } from 'n8n-workflow';

import { SUBJECTS } from '../../lab/browser/pictureSubjects';
import { ROOT } from '../../lab/paths';
import { loadNode, NODE_NAMES, PACKAGE_NAME, pageOf, readCodex } from '../../scripts/nodePages';
import { OPERATIONS, type Operation } from '../faults/operations';
import { NODE_TYPES } from '../support/engine';

/** Display names begin with it where n8n has a node of the same name; running text leaves it out. */
const BRAND = 'Agent Video ';

const OPERATION_ROWS: readonly Operation[] = Object.values(OPERATIONS);

const read = (...path: readonly string[]) => readFileSync(join(ROOT, ...path), 'utf8');
const exists = (...path: readonly string[]) => existsSync(join(ROOT, ...path));
const missing = (paths: readonly string[]) => paths.filter((path) => !exists(path));

const nameOf = (name: string) => `${name[0]!.toLowerCase()}${name.slice(1)}`;
const typeOf = (name: string) => `${PACKAGE_NAME}.${nameOf(name)}`;

/** The page of a node in docs/; the empty string when its codex links to none. */
const pageFile = (name: string) => pageOf(name) ?? '';

/** The text below a heading of the second level. */
function sectionOf(markdown: string, heading: string): string {
	return markdown.split(/^## /m).find((section) => section.startsWith(`${heading}\n`)) ?? '';
}

describe.each(NODE_NAMES)('%s', (name) => {
	let node: INodeType;
	beforeAll(async () => {
		node = await loadNode(name);
	});

	test('has a name and a class that match its folder, and a subtitle', () => {
		const { description } = node;
		expect(description.name).toBe(nameOf(name));
		expect(description.defaults.name).toBe(description.displayName);
		expect(description.subtitle ?? '').toMatch(/^=/);
	});

	test('tells an AI that builds workflows which fields of a tool the model of the agent fills in', () => {
		const { builderHint, properties, usableAsTool } = node.description;
		const filled = properties.filter(({ default: value }) => String(value).includes('$fromAI'));
		const [, named = ''] = /fills in: (.*)\.$/.exec(builderHint?.searchHint ?? '') ?? [];
		const expected = usableAsTool === true ? filled : [];
		expect(named).toBe(expected.map((each) => each.name).join(', '));
	});

	test('promises the messages with Output: Detailed only where they come out', () => {
		const output = node.description.properties.find((each) => each.name === 'output');
		const options = (output?.options ?? []) as INodePropertyOptions[];
		const detailed = options.find(({ value }) => value === 'detailed');
		if (detailed === undefined) return;
		const schema = JSON.parse(read('nodes', name, '__schema__', 'v1.0.0.json')) as object;
		const comesOut = JSON.stringify(schema).includes('"messages":');
		expect(detailed.description!.includes('the messages')).toBe(comesOut);
	});

	test('tells such an AI the fields of its items', () => {
		const schema = join('nodes', name, '__schema__', 'v1.0.0.json');
		if (!exists(schema)) return;
		const [{ content }] = node.description.builderHint?.extraTypeDefContent as [
			{ content: string },
		];
		const [, named = ''] = /^Output fields.*?: (.*)\.$/m.exec(content) ?? [];
		const fields = JSON.parse(read(schema), (key, value: unknown) =>
			key === 'items' || typeof value === 'string' ? undefined : value,
		) as object;
		const words = JSON.stringify(fields).match(/\w+/g)!;
		const expected = words.filter((word) => word !== 'properties');
		expect(named.match(/\w+/g)).toStrictEqual(expected);
	});

	test('has a light and a dark icon', () => {
		const { icon } = node.description;
		const icons = typeof icon === 'object' ? [icon.light, icon.dark] : [];
		expect(new Set(icons).size).toBe(2);
		const paths = icons.map((path) => join('nodes', name, path.replace('file:', '')));
		expect(missing(paths)).toStrictEqual([]);
	});

	test('has a codex file that names it and lists it among the AI nodes', () => {
		const codex = readCodex(name);
		expect(codex?.node).toBe(typeOf(name));
		expect(codex?.categories).toContain('AI');
		expect(codex?.subcategories.AI).toContain('Root Nodes');
	});

	test('has the file execute.ts in its folder, besides the node itself', () => {
		expect(exists('nodes', name, 'execute.ts')).toBe(true);
	});

	test('has a page in docs/, with a link to its fields, that its codex links to', () => {
		const page = pageFile(name);
		expect(page).toMatch(/\.md$/);
		expect(exists('docs', page)).toBe(true);
		const anchor = node.description.displayName.toLowerCase().replaceAll(' ', '-');
		expect(read('docs', page)).toContain(`](fields.md#${anchor})`);
		expect(read('docs', page)).toMatch(`# ${node.description.displayName}\n`);
	});

	test('is in the table that chooses a node in README.md, with a link to its page', () => {
		const nodes = sectionOf(read('README.md'), 'Which node do I need?');
		expect(nodes).toContain(node.description.displayName);
		expect(nodes).toContain(`](docs/${pageFile(name) || 'missing'})`);
	});

	test('is mentioned in docs/troubleshooting.md', () => {
		const title = node.description.displayName.replace(BRAND, '');
		expect(read('docs', 'troubleshooting.md').toLowerCase()).toContain(title.toLowerCase());
	});

	test('is offered by the form for bugs', () => {
		const form = read('.github', 'ISSUE_TEMPLATE', 'bug.yml');
		expect(form).toContain(`- ${node.description.displayName}\n`);
	});

	test('has a picture, light and dark, and a workflow to retake it from', () => {
		const pictures = [`docs/pictures/${name}.png`, `docs/pictures/${name}.dark.png`];
		expect(missing(pictures)).toStrictEqual([]);
		expect(SUBJECTS.map((subject) => subject.name)).toContain(name);
	});

	test('is registered in test/support/engine.ts', () => {
		expect(NODE_TYPES[typeOf(name)]?.description.name).toBe(nameOf(name));
	});

	test('has an operation in test/faults/operations.ts', () => {
		expect(OPERATION_ROWS.map((operation) => operation.node)).toContain(nameOf(name));
	});
});

describe('nothing exists for a node that package.json does not register', () => {
	test('no node file', () => {
		const folders = readdirSync(join(ROOT, 'nodes')).filter((folder) =>
			exists('nodes', folder, `${folder}.node.ts`),
		);
		expect(folders).toStrictEqual(NODE_NAMES);
	});

	test('no page about fields', () => {
		const pages = readdirSync(join(ROOT, 'docs'))
			.filter((file) => file.endsWith('.md'))
			.filter((file) => read('docs', file).includes('\n## Fields\n'));
		expect(pages).toStrictEqual(NODE_NAMES.map(pageFile).sort());
	});

	test('no registration in test/support/engine.ts', () => {
		const types = Object.keys(NODE_TYPES).filter((type) => type.startsWith(PACKAGE_NAME));
		expect(types.sort()).toStrictEqual(NODE_NAMES.map(typeOf).sort());
	});

	test('no operation in test/faults/operations.ts, and no workflow for pictures', () => {
		const operations = new Set(OPERATION_ROWS.map((operation) => operation.node));
		expect([...operations].sort()).toStrictEqual(NODE_NAMES.map(nameOf).sort());
		expect(SUBJECTS.map((subject) => subject.name).sort()).toStrictEqual(
			[...NODE_NAMES].sort(),
		);
	});
});
