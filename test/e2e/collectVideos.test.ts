// @seconds 35
import type { IDataObject } from 'n8n-workflow';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { binaryOf, failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import type { N8nClient, WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { EXAMPLE_CREDENTIAL, readExampleFile } from '../../lab/n8n/readExample';
import { Running } from '../../lab/services/Running';
import { node, workflow } from './support/buildWorkflow';
import {
	CREATIONS,
	hintsOf,
	LEDGER,
	ledgerRows,
	POLLS,
	until,
	videosWorkflow,
	VIDEOS,
} from './support/ledger';
import { makeTasksOld } from './support/oldTasks';
import { startRestartableN8n, type RestartableN8n } from '../../lab/n8n/restartableN8n';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

const PATH = 'videos-to-collect';

const running = new Running();
let emulator: Emulator;
let n8n: RestartableN8n;
let client: N8nClient;
let collecting: WorkflowRef;

beforeAll(async () => {
	emulator = running.keep(await startEmulator({ videoSeconds: 0.01 }));
	n8n = running.keep(await startRestartableN8n());
	({ client } = n8n);
	for (const [name, apiKey] of [
		[EXAMPLE_CREDENTIAL, 'demo-key'],
		['Emulator', 'demo-key'],
		['Other', 'other-key'],
	] as const)
		await client.createCredential({
			name,
			type: 'agentVideoApi',
			data: { baseUrl: emulator.url, apiKey },
		});
	collecting = await client.importWorkflow(await readExampleFile('collect-videos.json'));
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

/** The workflows by what their node does: a key is one of its workflow. */
const refs = new Map<string, WorkflowRef>();

/** Runs one node of this package by hand; returns its execution. */
async function run(
	name: string,
	type: 'createVideo' | 'waitForVideo',
	parameters: IDataObject,
	credential = 'Emulator',
): Promise<Execution> {
	const nodes = [
		node('Start', 'n8n-nodes-base.manualTrigger', 1),
		node('Node', `n8n-nodes-agent-video.${type}`, 1, { parameters, credential }),
	];
	const key = `${name} ${credential}`;
	const ref = refs.get(key) ?? (await client.importWorkflow(workflow(key, nodes)));
	refs.set(key, ref);
	return await client.waitForExecution(await client.run(ref, 'Start'));
}

const create = async (prompt: string) =>
	await run(prompt, 'createVideo', {
		prompt,
		options: { idempotencyKey: prompt, retries: 0 },
	});
const collectAll = async (credential?: string) =>
	await run(
		'collect',
		'waitForVideo',
		{ tasks: 'ledger', ledgerTasks: 'project', options: { minimumAge: 0 } },
		credential,
	);
const itemsOf = (execution: Execution) => outputItems(execution, 'Node').map(({ json }) => json);
const hints = (execution: Execution) => hintsOf(execution, 'Node');

it(
	'a person decides in the table about a creation without an answer: its task exists',
	async () => {
		emulator.faults.add({ kind: 'resetBody', path: CREATIONS });
		expect(failureOf(await create('kite'))).toMatch(/may exist/);
		const [task] = emulator.tasks.all;
		const unanswered = await collectAll();
		expect(itemsOf(unanswered)).toStrictEqual([]);
		expect(hints(unanswered)).toMatch(
			/Creations without an answer: row \d+ .* enter the task_id of each video that exists, and delete the other rows/,
		);

		await client.updateDataTableRows(LEDGER, ['prompt', 'kite'], { task_id: task!.id });
		expect(itemsOf(await create('kite'))).toMatchObject([{ task_id: task!.id, reused: true }]);
		const other = await collectAll('Other');
		expect(itemsOf(other)).toStrictEqual([]);
		expect(hints(other)).toMatch(
			new RegExp(`Open tasks of another API key or Base URL: ${task!.id}\\. `),
		);
		expect(itemsOf(await collectAll())).toMatchObject([{ task_id: task!.id }]);
		expect(await client.dataTableRows(LEDGER)).toMatchObject([
			{ status: 'done', delivered_at: expect.any(String) as string },
		]);
		expect(hints(await collectAll())).toMatch(/^No open tasks/);
		expect(emulator.tasks.all).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);

it(
	'a person decides in the table about a creation without an answer: there is no video',
	async () => {
		emulator.faults.add({ kind: 'reset', path: CREATIONS });
		expect(failureOf(await create('boat'))).toMatch(/may exist/);
		await client.deleteDataTableRows(LEDGER, 'prompt', 'boat');
		const [created] = itemsOf(await create('boat'));
		expect(created).toMatchObject({ task_id: expect.any(String) as string });
		expect(created).not.toHaveProperty('reused');
		expect(itemsOf(await collectAll())).toMatchObject([{ task_id: created!['task_id'] }]);
	},
	RUN_LIMIT_MS,
);

async function collect(): Promise<Execution> {
	const execution = await client.waitForExecution(await client.run(collecting, 'Run Now'));
	expect(failureOf(execution)).toBe('');
	return execution;
}

const taskIds = () =>
	emulator.tasks.all
		.filter(({ video }) => video.prompt.startsWith('tram shot'))
		.map(({ id }) => id)
		.sort();
const collectedIds = (execution: Execution) =>
	outputItems(execution, 'Finished Videos')
		.map(({ json }) => json['task_id'] as string)
		.sort();

it(
	'a schedule delivers what an execution left behind when n8n was killed, once',
	async () => {
		const ref = await client.importWorkflow(videosWorkflow(PATH));
		await client.activate(ref);
		emulator.journal.clear();
		emulator.faults.add({ kind: 'stall', path: POLLS, count: 99 });
		await postWebhook(`${n8n.url}/webhook/${PATH}`, { key: 'tram' });
		// All are created, and the execution waits for them.
		await until(() => emulator.journal.of(POLLS).length >= VIDEOS);
		await n8n.kill();
		emulator.faults.clear();
		await n8n.start();
		expect(taskIds()).toHaveLength(VIDEOS);
		expect(await client.lastExecution(ref)).toMatchObject({ status: 'crashed' });
		expect(collectedIds(await collect())).toStrictEqual([]);

		await makeTasksOld(n8n.client, taskIds());
		// Of two schedules at the same moment, each gets some of the tasks or all.
		const [one, other] = await Promise.all([collect(), collect()]);
		expect([...collectedIds(one), ...collectedIds(other)].sort()).toStrictEqual(taskIds());
		for (const item of [one, other].flatMap((each) => outputItems(each, 'Finished Videos'))) {
			const file = await client.download(binaryOf(item, 'data'));
			expect(file.length).toBeGreaterThan(1_000);
			expect(item.json).toMatchObject({
				prompt: expect.stringContaining('tram shot') as string,
				ledger: { workflow_id: ref.id, model: 'video-m1' },
			});
		}
		expect(collectedIds(await collect())).toStrictEqual([]);
		expect(await ledgerRows(client, 'tram')).toMatchObject(
			Array(VIDEOS).fill({
				status: 'done',
				video_url: expect.stringContaining('.mp4') as string,
				file_name: expect.stringContaining('.mp4') as string,
				finished_at: expect.any(String) as string,
			}),
		);
	},
	2 * RUN_LIMIT_MS,
);
