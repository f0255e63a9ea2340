// @seconds 30
import type { IDataObject } from 'n8n-workflow';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { failureOf, outputItems } from '../../lab/n8n/execution';
import type { N8nClient } from '../../lab/n8n/N8nClient';
import { startRestartableN8n, type RestartableN8n } from '../../lab/n8n/restartableN8n';
import { Running } from '../../lab/services/Running';
import { node, workflow } from './support/buildWorkflow';
import { CREATIONS } from './support/ledger';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

const running = new Running();
let emulator: Emulator;
let n8n: RestartableN8n;
let client: N8nClient;

beforeAll(async () => {
	emulator = running.keep(await startEmulator({ videoSeconds: 0.01 }));
	n8n = running.keep(await startRestartableN8n());
	({ client } = n8n);
	for (const [name, apiKey] of [
		['Emulator', 'demo-key'],
		['Other', 'other-key'],
	] as const)
		await client.createCredential({
			name,
			type: 'agentVideoApi',
			data: { baseUrl: emulator.url, apiKey },
		});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

/** Runs one node of this package by hand; returns its items, or why it failed. */
async function run(
	type: 'createVideo' | 'waitForVideo' | 'superAssistant',
	parameters: IDataObject,
	credential = 'Emulator',
): Promise<readonly IDataObject[] | string> {
	const ref = await client.importWorkflow(
		workflow('By Hand', [
			node('Start', 'n8n-nodes-base.manualTrigger', 1),
			node('Node', `n8n-nodes-agent-video.${type}`, 1, { parameters, credential }),
		]),
	);
	const execution = await client.waitForExecution(await client.run(ref, 'Start'));
	const failure = failureOf(execution);
	return failure === '' ? outputItems(execution, 'Node').map(({ json }) => json) : failure;
}

const create = async (prompt: string) =>
	await run('createVideo', {
		prompt,
		options: { idempotencyKey: prompt, keyScope: 'project', retries: 0 },
	});
const ledger = async (ledgerTasks: string, more: IDataObject = {}, credential?: string) =>
	await run(
		'waitForVideo',
		{ tasks: 'ledger', ledgerTasks, options: { minimumAge: 0 }, ...more },
		credential,
	);

const IN_ORDER = [{ open: 0, of_other_keys: 0, unanswered: 0 }];
const OUT_OF_ORDER = /Task Ledger has paid videos that nobody has/;

it(
	'an unanswered call is listed, and settled by its task; the check fails until it is delivered',
	async () => {
		emulator.faults.add({ kind: 'resetBody', path: CREATIONS });
		expect(await create('kite')).toMatch(/may exist/);
		const [task] = emulator.tasks.all;

		expect(await ledger('check')).toMatch(OUT_OF_ORDER);
		expect(await ledger('check')).toMatch(/1 without an answer: settle/);
		const calls = (await ledger('unanswered')) as IDataObject[];
		expect(calls).toMatchObject([{ prompt: 'kite', sent_at: expect.any(String) as string }]);

		const { call } = calls[0]!;
		const found = { settle: 'exists', call, foundTaskId: task!.id };
		expect(await ledger('unanswered', found)).toStrictEqual([
			{ call, settled: 'exists', task_id: task!.id },
		]);
		expect(await ledger('unanswered', found)).toMatch(/Call has no row without an answer/);
		expect(await ledger('check')).toMatch(new RegExp(`1 open: collect them – ${task!.id}`));
		expect(await create('kite')).toMatchObject([{ task_id: task!.id, reused: true }]);
		expect(await ledger('check', {}, 'Other')).toMatch(/1 of another API key or Base URL/);

		expect(await ledger('all')).toMatchObject([{ task_id: task!.id }]);
		expect(await ledger('check')).toStrictEqual(IN_ORDER);
		expect(emulator.tasks.all).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);

it(
	'an unanswered call without a video frees its key',
	async () => {
		emulator.faults.add({ kind: 'reset', path: CREATIONS });
		expect(await create('boat')).toMatch(/may exist/);
		const [{ call }] = (await ledger('unanswered')) as [IDataObject];
		expect(await ledger('unanswered', { settle: 'none', call })).toStrictEqual([
			{ call, settled: 'none' },
		]);
		expect(await ledger('check')).toStrictEqual(IN_ORDER);
		const created = await create('boat');
		expect(created).toMatchObject([{ task_id: expect.any(String) as string }]);
		expect(created).not.toMatchObject([{ reused: true }]);
		await ledger('all');
	},
	RUN_LIMIT_MS,
);

it(
	'an unanswered call of a super assistant is listed and settled, too',
	async () => {
		emulator.faults.add({ kind: 'reset', path: '/v1/chat/completions' });
		const failed = await run('superAssistant', {
			appCode: { __rl: true, mode: 'id', value: 'demo-assistant' },
			message: 'Book a table',
			options: { retries: 0 },
		});
		expect(failed).toMatch(/may/);
		const [{ call }] = (await ledger('unanswered')) as [IDataObject];
		expect(await ledger('check')).toMatch(OUT_OF_ORDER);
		await ledger('unanswered', { settle: 'none', call });
		expect(await ledger('check')).toStrictEqual(IN_ORDER);
	},
	RUN_LIMIT_MS,
);
