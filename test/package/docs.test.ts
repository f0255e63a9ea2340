import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { ROOT } from '../../lab/paths';
import { STATUSES, unlistedStatus } from '../../nodes/client/http/statuses';
import { TRANSPORT_ROWS } from '../../nodes/client/http/transportError';
import { fieldNames, fieldTables } from '../../scripts/fieldTables';
import { fieldsOf, loadNode, NODE_PAGES } from '../../scripts/nodePages';

const read = (...path: readonly string[]) => readFileSync(join(ROOT, ...path), 'utf8');

/** Markdown without what Prettier decides: the width of columns, and what it escapes. */
const plain = (text: string) => text.replace(/[\s\\-]+/g, ' ').trim();

const FOLDERS = ['.', 'docs', 'examples', 'emulator'];
const DOCUMENTS = FOLDERS.flatMap((folder) =>
	readdirSync(join(ROOT, folder))
		.filter((file) => file.endsWith('.md'))
		.map((file) => join(folder, file)),
);

/** The name by which GitHub links to a heading. */
const anchor = (heading: string) =>
	heading
		.toLowerCase()
		.replace(/[^\w\- ]/g, '')
		.replace(/ /g, '-');

const anchorsOf = (text: string) =>
	[...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => `#${anchor(heading!)}`);

describe.each(Object.entries(NODE_PAGES))('docs/%s', (page, name) => {
	const text = read('docs', page);

	test('its field tables are those of the node: npm run docs', async () => {
		const { description } = await loadNode(name);
		expect(plain(fieldsOf(text))).toBe(plain(fieldTables(description)));
	});

	test('has every field of the node', async () => {
		const { properties } = (await loadNode(name)).description;
		const missing = fieldNames(properties).filter(
			(field) => !plain(text).includes(plain(field.replace(/<\/?b>/g, '**'))),
		);
		expect(missing).toStrictEqual([]);
	});

	test('shows the panel of the node, light and dark', () => {
		expect(text).toContain(`srcset="pictures/${name}.dark.png"`);
		expect(text).toContain(`src="pictures/${name}.png"`);
	});
});

describe('docs/troubleshooting.md', () => {
	const text = read('docs', 'troubleshooting.md');

	test.each([
		...new Set(
			[
				...Object.values(STATUSES).flatMap((rows) => Object.values(rows)),
				...[404, 418, 500].map(unlistedStatus),
				...TRANSPORT_ROWS,
			].map(({ message }) => message),
		),
	])('has an entry for "%s"', (message) => {
		expect(text).toContain(`\n| ${message} `);
	});
});

test.each(DOCUMENTS)('the links of %s lead to a file, and to a heading in it', (document) => {
	const text = read(document);
	const broken = [...text.matchAll(/\]\((?!https?:)([^)#]*)(#[^)]+)?\)/g)]
		.map(([, path, heading]) => ({ path: path!, heading }))
		.filter(({ path, heading }) => {
			const file = path === '' ? document : join(dirname(document), path);
			if (!existsSync(join(ROOT, file))) return true;
			return heading !== undefined && !anchorsOf(read(file)).includes(heading);
		});
	expect(broken).toStrictEqual([]);
});
