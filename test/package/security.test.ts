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

const sectionOf = (heading: string) =>
	TEXT.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';

/** The names of the entries below a heading. */
const idsOf = (heading: string) =>
	[...sectionOf(heading).matchAll(/^- \*\*([A-Z]\d)\*\*/gm)].map(([, id]) => id!);

const testsIn = (text: string) =>
	[...text.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, path]) => path!);

/** The parts of a threat, below its heading. */
const THREAT =
	/^(?<name>.+)\n\n(?<kind>[A-Z][A-Za-z ]+?), (?<concerns>[A-Z0-9, ]+)\. .+ \*\*Tests\*\*: (?<tests>[^\0]+)/;
const THREATS = sectionOf('Threats')
	.split(/^### /m)
	.slice(1)
	.map((text) => THREAT.exec(text)?.groups ?? { name: text });

test.each(THREATS.map((threat) => [threat['name']!, threat] as const))(
	'%s: the threat is complete, and its tests exist',
	(_name, { tests }) => {
		expect(testsIn(tests ?? '')).not.toHaveLength(0);
	},
);

test('every test that the text names exists', () => {
	expect(testsIn(TEXT).filter((path) => !existsSync(join(ROOT, path)))).toStrictEqual([]);
});

test('every asset, every boundary and every class of STRIDE has a threat', () => {
	const ids = ['Assets', 'Trust boundaries and actors'].flatMap(idsOf);
	expect(ids.length).toBeGreaterThan(5);
	const concerned = THREATS.flatMap(({ concerns = '' }) => concerns.split(', '));
	expect(ids.filter((id) => !concerned.includes(id))).toStrictEqual([]);
	expect(concerned.filter((id) => !ids.includes(id))).toStrictEqual([]);
	expect([...new Set(THREATS.map(({ kind }) => kind))]).toStrictEqual(CLASSES);
});
