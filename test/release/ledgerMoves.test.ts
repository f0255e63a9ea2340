// @seconds 70
/** What becomes of the task ledger when n8n's own data are moved, restored, or locked by another process. */
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

import type { IDataObject } from 'n8n-workflow';

import { startEmulator } from '../../emulator/startEmulator';
import { failureOf, outputItems } from '../../lab/n8n/execution';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { startRestartableN8n } from '../../lab/n8n/restartableN8n';
import { keyedWorkflow } from '../e2e/support/keyedVideos';
import {
	compareBooks,
	CREATIONS,
	expectEnd,
	LEDGER,
	until,
	videosWorkflow,
} from '../e2e/support/ledger';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from '../e2e/support/session';
import { useSessionOf } from '../e2e/support/useSession';

/** Milliseconds for an execution whose writes wait for the database. */
const LOCKED_LIMIT_MS = 5 * 60_000;

const session = useSessionOf(async (running) => {
	const emulator = running.keep(await startEmulator({ videoSeconds: 0.01 }));
	const n8n = running.keep(await startRestartableN8n());
	return { emulator, n8n, client: n8n.client };
});
let home: string;

beforeAll(async () => {
	home = await session.client.personalProject();
}, SET_UP_LIMIT_MS);

/** Publishes a workflow that creates the video of a key. */
const publish = (path: string) => session.publish(keyedWorkflow(path));

/** Runs a workflow in production; returns its output, or why it failed. */
async function run(ref: WorkflowRef, path: string, key = path): Promise<IDataObject | string> {
	const { client, n8n } = session;
	await postWebhook(`${n8n.url}/webhook/${path}`, { key }).catch(() => undefined);
	const execution = await client.lastExecution(ref);
	const failure = failureOf(execution);
	return failure === '' ? outputItems(execution, 'Create Video')[0]!.json : failure;
}

const created = (path: string) =>
	session.emulator.tasks.all.filter(({ video }) => video.prompt.includes(path)).length;

it(
	'another process locks the database in the middle of creations: each is paid for once',
	async () => {
		const { client, emulator, n8n } = session;
		const ref = await session.publish(videosWorkflow('locked'));
		// Two have a task by then, and two have no answer yet.
		emulator.faults.add({ kind: 'hold', path: CREATIONS, skip: 2, count: 9 });
		await postWebhook(`${n8n.url}/webhook/locked`, { key: 'locked' });
		await until(() => emulator.journal.of(CREATIONS).length === 4);
		const [begun] = await client.executions(ref);
		// n8n may be writing at this moment.
		const lock = new DatabaseSync(n8n.database, { timeout: 5_000 });
		lock.exec('BEGIN EXCLUSIVE');
		emulator.faults.clear();
		await sleep(3_000);
		lock.exec('ROLLBACK');
		lock.close();
		const execution = await client.waitForExecution(begun!.id);
		const { createdTwice, forgotten } = await compareBooks(emulator, client, 'locked');
		expect({ createdTwice, forgotten }).toStrictEqual({ createdTwice: [], forgotten: [] });
		await expectEnd(client, 'locked', execution);
	},
	LOCKED_LIMIT_MS,
);

it(
	'a workflow that is moved to another project pays for nothing twice, and says what to do',
	async () => {
		const { client } = session;
		const ref = await publish('moved');
		const first = await run(ref, 'moved');
		expect(first).toMatchObject({ task_id: expect.any(String) as string });
		const other = await client.invite('jane@example.com');
		await client.transfer(ref, other.project);
		expect(await run(ref, 'moved')).toMatch(/Task Ledger was left behind/);
		expect(created('moved')).toBe(1);

		await client.transfer(ref, home);
		expect(await run(ref, 'moved')).toMatchObject({ reused: true });
		expect(created('moved')).toBe(1);

		// A person starts without them.
		await client.transfer(ref, other.project);
		await client.insertDataTableRows(LEDGER, other.project, [{ workflow_id: ref.id }]);
		expect(await run(ref, 'moved')).not.toHaveProperty('reused');
		expect(created('moved')).toBe(2);
	},
	RUN_LIMIT_MS,
);

it(
	'the workflows of a user who is deleted pay for nothing twice: n8n renames their table, and they say so',
	async () => {
		const { client, n8n } = session;
		const leaver = await client.invite('john@example.com');
		const ref = await publish('left');
		await client.transfer(ref, leaver.project);
		expect(await run(ref, 'left')).toMatchObject({ task_id: expect.any(String) as string });
		// The table of the project that takes over is another one.
		const own = await publish('own');
		await run(own, 'own');
		await client.deleteUser(leaver.id, home);
		await n8n.kill();
		await n8n.start();

		for (const [each, path] of [
			[ref, 'left'],
			[own, 'own'],
		] as const) {
			const isLost = path === 'left';
			const found = await run(each, path);
			if (isLost) expect(found).toMatch(/Task Ledger was left behind/);
			else expect(found).toMatchObject({ reused: true });
			expect(created(path)).toBe(1);
		}
	},
	2 * RUN_LIMIT_MS,
);

it(
	'a backup of n8n has the paid videos; what came later is created again',
	async () => {
		const { n8n } = session;
		const ref = await publish('backup');
		await run(ref, 'backup');
		await n8n.kill();
		const backup = join(dirname(n8n.database), 'backup');
		await n8n.run('export:entities', '--outputDir', backup);
		await n8n.start();
		await run(ref, 'backup', 'later');

		await n8n.kill();
		await rm(n8n.database);
		await n8n.run('import:entities', '--inputDir', backup, '--truncateTables');
		await n8n.start();
		expect(await run(ref, 'backup')).toMatchObject({ reused: true });
		expect(created('backup')).toBe(1);
		expect(await run(ref, 'backup', 'later')).not.toHaveProperty('reused');
		expect(created('later')).toBe(2);
	},
	2 * RUN_LIMIT_MS,
);
