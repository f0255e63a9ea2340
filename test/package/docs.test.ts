import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { ROOT } from '../../lab/paths';
import { STATUSES, unlistedStatus } from '../../nodes/client/http/statuses';
import { TRANSPORT_ROWS } from '../../nodes/client/http/transportError';
import { fieldNames } from '../../scripts/fieldTables';
import { GENERATED_PARTS, splitPage } from '../../scripts/generatedDocs';
import { loadNode, NODE_NAMES, pageOf } from '../../scripts/nodePages';

const read = (...path: readonly string[]) => readFileSync(join(ROOT, ...path), 'utf8');

/** Removes what Prettier decides: the width of columns, and backslashes. */
const plain = (text: string) => text.replace(/[\s\\-]+/g, ' ').trim();

const linesOf = (text: string) => text.split('\n').map(plain).filter(Boolean);

const FOLDERS = ['.', 'docs', 'examples', 'emulator'];
const DOCUMENTS = FOLDERS.flatMap((folder) =>
	readdirSync(join(ROOT, folder))
		.filter((file) => file.endsWith('.md'))
		.map((file) => join(folder, file)),
);

/** The anchor that GitHub gives a heading. */
const anchor = (heading: string) =>
	heading
		.toLowerCase()
		.replace(/[^\w\- ]/g, '')
		.replace(/ /g, '-');

const anchorsOf = (text: string) =>
	[...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => `#${anchor(heading!)}`);

test.each(GENERATED_PARTS)(
	'docs/$page: the $content are up to date (npm run docs)',
	async ({ page, content, build }) => {
		const inPage = linesOf(splitPage(read('docs', page), content).generated);
		const generated = linesOf(await build());
		// Only the rows that differ, so that the message of a failure stays readable.
		expect(inPage.filter((line) => !generated.includes(line))).toStrictEqual(
			generated.filter((line) => !inPage.includes(line)),
		);
		expect(inPage).toStrictEqual(generated);
	},
);

const NODE_PAGES = NODE_NAMES.flatMap((name) => {
	const page = pageOf(name);
	return page === undefined ? [] : [{ name, page }];
});

describe.each(NODE_PAGES)('docs/$page', ({ name, page }) => {
	const text = read('docs', page);

	test('mentions every field of the node', async () => {
		const { properties } = (await loadNode(name)).description;
		const missing = fieldNames(properties).filter(
			(field) => !plain(text).includes(plain(field.replace(/<\/?b>/g, '**'))),
		);
		expect(missing).toStrictEqual([]);
	});

	test('shows a picture of the node, light and dark', () => {
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

test.each(DOCUMENTS)('every link in %s leads to an existing file and heading', (document) => {
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
