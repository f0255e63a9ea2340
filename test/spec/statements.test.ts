import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from '../../lab/paths';
import { startService, type TestService } from '../emulator/support/service';
import { CHAT_CALLS, VIDEO_CALLS } from './exampleCalls';
import { NODE_LETTERS, SECTIONS } from './statements';
import { WALK_CHECKS } from './walkChecks';

const STATEMENTS = SECTIONS.flatMap(({ statements }) => statements);
const EXAMPLES = new Set([...CHAT_CALLS, ...VIDEO_CALLS].map(({ name }) => name));

describe('the walk through the specification', () => {
	let service: TestService;
	beforeEach(async () => {
		service = await startService();
	});
	afterEach(async () => {
		await service.stop();
	});

	test.each(Object.entries(WALK_CHECKS))('walk: %s', async (_name, check) => {
		await check(service);
		expect.hasAssertions();
	});
});

/** Whether a test of this title exists; titles of `test.each` stand with their placeholders. */
function hasTest(file: string, title: string): boolean {
	const path = join(ROOT, 'test', `${file}.test.ts`);
	if (!existsSync(path)) return false;
	const source = readFileSync(path, 'utf8');
	const quoted = ["'", '"', '`'].map((quote) => `${quote}${title}${quote}`);
	return quoted.some((text) => source.includes(text));
}

function isFound(proof: string): boolean {
	const [, kind = '', name = ''] = /^([^:]+): (.+)$/.exec(proof)!;
	if (kind === 'walk') return Object.hasOwn(WALK_CHECKS, name);
	if (kind === 'example') return EXAMPLES.has(name);
	return hasTest(kind, name);
}

describe('the table of statements', () => {
	test('has every proof that it names', () => {
		const missing = STATEMENTS.flatMap(({ id, proofs }) =>
			proofs.filter((proof) => !isFound(proof)).map((proof) => `${id}: ${proof}`),
		);
		expect(missing).toStrictEqual([]);
	});

	test('names every check of the walk', () => {
		const named = new Set(STATEMENTS.flatMap(({ proofs }) => proofs));
		const unused = Object.keys(WALK_CHECKS).filter((name) => !named.has(`walk: ${name}`));
		expect(unused).toStrictEqual([]);
	});

	test('shows each statement that holds', () => {
		const open = STATEMENTS.filter(
			({ state, proofs, note }) =>
				state === 'holds' && proofs.length === 0 && note === undefined,
		);
		expect(open.map(({ id, text }) => `${id} ${text}`)).toStrictEqual([]);
	});

	test('names nodes by their letters', () => {
		const letters = new Set(STATEMENTS.flatMap(({ nodes }) => nodes.split('')));
		letters.delete('');
		expect([...letters].filter((letter) => !(letter in NODE_LETTERS))).toStrictEqual([]);
	});

	test('has every section of the specification, each once', () => {
		expect(SECTIONS.map(({ number }) => number)).toStrictEqual([
			'1',
			...Array.from({ length: 11 }, (_, index) => `2.${index + 1}`),
			...['3.1', '3.2', '4', '5', '6', '7', '7.1', '7.2', '8', '9'],
		]);
	});
});
