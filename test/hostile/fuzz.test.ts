// @seconds 6
import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';

import fc from 'fast-check';

import { parseJson } from '../../nodes/client/json';
import { thorough } from '../support/thorough';
import { READERS } from './readers';
import { HOSTILE_TEXTS } from './texts';

const SEED = 20_260_101;
const RUNS = thorough(400, 10_000);
/** Longest text of a case, in characters. */
const MAX_CHARACTERS = 4_000;
/** What all cases may leave in memory, of one reader or of all, in bytes. */
const MAX_MEMORY = 20 * 1024 * 1024;
/** CPU time of one case, in microseconds. */
const MAX_MICROS = 2_000_000;
/** Errors that the readers throw on purpose. */
const OWN_ERRORS = ['InputError', 'ServiceError', 'NodeOperationError', 'NodeApiError'];

/** Pieces that mean something to a parser. */
const TOKENS = [
	...HOSTILE_TEXTS.map(({ of }) => of(8)),
	...['data: ', 'event: error\n', 'id: 1\n', 'retry: 1\n', '\n\n', '[DONE]', '\r\n', '\ufeff'],
	...['{', '}', '[', ']', '"', ':', ',', 'null', 'true', '-1e999', '\\u0000', '\\'],
	...['"choices"', '"delta"', '"message"', '"content"', '"tool_calls"', '"index"', '"id"'],
	...['"function"', '"name"', '"arguments"', '"error"', '"status"', '"extension"', '"usage"'],
	...['"constructor"', '"__proto__"', '"toString"', '"length"', '"task_id"', '"session_id"'],
	...['http://', 'https://[::1]/', 'data:', '![', '](', '```json\n', '<script>', '</script>'],
];
/** A hostile text of some length. */
const hostile = (max: number) =>
	fc
		.tuple(fc.constantFrom(...HOSTILE_TEXTS), fc.integer({ min: 1, max }))
		.map(([{ of }, length]) => of(length));
/** A text in thirty is long, so that all cases take seconds. */
const text = fc.oneof(
	{
		weight: 10,
		arbitrary: fc
			.array(fc.constantFrom(...TOKENS), { maxLength: 60 })
			.map((tokens) => tokens.join('')),
	},
	{ weight: 7, arbitrary: fc.json({ maxDepth: 6 }) },
	{ weight: 6, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
	{ weight: 6, arbitrary: hostile(100) },
	{ weight: 1, arbitrary: hostile(MAX_CHARACTERS) },
);
const cases = fc
	.array(text, { minLength: 1, maxLength: 2 })
	.map((texts) => texts.join('\n').slice(0, MAX_CHARACTERS));
const SEEDED = { seed: SEED, numRuns: RUNS };
/** Made once for all readers: making them takes longer than reading them. */
const CASES = fc.sample(cases, SEEDED);

/** CPU time of this process so far, in microseconds. */
function cpuMicros(): number {
	const { user, system } = process.cpuUsage();
	return user + system;
}

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Memory in use, in bytes. */
function usedMemory(): number {
	collectGarbage();
	return process.memoryUsage().heapUsed;
}

/** The readers after which memory is measured: collecting garbage takes longer than reading all cases. */
const MEASURED = thorough(READERS.slice(-1), READERS);
let memoryBefore = usedMemory();

test.each(READERS)('$title reads anything, or throws an error of its own', async (reader) => {
	let startMicros = cpuMicros();
	async function check(each: string): Promise<void> {
		try {
			await reader.read(each)();
		} catch (error) {
			if (!OWN_ERRORS.includes((error as Error).name)) throw error;
		}
		const endMicros = cpuMicros();
		const micros = endMicros - startMicros;
		startMicros = endMicros;
		if (micros > MAX_MICROS) throw new Error(`took ${micros} µs`);
	}
	try {
		for (const each of CASES) await check(each);
	} catch (error) {
		// Again, to find the shortest text.
		await fc.assert(fc.asyncProperty(cases, check), SEEDED);
		throw error;
	}
	// A hostile text must not reach the prototype that all objects share.
	expect(Object.keys(Object.prototype)).toEqual([]);
	expect(parseJson('{}')).toStrictEqual({});
	if (!MEASURED.includes(reader)) return;
	const grown = usedMemory() - memoryBefore;
	memoryBefore += grown;
	expect(grown).toBeLessThan(MAX_MEMORY);
});
