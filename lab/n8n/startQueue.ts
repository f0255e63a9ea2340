import { randomUUID } from 'node:crypto';

import { freePort } from '../services/freePort';
import { Running } from '../services/Running';
import { startN8n, type N8n } from './startN8n';
import { startPostgres, type Postgres } from '../services/startPostgres';
import { startRedis } from '../services/startRedis';
import type { Server } from '../services/startServer';

/** A worker process of n8n's queue mode. */
export interface Worker extends N8n {
	/** IDs of the executions that it has taken from the queue, in order. */
	executions(): readonly string[];
}

/** An n8n in queue mode: one main process, and worker processes that run the executions. */
export interface Queue {
	/** The main process that runs now. */
	readonly main: N8n;
	/** All workers that were started, including killed ones. */
	readonly workers: readonly Worker[];
	/** Starts another worker, with additional environment variables of its own. */
	addWorker(settings?: Readonly<Record<string, string>>): Promise<Worker>;
	/** Kills the main process and starts another one at the same address. */
	replaceMain(): Promise<void>;
	/** Stops all processes. Can be called more than once. */
	stop(): Promise<void>;
}

export interface QueueOptions {
	/** Number of workers; 2 by default. */
	readonly workers?: number;
	/** Concurrency of a worker; 5 by default, the minimum that n8n recommends. */
	readonly concurrency?: number;
	/** Additional environment variables of every n8n process. */
	readonly settings?: Readonly<Record<string, string>>;
	/** Whether the package is installed in every n8n process; true by default. */
	readonly withPackage?: boolean;
	/** Whether the main process serves n8n's editor; true by default, see `N8nOptions`. */
	readonly editor?: boolean;
	/** Called with one line when a step starts. */
	readonly onProgress?: (text: string) => void;
}

/**
 * Starts PostgreSQL, Redis and n8n in queue mode on the loopback address, by default with the built package installed in
 * every n8n process. They stop when this process ends.
 *
 * @throws Error with the end of the log of the program that does not start; the others are stopped.
 */
export async function startQueue(options: QueueOptions = {}): Promise<Queue> {
	const {
		workers = 2,
		concurrency = 5,
		withPackage = true,
		editor = true,
		onProgress = () => undefined,
	} = options;
	const running = new Running();
	try {
		const database = running.keep(await startPostgres(onProgress));
		const redis = running.keep(await startRedis(onProgress));
		const settings = { ...queueSettings(database, redis), ...options.settings };

		onProgress('Starting n8n in queue mode: about half a minute');
		// The main process creates the tables that the workers need.
		let main = running.keep(await startN8n({ settings, withPackage, editor }));
		const started: Worker[] = [];
		const addWorker: Queue['addWorker'] = async (own = {}) => {
			const worker = running.keep(
				await startWorker({ ...settings, ...own }, concurrency, withPackage),
			);
			started.push(worker);
			return worker;
		};
		while (started.length < workers) await addWorker();
		return {
			get main() {
				return main;
			},
			workers: started,
			addWorker,
			replaceMain: async () => {
				const port = Number(new URL(main.url).port);
				await main.kill();
				main = running.keep(await startN8n({ settings, withPackage, editor, port }));
			},
			stop: () => running.stop(),
		};
	} catch (error) {
		await running.stop();
		throw error;
	}
}

/** Settings that all n8n processes of one installation share: only those that queue mode needs. */
function queueSettings(database: Postgres, redis: Server): Readonly<Record<string, string>> {
	return {
		EXECUTIONS_MODE: 'queue',
		// Each process has its own user folder, but all of them decrypt the same credentials.
		N8N_ENCRYPTION_KEY: randomUUID(),
		...postgresSettings(database),
		QUEUE_BULL_REDIS_HOST: '127.0.0.1',
		QUEUE_BULL_REDIS_PORT: String(redis.port),
	};
}

/** Settings with which n8n uses this database. */
export function postgresSettings(database: Postgres): Readonly<Record<string, string>> {
	return {
		DB_TYPE: 'postgresdb',
		DB_POSTGRESDB_HOST: '127.0.0.1',
		DB_POSTGRESDB_PORT: String(database.port),
		DB_POSTGRESDB_USER: database.user,
		DB_POSTGRESDB_PASSWORD: database.password,
		DB_POSTGRESDB_DATABASE: database.database,
	};
}

async function startWorker(
	settings: Readonly<Record<string, string>>,
	concurrency: number,
	withPackage: boolean,
): Promise<Worker> {
	const port = await freePort();
	const worker = await startN8n({
		port,
		withPackage,
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
