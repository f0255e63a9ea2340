// @seconds 65
import { failureOf, outputItems } from '../../lab/n8n/execution';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import type { Workflow } from '../../lab/n8n/workflow';
import {
	compareBooks,
	CREATIONS,
	IN_ORDER,
	LEDGER,
	ledgerRows,
	unanswered,
	until,
	VIDEOS,
	videosWorkflow,
} from './support/ledger';
import { RUN_LIMIT_MS } from './support/session';
import { useSession } from './support/useSession';

const session = useSession({ videoSeconds: 0.01 });

/** Starts a batch whose third and fourth creation have no answer yet; returns its execution. */
async function beginBatch(
	drawn: Workflow,
	kind: 'stall' | 'hold',
): Promise<readonly [WorkflowRef, string]> {
	const path = drawn.name;
	const { client, emulator, n8n } = session;
	const ref = await session.publish(drawn);
	emulator.faults.add({ kind, path: CREATIONS, contains: path, skip: 2, count: 9 });
	await postWebhook(`${n8n.url}/webhook/${path}`, { key: path });
	await until(() => emulator.journal.of(CREATIONS).length === 4);
	const [newest] = await client.executions(ref);
	return [ref, newest!.id];
}

/** Such a batch, in which each shot has a key. */
async function begin(path: string, settings: object = {}): Promise<readonly [WorkflowRef, string]> {
	const drawn = videosWorkflow(path, { onError: 'continueErrorOutput', isKeyed: true });
	const keyed = { ...drawn, settings: { ...drawn.settings, ...settings } };
	return await beginBatch(keyed, 'stall');
}

/** The ledger has two tasks, and only the two requests under way as sent. No key is kept. */
async function expectBooks(path: string): Promise<void> {
	const { client, emulator } = session;
	await until(async () => (await ledgerRows(client, path)).length === 4, 20_000);
	const rows = await ledgerRows(client, path);
	expect(emulator.journal.of(CREATIONS)).toHaveLength(4);
	expect(unanswered(rows)).toHaveLength(2);
	expect(rows.filter(({ task_id }) => task_id)).toHaveLength(2);
}

it(
	'a stopped batch has only what is under way as sent, and its keys are free at once',
	async () => {
		const { client, emulator, n8n } = session;
		const [ref, id] = await begin('stopped');
		await client.stop(id);
		await client.waitForExecution(id);
		await expectBooks('stopped');

		// A person finds no video of the two.
		await client.deleteDataTableRows(LEDGER, 'status', 'sent');
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
		const [, id] = await begin('limited', { executionTimeout: 15 });
		await session.client.waitForExecution(id);
		await expectBooks('limited');
	},
	RUN_LIMIT_MS,
);

it(
	'the table is deleted meanwhile: nothing more is sent, it says what to do, and a retry creates the rest',
	async () => {
		const { client, emulator } = session;
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
