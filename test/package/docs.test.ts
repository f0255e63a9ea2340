import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { ROOT } from '../../lab/paths';
import { STATUSES, statusError, TRANSPORT_ERRORS } from '../../nodes/client/http/failures';
import { fieldNames } from '../../scripts/fieldTables';
import { GENERATED_PARTS, splitPage } from '../../scripts/generatedDocs';
import { loadNode, NODE_NAMES, pageOf } from '../../scripts/nodePages';

const read = (...path: readonly string[]) => readFileSync(join(ROOT, ...path), 'utf8');

const MAX_PICTURE_BYTES = 250_000;
const MAX_ANIMATION_BYTES = 2_000_000;

/** Removes what Prettier decides: the width of columns, and backslashes. */
const plain = (text: string) => text.replace(/[\s\\-]+/g, ' ').trim();

const linesOf = (text: string) => text.split('\n').map(plain).filter(Boolean);

/** Where a page differs from what is generated: some words of each line, because a row may have thousands of characters. */
function differences(inPage: readonly string[], generated: readonly string[]): readonly string[] {
	const [page, wanted] = [inPage, generated].map((lines, index) => {
		const others = [inPage, generated][1 - index]!;
		return lines.filter((line) => !others.includes(line));
	});
	const rows = Array.from({ length: Math.max(page!.length, wanted!.length) }, (_, index) => {
		const [is = '(no line)', should = '(no line)'] = [page![index], wanted![index]];
		let same = 0;
		while (same < is.length && is[same] === should[same]) same += 1;
		const around = (text: string) => text.slice(Math.max(0, same - 30), same + 30);
		return `${should.slice(0, 30)}…: the page has "${around(is)}", npm run docs writes "${around(should)}"`;
	});
	const isMoved = rows.length === 0 && inPage.join('\n') !== generated.join('\n');
	return isMoved ? ['The lines are in another order, or some stand twice'] : rows;
}

test('a difference is told by a few words of its row', () => {
	const row = (help: string) =>
		`| **Prompt** | ${'long '.repeat(500)}${help} ${'text '.repeat(500)}|`;
	const [told, ...more] = differences(['| a |', row('old')], ['| a |', row('new')]);
	expect(more).toStrictEqual([]);
	expect(told!.length).toBeLessThan(250);
	expect(told).toMatch(/^\| \*\*Prompt.*the page has ".*old.*", npm run docs writes ".*new/);
	expect(differences(['a', 'b'], ['b', 'a'])).toHaveLength(1);
	expect(differences(['a'], ['a', 'b'])).toStrictEqual([
		'b…: the page has "(no line)", npm run docs writes "b"',
	]);
});

const FOLDERS = ['.', 'docs', 'examples', 'emulator', 'bench'];
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
	'$page: the $content are up to date (npm run docs)',
	async ({ page, content, build }) => {
		const inPage = linesOf(splitPage(read(page), content).generated);
		const generated = linesOf(await build());
		expect(differences(inPage, generated)).toStrictEqual([]);
	},
);

const NODE_PAGES = NODE_NAMES.flatMap((name) => {
	const page = pageOf(name);
	return page === undefined ? [] : [{ name, page }];
});

describe.each(NODE_PAGES)('docs/$page', ({ name, page }) => {
	const text = read('docs', page);

	test('mentions every field of the node, itself or among the fields of several', async () => {
		const both = plain(`${text}${read('docs', 'fields.md')}`);
		const { properties } = (await loadNode(name)).description;
		const missing = fieldNames(properties).filter(
			(field) => !both.includes(plain(field.replace(/<\/?b>/g, '**'))),
		);
		expect(missing).toStrictEqual([]);
	});

	test('shows a picture of the node, light and dark', () => {
		expect(text).toContain(`srcset="pictures/${name}.dark.png"`);
		expect(text).toContain(`src="pictures/${name}.png"`);
	});
});

describe('docs/answers.md', () => {
	const text = read('docs', 'answers.md');

	test.each([
		...new Set(
			[
				...Object.values(STATUSES).flatMap((rows) => Object.values(rows)),
				...[404, 418, 500].map((status) => statusError('chat', status)),
				...TRANSPORT_ERRORS.map(([, failure]) => failure),
			].map(({ message }) => message),
		),
	])('has an entry for "%s"', (message) => {
		expect(text).toContain(`**${message}**`);
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

test.each(['CONTRIBUTING.md', 'docs/maintaining.md', 'docs/architecture.md'])(
	'every file of the repository that %s names exists',
	(document) => {
		const named = [
			...read(document).matchAll(/`((?:nodes|test|emulator|lab|docker|bench)\/[\w./-]+)`/g),
		].map(([, path]) => path!);
		expect(named.filter((path) => !existsSync(join(ROOT, path)))).toStrictEqual([]);
	},
);

describe('docs/pictures', () => {
	const pictures = readdirSync(join(ROOT, 'docs/pictures'));

	test('every picture is shown on a page', () => {
		const pages = DOCUMENTS.map((document) => read(document)).join('\n');
		const unused = pictures.filter((picture) => !pages.includes(`pictures/${picture}"`));
		expect(unused).toStrictEqual([]);
	});

	test('every picture loads quickly', () => {
		const large = pictures.filter((picture) => {
			const { size } = statSync(join(ROOT, 'docs/pictures', picture));
			return size > (picture.endsWith('.gif') ? MAX_ANIMATION_BYTES : MAX_PICTURE_BYTES);
		});
		expect(large).toStrictEqual([]);
	});
});
