/** What a ledger does when n8n's own log, database or limits are not as usual: each needs an n8n of its own. */
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import type { N8nClient, WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { startRestartableN8n, type RestartableN8n } from '../../lab/n8n/restartableN8n';
import { Running } from '../../lab/services/Running';
import {
	compareBooks,
	CREATIONS,
	expectEnd,
	hintsOf,
	IN_ORDER,
	LEDGER,
	until,
	videosWorkflow,
	type OnError,
} from '../e2e/support/ledger';
import { SET_UP_LIMIT_MS } from '../e2e/support/session';

const LIMIT_MS = 5 * 60_000;

const running = new Running();
let emulator: Emulator;
let n8n: RestartableN8n;
let client: N8nClient;

beforeAll(async () => {
	emulator = running.keep(await startEmulator({ videoSeconds: 0.01 }));
	n8n = running.keep(await startRestartableN8n());
	({ client } = n8n);
	await client.createCredential({
		name: 'Emulator',
		type: 'agentVideoApi',
		data: { baseUrl: emulator.url, apiKey: 'demo-key' },
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, LIMIT_MS);

/** Starts an execution whose third and fourth creation have no answer yet; returns its workflow and its ID. */
async function begin(
	path: string,
	kind: 'stall' | 'hold',
	onError: OnError = 'stopWorkflow',
): Promise<readonly [WorkflowRef, string]> {
	const drawn = videosWorkflow(path, { onError });
	// A retry begins without the run of the node that was added last, and keeps what n8n has noted for the others.
	const ref = await client.importWorkflow({ ...drawn, nodes: drawn.nodes.toReversed() });
	await client.activate(ref);
	emulator.faults.clear();
	emulator.journal.clear();
	emulator.faults.add({ kind, path: CREATIONS, skip: 2, count: 9 });
	await postWebhook(`${n8n.url}/webhook/${path}`, { key: path });
	await until(() => emulator.journal.of(CREATIONS).length === 4);
	const [newest] = await client.executions(ref);
	return [ref, newest!.id];
}

it(
	'an execution that n8n takes for running after a kill is stopped, and its retry repeats no creation',
	async () => {
		const [, id] = await begin('still-running', 'hold');
		await n8n.kill();
		// As after a kill between the two entries.
		await n8n.editEventLog((lines) => lines.filter((line) => !line.includes('n8n.node.')));
		emulator.faults.clear();
		await n8n.start();
		expect((await client.readExecution(id)).status).toBe('running');
		await client.stop(id);
		const execution = await client.readExecution(await client.retry(id));
		expect(await compareBooks(emulator, client, 'still-running')).toStrictEqual(IN_ORDER);
		await expectEnd(client, 'still-running', execution);
	},
	LIMIT_MS,
);

it(
	'another process locks the database meanwhile',
	async () => {
		const [, id] = await begin('locked', 'hold');
		// n8n may be writing at this moment.
		const lock = new DatabaseSync(n8n.database, { timeout: 5_000 });
		lock.exec('BEGIN EXCLUSIVE');
		emulator.faults.clear();
		await sleep(3_000);
		lock.exec('ROLLBACK');
		lock.close();
		const execution = await client.waitForExecution(id);
		const { createdTwice, forgotten } = await compareBooks(emulator, client, 'locked');
		expect({ createdTwice, forgotten }).toStrictEqual({ createdTwice: [], forgotten: [] });
		await expectEnd(client, 'locked', execution);
	},
	LIMIT_MS,
);

it(
	'the tables are full after a crash: a retry reads what is there, and creates the rest',
	async () => {
		const [ref] = await begin('full', 'stall', 'continueErrorOutput');
		await n8n.kill();
		emulator.faults.clear();
		// n8n takes 50 MiB of tables by default: too much for a test.
		await n8n.start({ N8N_DATA_TABLES_MAX_SIZE_BYTES: '1' });
		const { id } = await client.lastExecution(ref);
		const execution = await client.readExecution(await client.retry(id));
		const { createdTwice, invented } = await compareBooks(emulator, client, 'full');
		expect({ createdTwice, invented }).toStrictEqual({ createdTwice: [], invented: [] });
		await expectEnd(client, 'full', execution, 'continueErrorOutput');
		expect(hintsOf(execution, 'Create Video')).toContain(LEDGER);
	},
	LIMIT_MS,
);
