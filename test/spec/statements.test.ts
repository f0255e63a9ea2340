import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from '../../lab/paths';
import { serviceFor } from '../emulator/support/service';
import { events, json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { CHAT_CALLS, VIDEO_CALLS, type ExampleCall } from './exampleCalls';
import type { Ran } from './nodeRuns';
import { NODE_LETTERS, SECTIONS } from './statements';
import { WALK_CHECKS } from './walkChecks';

const STATEMENTS = SECTIONS.flatMap(({ statements }) => statements);
const CALLS = [...CHAT_CALLS, ...VIDEO_CALLS];

describe('the walk through the specification', () => {
	const service = serviceFor('each');

	test.each(Object.entries(WALK_CHECKS))('walk: %s', async (_name, check) => {
		await check(service);
		expect.hasAssertions();
	});
});

describe('the example calls', () => {
	const service = serviceFor('all');
	let server: ScriptedServer;
	let call: ExampleCall;
	beforeAll(async () => {
		server = await startScriptedServer((response, { body }, index) => {
			const answer = call.answers?.[index] ?? { role: 'assistant', content: '{"ok":true}' };
			if (!('role' in answer)) {
				json(response, 200, answer);
				return;
			}
			const finish_reason = 'tool_calls' in answer ? 'tool_calls' : 'stop';
			if ((body as { stream?: boolean }).stream === true) {
				const choices = [{ index: 0, delta: answer, finish_reason }];
				events(response, [{ choices }, '[DONE]']);
				return;
			}
			json(response, 200, { choices: [{ index: 0, message: answer, finish_reason }] });
		});
	});
	afterAll(async () => {
		await server.stop();
	});

	const rows = CALLS.flatMap((example) =>
		Object.entries(example.by).map(([node, run]) => ({ node, ...example, example, run })),
	);
	test.each(rows)('$node sends the example call: $name', async ({ example, run }) => {
		call = example;
		server.requests.length = 0;
		const ran = (await run(server)) as Ran | undefined;
		expect(ran?.error?.message).toBeUndefined();
		expect(server.requests.map(({ body }) => body)).toStrictEqual(example.bodies);
		for (const { method, path, headers } of server.requests) {
			expect([method, path]).toStrictEqual(['POST', example.path]);
			expect(headers.authorization).toBe('Bearer demo-key');
			expect(headers['content-type']).toMatch(/^application\/json/);
		}
	});

	// All but the status of a task, which it would not know.
	test.each(CALLS.filter(({ path }) => path !== '/v1/videos/tasks'))(
		'the emulator accepts the example call: $name',
		async ({ path, bodies }) => {
			const whole = path === '/v1/chat/completions' ? { stream: false } : {};
			for (const body of bodies)
				expect(await service.post(path, { ...body, ...whole })).toMatchObject({
					status: 200,
				});
		},
	);
});

/** Whether a test of this title exists; titles of `test.each` stand with their placeholders. */
function hasTest(file: string, title: string): boolean {
	const path = join(ROOT, 'test', `${file}.test.ts`);
	if (!existsSync(path)) return false;
	const source = readFileSync(path, 'utf8');
	return ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`));
}

function isFound(proof: string): boolean {
	const [, kind = '', name = ''] = /^([^:]+): (.+)$/.exec(proof)!;
	if (kind === 'walk') return Object.hasOwn(WALK_CHECKS, name);
	if (kind === 'example') return CALLS.some((example) => example.name === name);
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
		const letters = STATEMENTS.flatMap(({ nodes }) => nodes.split(''));
		expect(letters.filter((letter) => !(letter in NODE_LETTERS))).toStrictEqual([]);
	});

	test('has every section of the specification, each once', () => {
		expect(SECTIONS.map(({ number }) => number)).toStrictEqual([
			'1',
			...Array.from({ length: 11 }, (_, index) => `2.${index + 1}`),
			...['3.1', '3.2', '4', '5', '6', '7', '7.1', '7.2', '8', '9'],
		]);
	});
});
