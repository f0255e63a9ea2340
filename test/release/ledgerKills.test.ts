import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import type { N8nClient } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { startRestartableN8n, type RestartableN8n } from '../../lab/n8n/restartableN8n';
import { Running } from '../../lab/services/Running';
import { compareBooks, CREATIONS, expectEnd, until, videosWorkflow } from '../e2e/support/ledger';
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

it(
	'another process locks the database in the middle of creations',
	async () => {
		const ref = await client.importWorkflow(videosWorkflow('locked'));
		await client.activate(ref);
		// Two creations are in the ledger, and two have no answer yet.
		emulator.faults.add({ kind: 'hold', path: CREATIONS, skip: 2, count: 9 });
		await postWebhook(`${n8n.url}/webhook/locked`, { key: 'locked' });
		await until(() => emulator.journal.of(CREATIONS).length === 4);
		const [execution] = await client.executions(ref);
		// n8n may be writing at this moment.
		const lock = new DatabaseSync(n8n.database, { timeout: 5_000 });
		lock.exec('BEGIN EXCLUSIVE');
		emulator.faults.clear();
		await sleep(3_000);
		lock.exec('ROLLBACK');
		lock.close();
		const ended = await client.waitForExecution(execution!.id);
		const { createdTwice, forgotten } = await compareBooks(emulator, client, 'locked');
		expect({ createdTwice, forgotten }).toStrictEqual({ createdTwice: [], forgotten: [] });
		await expectEnd(client, 'locked', ended);
	},
	LIMIT_MS,
);
