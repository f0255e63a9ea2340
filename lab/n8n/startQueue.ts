import { randomUUID } from 'node:crypto';

import { freePort } from '../services/freePort';
import { Running } from '../services/Running';
import { startN8n, type N8n } from './startN8n';
import { startPostgres, type Postgres } from '../services/startPostgres';
import { startRedis } from '../services/startRedis';
import type { Server } from '../services/startServer';

/** A worker of n8n's queue mode. */
export interface Worker extends N8n {
	/** Ids of the executions that it has taken from the queue, in order. */
	executions(): readonly string[];
}

/** An n8n in queue mode: one main process, and workers that run the executions. */
export interface Queue {
	readonly main: N8n;
	/** Those that were started, the killed ones too. */
	readonly workers: readonly Worker[];
	/** Starts one more worker. */
	addWorker(): Promise<Worker>;
	/** Stops all of it; safe to call twice. */
	stop(): Promise<void>;
}

export interface QueueOptions {
	/** How many workers; 2 by default. */
	readonly workers?: number;
	/** Executions that a worker runs at a time; 5 by default, as n8n advises at least. */
	readonly concurrency?: number;
	/** Variables of every n8n process on top of the lab's own. */
	readonly settings?: Readonly<Record<string, string>>;
	/** Told in a line what begins. */
	readonly onProgress?: (text: string) => void;
}

/**
 * Starts PostgreSQL, Redis, and an n8n in queue mode with the built package in every process, all on the loopback
 * address. It ends with this process at the latest.
 *
 * @throws Error with the end of the log of what does not start; the rest is stopped again.
 */
export async function startQueue(options: QueueOptions = {}): Promise<Queue> {
	const { workers = 2, concurrency = 5, onProgress = () => undefined } = options;
	const running = new Running();
	try {
		const database = running.keep(await startPostgres(onProgress));
		const redis = running.keep(await startRedis(onProgress));
		const settings = { ...queueSettings(database, redis), ...options.settings };

		onProgress('Starting n8n in queue mode: about half a minute');
		// The main process makes the tables that the workers need.
		const main = running.keep(await startN8n({ settings }));
		const started: Worker[] = [];
		const addWorker = async () => {
			const worker = running.keep(await startWorker(settings, concurrency));
			started.push(worker);
			return worker;
		};
		while (started.length < workers) await addWorker();
		return { main, workers: started, addWorker, stop: () => running.stop() };
	} catch (error) {
		await running.stop();
		throw error;
	}
}

/** What all n8n processes of one installation share. */
function queueSettings(database: Postgres, redis: Server): Readonly<Record<string, string>> {
	return {
		EXECUTIONS_MODE: 'queue',
		OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true',
		// Each process has a folder of its own, and all of them read the same credentials.
		N8N_ENCRYPTION_KEY: randomUUID(),
		DB_TYPE: 'postgresdb',
		DB_POSTGRESDB_HOST: '127.0.0.1',
		DB_POSTGRESDB_PORT: String(database.port),
		DB_POSTGRESDB_USER: database.user,
		DB_POSTGRESDB_PASSWORD: database.password,
		DB_POSTGRESDB_DATABASE: database.database,
		QUEUE_BULL_REDIS_HOST: '127.0.0.1',
		QUEUE_BULL_REDIS_PORT: String(redis.port),
	};
}

async function startWorker(
	settings: Readonly<Record<string, string>>,
	concurrency: number,
): Promise<Worker> {
	const port = await freePort();
	const worker = await startN8n({
		port,
		command: ['worker', `--concurrency=${concurrency}`],
		settings: {
			...settings,
			QUEUE_HEALTH_CHECK_ACTIVE: 'true',
			QUEUE_HEALTH_CHECK_PORT: String(port),
			N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
		},
		keptLogLines: 10_000,
	});
	const executions = () =>
		[...worker.log().matchAll(/Worker started execution (\d+)/g)].map(([, id = '']) => id);
	return { ...worker, executions };
}
