// @seconds 10
import type { IDataObject } from 'n8n-workflow';

import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import type { N8nClient, WorkflowRef } from '../../lab/n8n/N8nClient';
import { node, workflow } from './support/buildWorkflow';
import { CREATIONS, hintsOf, LEDGER } from './support/ledger';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

let session: Session;
let emulator: Session['emulator'];
let client: N8nClient;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 0.01 });
	({ emulator, client } = session);
	// The first test reads the whole table.
	await client.removeDataTables(LEDGER);
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
	await session.stop();
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
