// @seconds 200
/**
 * Seeded storms: several executions ask for the same keys at the same moment while n8n is killed, stands still, or is told to
 * stop. Then a person looks at the service, and the workflow runs again. `STORMS` sets how many there are for each database;
 * with `FAKETIME` as the path of libfaketimeMT.so.1 (Debian's package libfaketime) the wall clock of n8n is moved, too.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import type { N8nClient, WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { startRestartableN8n } from '../../lab/n8n/restartableN8n';
import type { Running } from '../../lab/services/Running';
import { seededRandom } from '../support/seededRandom';
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
} from '../e2e/support/ledger';
import { isAlive, SHORT_INTERVALS, startQueueSession } from '../e2e/support/queueSession';
import { SET_UP_LIMIT_MS } from '../e2e/support/session';
import { useSessionOf } from '../e2e/support/useSession';

const STORMS = Number(process.env['STORMS'] ?? 4);
/** Executions at the same moment. */
const RIVALS = 3;
const LIMIT_MS = 10 * 60_000;

/** What happens in the middle of the creations. */
type Happening = 'kill' | 'pause' | 'stop' | 'clock';
const FAKETIME = process.env['FAKETIME'];
const HAPPENINGS: readonly Happening[] = [
	'kill',
	'pause',
	'stop',
	...(FAKETIME === undefined ? [] : (['clock'] as const)),
];

/** How far the wall clock jumps: an hour back, ten minutes ahead, a day ahead, two days back. */
const JUMPS_S = [-3_600, 600, 86_400, -172_800] as const;

/** An n8n to which things happen. */
interface Site {
	readonly client: N8nClient;
	readonly emulator: Emulator;
	readonly url: string;
	readonly kill: () => Promise<void>;
	/** The processes that run executions. */
	readonly processes: () => readonly number[];
	/** Sets the wall clock of one process off by seconds; its timers go on. */
	readonly moveClock: (seconds: number) => Promise<void>;
}

/** A wall clock that can be set while its process runs. */
interface Clock {
	/** Environment variables of the process. */
	readonly settings: Readonly<Record<string, string>>;
	readonly move: (seconds: number) => Promise<void>;
	/** Removes its file. */
	readonly stop: () => Promise<void>;
}

async function newClock(): Promise<Clock> {
	const nothing = async () => undefined;
	if (FAKETIME === undefined) return { settings: {}, move: nothing, stop: nothing };
	const folder = await mkdtemp(join(tmpdir(), 'storm-clock-'));
	const file = join(folder, 'time');
	const move = async (seconds: number) => {
		await writeFile(file, `${seconds < 0 ? '' : '+'}${seconds}`);
	};
	await move(0);
	return {
		settings: {
			LD_PRELOAD: FAKETIME,
			FAKETIME_TIMESTAMP_FILE: file,
			FAKETIME_CACHE_DURATION: '1',
			DONT_FAKE_MONOTONIC: '1',
			NO_FAKE_STAT: '1',
		},
		move,
		stop: async () => {
			await rm(folder, { recursive: true });
		},
	};
}

async function sqliteSite(running: Running): Promise<Site> {
	const clock = running.keep(await newClock());
	const emulator = running.keep(await startEmulator({ videoSeconds: 0.01 }));
	const n8n = running.keep(await startRestartableN8n(clock.settings));
	return {
		emulator,
		client: n8n.client,
		url: n8n.url,
		kill: async () => {
			await n8n.kill();
			await n8n.start();
		},
		processes: () => [n8n.pid()],
		moveClock: clock.move,
	};
}

async function postgresSite(running: Running): Promise<Site> {
	const { queue, client, emulator } = await startQueueSession(running, {
		videoSeconds: 0.01,
		workers: 0,
		settings: SHORT_INTERVALS,
	});
	const clocks: Clock[] = [];
	const addWorker = async () => {
		const clock = running.keep(await newClock());
		clocks.push(clock);
		await queue.addWorker(clock.settings);
	};
	for (let worker = 0; worker < RIVALS; worker++) await addWorker();
	const alive = () => queue.workers.filter(isAlive);
	return {
		emulator,
		client,
		url: queue.main.url,
		kill: async () => {
			await alive()[0]!.kill();
			await addWorker();
		},
		processes: () => alive().map(({ pid }) => pid),
		moveClock: async (seconds) => {
			await clocks[queue.workers.indexOf(alive()[0]!)]!.move(seconds);
		},
	};
}

describe.each([
	['SQLite', sqliteSite, 31],
	['PostgreSQL and two workers', postgresSite, 32],
] as const)('%s', (name, start, seed) => {
	const site = useSessionOf(start);
	let ref: WorkflowRef;
	const path = name.split(' ')[0]!;
	const random = seededRandom(seed);

	beforeAll(async () => {
		ref = await site.publish(videosWorkflow(path, { isKeyed: true }));
	}, SET_UP_LIMIT_MS);

	const begin = async (key: string) => {
		await postWebhook(`${site.url}/webhook/${path}`, { key }).catch(() => undefined);
	};
	/** The executions that have not ended; one that n8n takes for running after a kill is stopped, as a person would. */
	async function endAll(): Promise<void> {
		const isOpen = async () => {
			const all = await site.client.executions(ref);
			return all.filter(({ status }) => ['new', 'running'].includes(status));
		};
		await until(async () => (await isOpen()).length === 0, 100_000).catch(async () => {
			for (const { id } of await isOpen()) await site.client.stop(id);
		});
	}

	const storms = Array.from({ length: STORMS }, (_, index) => ({
		index: index + 1,
		happening: HAPPENINGS[index % HAPPENINGS.length]!,
		after: Math.floor(random() * VIDEOS),
		laterMs: Math.floor(random() * 80),
		jumpS: JUMPS_S[Math.floor(random() * JUMPS_S.length)]!,
		pauseMs: index === 1 ? 70_000 : 2_000 + Math.floor(random() * 3_000),
	}));

	it.each(storms)(
		'storm $index: $happening after $after creations, $laterMs ms later',
		async ({ index, happening, after, laterMs, pauseMs, jumpS }) => {
			const { client, emulator } = site;
			const key = `${path}-${index}`;
			emulator.journal.clear();
			await Promise.all(
				Array.from({ length: RIVALS }, async () => {
					await begin(key);
				}),
			);
			await until(() => emulator.journal.of(CREATIONS).length > after);
			await sleep(laterMs);
			if (happening === 'kill') await site.kill();
			if (happening === 'stop') {
				for (const { id, status } of await client.executions(ref))
					if (status === 'running') await client.stop(id).catch(() => undefined);
			}
			if (happening === 'clock') await site.moveClock(jumpS);
			if (happening === 'pause') {
				const [pid] = site.processes();
				process.kill(pid!, 'SIGSTOP');
				await sleep(pauseMs);
				process.kill(pid!, 'SIGCONT');
			}
			await endAll();
			expect(await compareBooks(emulator, client, key)).toStrictEqual(IN_ORDER);

			// A person looks for what has no answer at the service.
			const open = unanswered(await ledgerRows(client, key)).map(({ prompt }) => prompt);
			for (const { id, prompt, status } of await ledgerRows(client, key)) {
				if (status !== 'sent' || !open.includes(String(prompt))) continue;
				const task = emulator.tasks.all.find(({ video }) => video.prompt === prompt);
				if (task === undefined) await client.deleteDataTableRows(LEDGER, 'id', String(id));
				else
					await client.updateDataTableRows(LEDGER, ['id', String(id)], {
						task_id: task.id,
					});
			}
			await begin(key);
			await endAll();
			// n8n lists them by their start, which a moved clock has written.
			const ids = (await client.executions(ref)).map(({ id }) => Number(id));
			const execution = await client.waitForExecution(String(Math.max(...ids)));
			expect(execution.status).toBe('success');
			expect(await compareBooks(emulator, client, key)).toStrictEqual(IN_ORDER);
			const rows = await ledgerRows(client, key);
			expect(rows.map(({ status }) => status)).toStrictEqual(Array(VIDEOS).fill('done'));
			const made = emulator.tasks.all.filter(({ video }) =>
				video.prompt.startsWith(`${key} `),
			);
			expect(made).toHaveLength(VIDEOS);
		},
		LIMIT_MS,
	);
});
