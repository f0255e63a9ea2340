// @seconds 75
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { failureOf, type Execution } from '../../lab/n8n/execution';
import type { N8nClient, WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { startRestartableN8n, type RestartableN8n } from '../../lab/n8n/restartableN8n';
import type { Workflow } from '../../lab/n8n/workflow';
import { Running } from '../../lab/services/Running';
import { seededRandom } from '../support/seededRandom';
import { thorough } from '../support/thorough';
import {
	callingWorkflow,
	compareBooks,
	CREATIONS,
	expectEnd,
	hintsOf,
	IN_ORDER,
	LEDGER,
	ledgerRows,
	loopWorkflow,
	MOMENTS,
	POLLS,
	prepare,
	requestsOf,
	until,
	unanswered,
	VIDEOS,
	videosWorkflow,
	type Moment,
	type OnError,
} from './support/ledger';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

/** How often n8n is killed, in executions that are killed up to three times each. Workers are killed in test/release/ledgerQueue.test.ts. */
const KILLS = thorough(MOMENTS.length, 20);
const MOST_KILLS = 3;
/** What costs a start of n8n, or needs its database, and is shown by the engine in process (test/nodes/createVideoLedger.test.ts). */
const itThoroughly = thorough(it.skip, it);
/** n8n writes an answer to its table within this time: some kills hit it. */
const LATER_MS = 80;
/** n8n recovers crashed executions while it starts, and goes on with those that it had only queued. */
const RECOVERY_MS = 30_000;
const LIMIT_MS = 5 * 60_000;

/**
 * The node that starts the workflow was added last. A retry begins without the run of the node that is last in the list,
 * and keeps what n8n has noted for the others of a crashed execution.
 */
const startLast = (each: Workflow): Workflow => ({ ...each, nodes: each.nodes.toReversed() });

const WORKFLOWS = {
	loop: loopWorkflow('loops'),
	stopWorkflow: videosWorkflow('stops'),
	continueErrorOutput: startLast(videosWorkflow('continues', { onError: 'continueErrorOutput' })),
	retryOnFail: startLast(
		videosWorkflow('retries', {
			more: { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 },
		}),
	),
	rewritten: videosWorkflow('rewritten', {
		more: {
			parameters: {
				prompt: '={{ $json.prompt }} in {{ $execution.id }}',
				options: {
					concurrency: 2,
					idempotencyKey: '={{ $json.prompt }}',
				},
			},
		},
	}),
	// Each has a ledger of its own to lose: one that has lost it sends nothing more.
	otherColumns: videosWorkflow('other-columns'),
	deleted: videosWorkflow('deleted'),
	locked: videosWorkflow('locked'),
	full: startLast(videosWorkflow('full', { onError: 'continueErrorOutput' })),
} as const;

const running = new Running();
let emulator: Emulator;
let n8n: RestartableN8n;
let client: N8nClient;
let refs: Readonly<Record<keyof typeof WORKFLOWS, WorkflowRef>>;

beforeAll(async () => {
	// A video is finished at its first poll.
	emulator = running.keep(await startEmulator({ videoSeconds: 0.01 }));
	n8n = running.keep(await startRestartableN8n());
	({ client } = n8n);
	await client.createCredential({
		name: 'Emulator',
		type: 'agentVideoApi',
		data: { baseUrl: emulator.url, apiKey: 'demo-key' },
	});
	const published = Object.entries(WORKFLOWS).map(async ([name, each]) => {
		const ref = await client.importWorkflow(each);
		await client.activate(ref);
		return [name, ref] as const;
	});
	refs = Object.fromEntries(await Promise.all(published)) as typeof refs;
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

let tries = 0;

beforeEach(() => {
	tries++;
});

afterEach(() => {
	emulator.faults.clear();
});

/** Begins the prompts of the videos of the running test; another one when a failed test is repeated. */
const key = () => `${expect.getState().currentTestName!.replace(/\W+/g, '-')}-${tries}`;

/** Starts an execution by its webhook; returns its ID. */
async function begin(name: keyof typeof WORKFLOWS): Promise<string> {
	emulator.journal.clear();
	await postWebhook(`${n8n.url}/webhook/${WORKFLOWS[name].name}`, { key: key() });
	const [newest] = await client.executions(refs[name]);
	return newest!.id;
}

/** Starts the retry of an execution; `ended` is true when it has ended. */
function beginRetry(id: string): { ended: boolean; readonly end: Promise<string> } {
	emulator.journal.clear();
	const retry = { ended: false, end: client.retry(id) };
	// A killed n8n breaks the connection.
	const end = () => (retry.ended = true);
	retry.end.then(end, end);
	return retry;
}

const hasCome = (moment: Moment) => moment.hasCome(requestsOf(emulator, key()));

/**
 * Kills n8n, starts it again, and waits until the newest execution has ended: n8n finds it crashed. One that was killed
 * after its start was logged and before that of its first node stays "running" in n8n: it is stopped as a person would.
 */
async function killAndRestart(
	name: keyof typeof WORKFLOWS,
	settings?: Record<string, string>,
): Promise<Execution> {
	await n8n.kill();
	emulator.faults.clear();
	await n8n.start(settings);
	const [newest] = await client.executions(refs[name]);
	const { id } = newest!;
	return await client.waitForExecution(id, { limitMs: RECOVERY_MS }).catch(async () => {
		await client.stop(id);
		return await client.waitForExecution(id);
	});
}

/** Runs an execution whose every try is killed at a moment, and is retried after it; returns the last try. */
async function runThrough(
	name: keyof typeof WORKFLOWS,
	kills: readonly Kill[],
): Promise<Execution> {
	let retry: ReturnType<typeof beginRetry> | undefined;
	let execution: Execution | undefined;
	for (const { moment, laterMs } of kills) {
		prepare(emulator, key(), moment);
		if (execution === undefined) await begin(name);
		else retry = beginRetry(execution.id);
		// A retry that has no such request left polls the videos of the known tasks.
		const polls = () => retry !== undefined && emulator.journal.of(POLLS).length > 0;
		await until(() => hasCome(moment) || polls() || retry?.ended === true);
		await sleep(laterMs);
		execution = await killAndRestart(name);
		// A retry may need no request that it could be killed at.
		if (!['crashed', 'canceled'].includes(execution.status)) return execution;
	}
	emulator.journal.clear();
	return await client.readExecution(await client.retry(execution!.id));
}

/** A moment at which n8n is killed, or a little later: while it may be writing to the ledger. */
interface Kill {
	readonly moment: Moment;
	readonly laterMs: number;
}

/** Groups of kills, each for one execution and its retries. All kinds of moments take part equally often. */
function drawKills(): Kill[][] {
	const random = seededRandom(18);
	const draw = (below: number) => Math.floor(random() * below);
	const kills = Array.from({ length: KILLS }, (_, index): Kill => ({
		moment: MOMENTS[index % MOMENTS.length]!(draw(VIDEOS)),
		laterMs: draw(LATER_MS),
	})).sort(() => random() - 0.5);
	const groups: Kill[][] = [];
	while (kills.length > 0) groups.push(kills.splice(0, 1 + draw(MOST_KILLS)));
	return groups;
}

it.each(
	drawKills().map((kills, index): [string, OnError, Kill[]] => [
		`${index + 1}: ${kills.map(({ moment, laterMs }) => `${moment.name} + ${laterMs} ms`).join('; then ')}`,
		index % 2 === 0 ? 'stopWorkflow' : 'continueErrorOutput',
		kills,
	]),
)(
	'n8n is killed %s (%s)',
	async (_name, onError, kills) => {
		const execution = await runThrough(onError, kills);
		expect(await compareBooks(emulator, client, key())).toStrictEqual(IN_ORDER);
		await expectEnd(client, key(), execution, onError);
	},
	LIMIT_MS,
);

itThoroughly(
	'an execution that n8n takes for running after a kill is stopped, and its retry repeats no creation',
	async () => {
		emulator.faults.add({ kind: 'hold', path: CREATIONS, skip: 2, count: 2 });
		const id = await begin('stopWorkflow');
		await until(() => emulator.journal.of(CREATIONS).length === 4);
		await n8n.kill();
		// As after a kill between the two entries.
		await n8n.editEventLog((lines) => lines.filter((line) => !line.includes('n8n.node.')));
		emulator.faults.clear();
		await n8n.start();
		expect((await client.readExecution(id)).status).toBe('running');
		await client.stop(id);
		const execution = await client.readExecution(await client.retry(id));
		expect(await compareBooks(emulator, client, key())).toStrictEqual(IN_ORDER);
		await expectEnd(client, key(), execution);
	},
	LIMIT_MS,
);

itThoroughly(
	'Retry On Fail repeats no creation, also when n8n is killed in between',
	async () => {
		// The third creation is rejected once: n8n tries the node again, and is killed in this try.
		emulator.faults.add(
			{ kind: 'status', status: 402, path: CREATIONS, skip: 2 },
			{ kind: 'holdBody', path: CREATIONS, skip: 4, count: 9 },
		);
		const id = await begin('retryOnFail');
		await until(() => emulator.journal.of(CREATIONS).length === 7);
		await killAndRestart('retryOnFail');
		const execution = await client.readExecution(await client.retry(id));
		expect(await compareBooks(emulator, client, key())).toStrictEqual(IN_ORDER);
		await expectEnd(client, key(), execution);
	},
	LIMIT_MS,
);

itThoroughly(
	'a retry that asks for something else under a key of its killed try says at once that it is in use',
	async () => {
		emulator.faults.add({ kind: 'stall', path: CREATIONS, count: 9 });
		const id = await begin('rewritten');
		await until(() => emulator.journal.of(CREATIONS).length === 2);
		await killAndRestart('rewritten');
		const retry = beginRetry(id);
		// Another execution would wait for 90 s.
		await until(() => retry.ended, 60_000);
		const execution = await client.readExecution(await retry.end);
		expect(failureOf(execution)).toMatch(/Idempotency Key is in use: execution/);
		expect(emulator.journal.of(CREATIONS)).toStrictEqual([]);
	},
	LIMIT_MS,
);

it(
	'a retry knows the videos of each round of a loop and of each call of a sub-workflow',
	async () => {
		const calling = await client.importWorkflow(await callingWorkflow('calls', client));
		await client.activate(calling);
		const executions = [
			{ key: `${key()}-loop`, path: WORKFLOWS.loop.name, ref: refs.loop },
			{ key: `${key()}-calls`, path: 'calls', ref: calling },
		];
		emulator.faults.add({ kind: 'stall', path: POLLS, count: 99 });
		for (const each of executions) {
			await postWebhook(`${n8n.url}/webhook/${each.path}`, { key: each.key });
			await until(async () => {
				const rows = await ledgerRows(client, each.key);
				return rows.filter(({ status }) => status !== 'sent').length === VIDEOS;
			});
		}
		await n8n.kill();
		emulator.faults.clear();
		await n8n.start();
		for (const each of executions) {
			const { id } = await client.lastExecution(each.ref);
			const execution = await client.readExecution(await client.retry(id));
			expect(await compareBooks(emulator, client, each.key)).toStrictEqual(IN_ORDER);
			await expectEnd(client, each.key, execution);
		}
	},
	LIMIT_MS,
);

it(
	'Stop leaves every task in the ledger, and a retry creates none of them again',
	async () => {
		emulator.faults.add({ kind: 'holdBody', path: CREATIONS, skip: 2, count: 9 });
		const id = await begin('stopWorkflow');
		await until(() => emulator.journal.of(CREATIONS).length === 4);
		await client.stop(id);
		expect((await client.waitForExecution(id)).status).toBe('canceled');
		await until(async () => {
			const { forgotten } = await compareBooks(emulator, client, key());
			return forgotten.length === 0;
		}, 10_000);
		const rows = await ledgerRows(client, key());
		expect(unanswered(rows)).toHaveLength(2);

		emulator.faults.clear();
		const execution = await client.readExecution(await client.retry(id));
		expect(await compareBooks(emulator, client, key())).toStrictEqual(IN_ORDER);
		await expectEnd(client, key(), execution);
	},
	LIMIT_MS,
);

itThoroughly(
	'a retry sends again what a person has deleted from the ledger, and nothing else',
	async () => {
		emulator.faults.add({ kind: 'stall', path: CREATIONS, skip: 2, count: 9 });
		const stopped = await begin('stopWorkflow');
		await until(() => emulator.journal.of(CREATIONS).length === 4);
		await client.stop(stopped);
		await client.waitForExecution(stopped);
		emulator.faults.clear();

		const first = await client.readExecution(await client.retry(stopped));
		await expectEnd(client, key(), first);
		expect(unanswered(await ledgerRows(client, key()))).toHaveLength(2);
		await client.deleteDataTableRows(LEDGER, 'status', 'sent');

		emulator.journal.clear();
		const second = await client.readExecution(await client.retry(first.id));
		expect(await compareBooks(emulator, client, key())).toStrictEqual(IN_ORDER);
		expect(unanswered(await ledgerRows(client, key()))).toStrictEqual([]);
		await expectEnd(client, key(), second);
	},
	LIMIT_MS,
);

describe('a ledger that cannot be written', () => {
	/** An execution whose creations after the first two wait for `meanwhile`. */
	async function runWith(
		name: 'deleted' | 'locked',
		meanwhile: () => Promise<void>,
	): Promise<Execution> {
		emulator.faults.add({ kind: 'hold', path: CREATIONS, skip: 2, count: 2 });
		const id = await begin(name);
		await until(() => emulator.journal.of(CREATIONS).length === 4);
		await meanwhile();
		emulator.faults.clear();
		return await client.waitForExecution(id);
	}

	itThoroughly(
		'a table of that name with other columns stays as it is',
		async () => {
			await client.removeDataTables(LEDGER);
			const columns = [{ name: 'color', type: 'string' }] as const;
			await client.createDataTable(LEDGER, columns, [{ color: 'red' }]);
			const execution = await client.waitForExecution(await begin('otherColumns'));
			const rows = await client.dataTableRows(LEDGER);
			await client.removeDataTables(LEDGER);
			expect(rows).toMatchObject([{ color: 'red' }]);
			expect(Object.keys(rows![0]!).sort()).toStrictEqual([
				'color',
				'createdAt',
				'id',
				'updatedAt',
			]);
			const { createdTwice } = await compareBooks(emulator, client, key());
			expect(createdTwice).toStrictEqual([]);
			await expectEnd(client, key(), execution);
			expect(hintsOf(execution, 'Create Video')).toContain(LEDGER);
		},
		LIMIT_MS,
	);

	it(
		'the table is deleted meanwhile: nothing more is sent, it says what to do, and a retry creates the rest',
		async () => {
			const execution = await runWith('deleted', () => client.removeDataTables(LEDGER));
			expect(failureOf(execution)).toMatch(/Task Ledger was left behind/);
			expect(
				requestsOf(emulator, key()).filter(({ path }) => path === CREATIONS),
			).toHaveLength(4);
			// What was answered has gone on; the retry creates the rest.
			const retry = await client.readExecution(await client.retry(execution.id));
			expect(failureOf(retry)).toBe('');
			const { forgotten, ...books } = await compareBooks(emulator, client, key());
			expect({ ...books, forgotten: [] }).toStrictEqual(IN_ORDER);
			expect(forgotten).toStrictEqual(['shot 0', 'shot 1', 'shot 2', 'shot 3']);
		},
		LIMIT_MS,
	);

	itThoroughly(
		'another process locks the database meanwhile',
		async () => {
			let lock: DatabaseSync | undefined;
			const execution = await runWith('locked', async () => {
				// n8n may be writing at this moment.
				lock = new DatabaseSync(n8n.database, { timeout: 5_000 });
				lock.exec('BEGIN EXCLUSIVE');
				emulator.faults.clear();
				await sleep(3_000);
				lock.exec('ROLLBACK');
				lock.close();
			});
			const { createdTwice, forgotten } = await compareBooks(emulator, client, key());
			expect({ createdTwice, forgotten }).toStrictEqual({ createdTwice: [], forgotten: [] });
			await expectEnd(client, key(), execution);
		},
		LIMIT_MS,
	);

	itThoroughly(
		'the tables are full after a crash: a retry reads what is there, and creates the rest',
		async () => {
			emulator.faults.add({ kind: 'stall', path: CREATIONS, skip: 2, count: 9 });
			const id = await begin('full');
			await until(() => emulator.journal.of(CREATIONS).length === 4);
			// n8n takes 50 MiB of tables by default: too much for a test.
			await killAndRestart('full', { N8N_DATA_TABLES_MAX_SIZE_BYTES: '1' });
			const execution = await client.readExecution(await client.retry(id));
			const { createdTwice, invented } = await compareBooks(emulator, client, key());
			expect({ createdTwice, invented }).toStrictEqual({ createdTwice: [], invented: [] });
			await expectEnd(client, key(), execution, 'continueErrorOutput');
			expect(hintsOf(execution, 'Create Video')).toContain(LEDGER);
		},
		LIMIT_MS,
	);
});
