import { engineExports, NEEDS_NOTHING } from './engineExports';
import { ENGINE_2, installedN8n, VERSION, hasFile } from './installedN8n';
import { observed, wanted, type Point } from './point';
import { ENGINE_POINTS } from './points/engine';
import { FORM_POINTS } from './points/forms';
import { HELPER_POINTS } from './points/helpers';
import { SERVER_POINTS } from './points/server';

const POINTS: readonly Point[] = [
	...ENGINE_POINTS,
	...HELPER_POINTS,
	...FORM_POINTS,
	...SERVER_POINTS,
].sort((a, b) => a.n - b.n);

test('each export of the folder for n8n needs a point, and each that a point names is there', () => {
	const named = POINTS.flatMap(({ usedBy }) => usedBy);
	const names = engineExports().map(({ name }) => name);
	const needed = names.filter((name) => !(name in NEEDS_NOTHING));
	expect([...new Set(named)].sort()).toStrictEqual(needed.sort());
	expect(names).toEqual(expect.arrayContaining(Object.keys(NEEDS_NOTHING)));
});

describe(`n8n ${VERSION}`, () => {
	// The comments name files of the version that the lab runs.
	const test241 = VERSION.startsWith('2.41.') ? test : test.skip;
	test241('has each file that an export was read in', () => {
		const read = engineExports().flatMap((each) => each.read ?? []);
		expect(read.filter((file) => !hasFile(file))).toStrictEqual([]);
	});

	test.each(POINTS)('$n. $name', async (point) => {
		expect(await observed(point, installedN8n())).toEqual(wanted(point, VERSION).expected);
	});
});

describe('without it', () => {
	const there = POINTS.filter((point) => 'lost' in wanted(point, VERSION));
	test.each(there)('$n. fails: $name', async (point) => {
		const seen = await observed(point, installedN8n(point.without));
		const { expected, lost } = wanted(point, VERSION);
		expect(seen).toEqual(lost);
		expect(seen).not.toEqual(expected);
	});
});

// An older n8n has no engine 2.0.
if (hasFile(ENGINE_2))
	describe('engine 2.0', () => {
		const asked = POINTS.filter(({ engine2 }) => engine2 !== undefined);
		test.each(asked)('$n. $name', async (point) => {
			const { engine2, expected } = point;
			expect(await observed(point, installedN8n({}, 2))).toEqual(
				typeof engine2 === 'object' ? engine2.instead : expected,
			);
		});
	});
