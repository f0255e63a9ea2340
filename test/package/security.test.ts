import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const TEXT = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
const CLASSES = [
	'Spoofing',
	'Tampering',
	'Repudiation',
	'Information disclosure',
	'Denial of service',
	'Elevation of privilege',
];

/** The rows of the table below a heading, without its head. */
function rowsOf(heading: string): string[][] {
	const section = TEXT.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';
	return section
		.split('\n')
		.filter((line) => line.startsWith('| '))
		.map((line) =>
			line
				.split('|')
				.slice(1, -1)
				.map((cell) => cell.trim()),
		)
		.slice(2);
}

const testsIn = (text: string) =>
	[...text.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, path]) => path!);

const THREATS = rowsOf('Threats');

test.each(THREATS.map((cells) => [cells[2]!, cells] as const))(
	'%s: the row is complete, and its tests exist',
	(_threat, cells) => {
		expect(cells).toHaveLength(6);
		expect(cells.filter((cell) => cell === '')).toStrictEqual([]);
		const tests = testsIn(cells[5]!);
		expect(tests).not.toHaveLength(0);
		expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toStrictEqual([]);
	},
);

test('every test that the text names exists', () => {
	expect(testsIn(TEXT).filter((path) => !existsSync(join(ROOT, path)))).toStrictEqual([]);
});

test('every asset, every boundary and every class of STRIDE has a threat', () => {
	const ids = ['Assets', 'Trust boundaries and actors'].flatMap((heading) =>
		rowsOf(heading).map(([id]) => id!),
	);
	expect(ids.length).toBeGreaterThan(5);
	const concerned = THREATS.flatMap(([, ids = '']) => ids.split(' '));
	expect(ids.filter((id) => !concerned.includes(id))).toStrictEqual([]);
	expect(concerned.filter((id) => !ids.includes(id))).toStrictEqual([]);
	expect([...new Set(THREATS.map(([name]) => name))]).toStrictEqual(CLASSES);
});
