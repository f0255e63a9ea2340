/**
 * Everything that a node of this package must come with. The list of nodes is the one in package.json, so a new node
 * fails here until all of it exists. What of it is packed, such as icons and codex, is asserted of the packed file.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import {
	NodeHelpers,
	type INodeProperties,
	type INodePropertyOptions,
	type INodeType,
} from 'n8n-workflow';

import { PICTURED_FIELDS, SUBJECTS, type PicturedFields } from '../../lab/browser/pictureSubjects';
import { checkCompatibilityRows, COMPATIBILITY_ROWS } from '../../lab/n8n/compatibilityTests';
import { ROOT } from '../../lab/paths';
import { fieldNames } from '../../scripts/fieldTables';
import { loadNode, NODE_NAMES, pageOf } from '../../scripts/nodePages';
import { OPERATIONS, type Operation } from '../faults/operations';
import { plain, read, sectionOf, typeNameOf } from './pages';

/** Display names begin with it where n8n has a node of the same name; running text leaves it out. */
const BRAND = 'Agent Video ';

const exists = (...path: readonly string[]) => existsSync(join(ROOT, ...path));

/** The page of a node in docs/; the empty string when its codex links to none. */
const pageFile = (name: string) => pageOf(name) ?? '';

/** What was in each panel when its picture was taken. */
const PICTURED = JSON.parse(readFileSync(PICTURED_FIELDS, 'utf8')) as PicturedFields;

/** The fields that n8n shows for the node of a picture, and the names of those inside their entries. */
function shownFields(subject: (typeof SUBJECTS)[number], { description }: INodeType) {
	const drawn = subject.workflow.nodes.find((each) => each.name === subject.node)!;
	const { properties } = description;
	const values = NodeHelpers.getNodeParameters(
		...[properties, drawn.parameters, true, true, drawn, description],
	)!;
	const isShown = (property: INodeProperties) =>
		!['notice', 'hidden'].includes(property.type) &&
		NodeHelpers.displayParameter(values, property, drawn, description);
	const shown = properties.filter(isShown);
	const lists = shown.filter(({ type }) => type === 'fixedCollection');
	return { shown: shown.map(({ displayName }) => displayName), inside: fieldNames(lists) };
}

describe.each(NODE_NAMES)('%s', (name) => {
	let node: INodeType;
	beforeAll(async () => {
		node = await loadNode(name);
	});

	test('has a name that matches its folder, a subtitle, and the file execute.ts', () => {
		const { description } = node;
		expect(description.name).toBe(typeNameOf(name));
		expect(description.defaults.name).toBe(description.displayName);
		expect(description.subtitle ?? '').toMatch(/^=/);
		expect(exists('nodes', name, 'execute.ts')).toBe(true);
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

	test('has a page in docs/ with a picture, light and dark, that its codex links to, with a link to its fields', () => {
		const { displayName } = node.description;
		const page = read('docs', pageFile(name));
		expect(page).toMatch(`# ${displayName}\n`);
		expect(page).toContain(`](fields.md#${displayName.toLowerCase().replaceAll(' ', '-')})`);
		expect(page).toContain(`srcset="pictures/${name}.dark.png"`);
		expect(page).toContain(`src="pictures/${name}.png"`);
		const pictures = [`docs/pictures/${name}.png`, `docs/pictures/${name}.dark.png`];
		expect(pictures.filter((path) => !exists(path))).toStrictEqual([]);
	});

	test('its page mentions every field of the node, itself or among the fields of several', () => {
		const both = plain(read('docs', pageFile(name)) + read('docs', 'fields.md'));
		const missing = fieldNames(node.description.properties).filter(
			(field) => !both.includes(plain(field.replace(/<\/?b>/g, '**'))),
		);
		expect(missing).toStrictEqual([]);
	});

	test('its picture shows the fields of its form (npm run pictures -- NODE)', () => {
		const subject = SUBJECTS.find((each) => each.name === name)!;
		const { shown, inside } = shownFields(subject, node);
		const pictured = PICTURED[name] ?? [];
		const gone = pictured.filter((label) => ![...shown, ...inside].includes(label));
		const missing = shown.filter((label) => !pictured.includes(label));
		expect({ gone, missing }).toStrictEqual({ gone: [], missing: [] });
	});

	test('is in the table that chooses a node, in docs/troubleshooting.md and in the form for bugs', () => {
		const { displayName } = node.description;
		const nodes = sectionOf(read('README.md'), 'Which node do I need?');
		expect(nodes).toContain(displayName);
		expect(nodes).toContain(`](docs/${pageFile(name) || 'missing'})`);
		const title = displayName.replace(BRAND, '').toLowerCase();
		expect(read('docs', 'troubleshooting.md').toLowerCase()).toContain(title);
		expect(read('.github', 'ISSUE_TEMPLATE', 'bug.yml')).toContain(`- ${displayName}\n`);
	});
});

describe('each node of package.json has one, and nothing else has', () => {
	test('a node file', () => {
		const folders = readdirSync(join(ROOT, 'nodes')).filter((folder) =>
			exists('nodes', folder, `${folder}.node.ts`),
		);
		expect(folders).toStrictEqual(NODE_NAMES);
	});

	test('a page about fields', () => {
		const pages = readdirSync(join(ROOT, 'docs'))
			.filter((file) => file.endsWith('.md'))
			.filter((file) => read('docs', file).includes('\n## Fields\n'));
		expect(pages).toStrictEqual(NODE_NAMES.map(pageFile).sort());
	});

	test('an operation in test/faults/operations.ts, a workflow for its picture, and the fields in it', () => {
		const rows: readonly Operation[] = Object.values(OPERATIONS);
		const operations = new Set(rows.map((operation) => operation.node));
		expect([...operations].sort()).toStrictEqual(NODE_NAMES.map(typeNameOf).sort());
		const names = [...NODE_NAMES].sort();
		expect(SUBJECTS.map((subject) => subject.name).sort()).toStrictEqual(names);
		expect(Object.keys(PICTURED).sort()).toStrictEqual(names);
	});

	test('a test in the compatibility run', () => {
		expect(() => {
			checkCompatibilityRows(COMPATIBILITY_ROWS);
		}).not.toThrow();
	});
});
