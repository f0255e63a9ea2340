// @seconds 65
import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import type { Workflow } from '../../lab/n8n/workflow';
import {
	compareBooks,
	CREATIONS,
	expectEnd,
	hintsOf,
	IN_ORDER,
	LEDGER,
	ledgerRows,
	unanswered,
	until,
	VIDEOS,
	videosWorkflow,
} from './support/ledger';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

let session: Session;
let emulator: Session['emulator'];
let n8n: Session['n8n'];
let client: Session['client'];

beforeAll(async () => {
	session = await startSession({ videoSeconds: 0.01 });
	({ emulator, n8n, client } = session);
	await client.createCredential({
		name: 'Emulator',
		type: 'agentVideoApi',
		data: { baseUrl: emulator.url, apiKey: 'demo-key' },
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await session.stop();
}, RUN_LIMIT_MS);

afterEach(() => {
	emulator.faults.clear();
});

/** Each shot has a key; two creations are under way at the same time. */
function keyed(path: string, settings: object = {}): Workflow {
	const drawn = videosWorkflow(path, { onError: 'continueErrorOutput' });
	const nodes = drawn.nodes.map((each) => {
		if (each.name !== 'Create Video') return each;
		const options = {
			...(each.parameters['options'] as object),
			idempotencyKey: '={{ $json.prompt }}',
		};
		return { ...each, parameters: { ...each.parameters, options } };
	});
	return { ...drawn, nodes, settings: { ...drawn.settings, ...settings } };
}

/** Starts a batch whose third and fourth creation have no answer yet; returns its execution. */
async function beginBatch(
	drawn: Workflow,
	kind: 'stall' | 'hold' | 'holdBody',
): Promise<readonly [WorkflowRef, string]> {
	const path = drawn.name;
	const ref = await client.importWorkflow(drawn);
	await client.activate(ref);
	emulator.journal.clear();
	emulator.faults.add({ kind, path: CREATIONS, contains: path, skip: 2, count: 9 });
	await postWebhook(`${n8n.url}/webhook/${path}`, { key: path });
	await until(() => emulator.journal.of(CREATIONS).length === 4);
	const [newest] = await client.executions(ref);
	return [ref, newest!.id];
}

const begin = async (path: string, settings?: object) =>
	await beginBatch(keyed(path, settings), 'stall');

/** Starts a batch without keys, and stops it. */
async function beginAndStop(path: string, kind: 'stall' | 'holdBody'): Promise<string> {
	const [, id] = await beginBatch(videosWorkflow(path), kind);
	await client.stop(id);
	expect((await client.waitForExecution(id)).status).toBe('canceled');
	return id;
}

/** The retry of an execution, which creates no video twice. */
async function retry(id: string, path: string): Promise<Execution> {
	emulator.faults.clear();
	const execution = await client.readExecution(await client.retry(id));
	expect(await compareBooks(emulator, client, path)).toStrictEqual(IN_ORDER);
	await expectEnd(client, path, execution);
	return execution;
}

/** The ledger has two tasks, and only the two requests under way as sent. No key is kept. */
async function expectBooks(path: string): Promise<void> {
	await until(async () => (await ledgerRows(client, path)).length === 4, 20_000);
	const rows = await ledgerRows(client, path);
	expect(emulator.journal.of(CREATIONS)).toHaveLength(4);
	expect(unanswered(rows)).toHaveLength(2);
	expect(rows.filter(({ task_id }) => task_id)).toHaveLength(2);
}

it(
	'a stopped batch has only what is under way as sent, and its keys are free at once',
	async () => {
		const [ref, id] = await begin('stopped');
		await client.stop(id);
		await client.waitForExecution(id);
		await expectBooks('stopped');

		// A person finds no video of the two.
		await client.deleteDataTableRows('agent_video_tasks', 'status', 'sent');
		emulator.faults.clear();
		await postWebhook(`${n8n.url}/webhook/stopped`, { key: 'stopped' });
		const again = await client.lastExecution(ref);
		expect(outputItems(again, 'Create Video')).toHaveLength(VIDEOS);
		expect(emulator.tasks.all).toHaveLength(VIDEOS);
	},
	RUN_LIMIT_MS,
);

it(
	'so has a batch that the time limit of its workflow ends',
	async () => {
		const [, id] = await begin('limited', { executionTimeout: 5 });
		await client.waitForExecution(id);
		await expectBooks('limited');
	},
	RUN_LIMIT_MS,
);

it(
	'Stop leaves every task in the ledger, and a retry creates none of them again',
	async () => {
		const id = await beginAndStop('tasks-stay', 'holdBody');
		await until(async () => {
			const { forgotten } = await compareBooks(emulator, client, 'tasks-stay');
			return forgotten.length === 0;
		}, 10_000);
		expect(unanswered(await ledgerRows(client, 'tasks-stay'))).toHaveLength(2);
		await retry(id, 'tasks-stay');
	},
	RUN_LIMIT_MS,
);

it(
	'a retry sends again what a person has deleted from the ledger, and nothing else',
	async () => {
		const stopped = await beginAndStop('deleted-rows', 'stall');
		const first = await retry(stopped, 'deleted-rows');
		expect(unanswered(await ledgerRows(client, 'deleted-rows'))).toHaveLength(2);
		await client.deleteDataTableRows(LEDGER, 'status', 'sent');
		await retry(first.id, 'deleted-rows');
		expect(unanswered(await ledgerRows(client, 'deleted-rows'))).toStrictEqual([]);
	},
	RUN_LIMIT_MS,
);

it(
	'the table is deleted meanwhile: nothing more is sent, it says what to do, and a retry creates the rest',
	async () => {
		const [, id] = await beginBatch(videosWorkflow('deleted-table'), 'hold');
		await client.removeDataTables(LEDGER);
		emulator.faults.clear();
		const execution = await client.waitForExecution(id);
		expect(failureOf(execution)).toMatch(/Task Ledger was left behind/);
		expect(emulator.journal.of(CREATIONS)).toHaveLength(4);
		// What was answered has gone on; the retry creates the rest.
		const again = await client.readExecution(await client.retry(execution.id));
		expect(failureOf(again)).toBe('');
		const { forgotten, ...books } = await compareBooks(emulator, client, 'deleted-table');
		expect({ ...books, forgotten: [] }).toStrictEqual(IN_ORDER);
		expect(forgotten).toStrictEqual(['shot 0', 'shot 1', 'shot 2', 'shot 3']);
	},
	RUN_LIMIT_MS,
);

it(
	'a table of that name with other columns stays as it is',
	async () => {
		await client.removeDataTables(LEDGER);
		await client.createDataTable(
			LEDGER,
			[{ name: 'color', type: 'string' }],
			[{ color: 'red' }],
		);
		const ref = await client.importWorkflow(videosWorkflow('other-columns'));
		await client.activate(ref);
		await postWebhook(`${n8n.url}/webhook/other-columns`, { key: 'other-columns' });
		const execution = await client.lastExecution(ref);
		const rows = await client.dataTableRows(LEDGER);
		await client.removeDataTables(LEDGER);
		expect(rows).toMatchObject([{ color: 'red' }]);
		const columns = ['color', 'createdAt', 'id', 'updatedAt'];
		expect(Object.keys(rows![0]!).sort()).toStrictEqual(columns);
		const { createdTwice } = await compareBooks(emulator, client, 'other-columns');
		expect(createdTwice).toStrictEqual([]);
		await expectEnd(client, 'other-columns', execution);
		expect(hintsOf(execution, 'Create Video')).toContain(LEDGER);
	},
	RUN_LIMIT_MS,
);
