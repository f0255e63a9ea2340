import { startEmulator, type Emulator } from '../../../emulator/startEmulator';
import { N8nClient } from '../../../lab/n8n/N8nClient';
import type { Running } from '../../../lab/services/Running';
import {
	startQueue,
	type Queue,
	type QueueOptions,
	type Worker,
} from '../../../lab/n8n/startQueue';
import { showProgress } from './session';

/** Intervals after which n8n fails the execution of a dead worker: a third of the defaults, and long beside a pause of a busy machine. */
export const SHORT_INTERVALS = {
	QUEUE_WORKER_LOCK_DURATION: '20000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '1000',
	QUEUE_WORKER_STALLED_INTERVAL: '3000',
};

/** A real n8n in queue mode with the package installed, and an emulator. */
export interface QueueSession {
	readonly emulator: Emulator;
	readonly queue: Queue;
	readonly client: N8nClient;
	/** Index of the worker that took an execution from the queue; -1 if none has. */
	workerOf(executionId: string): number;
}

/** Starts an emulator and n8n in queue mode, and signs in. `running` keeps both. */
export async function startQueueSession(
	running: Running,
	options: QueueOptions & { readonly videoSeconds: number },
): Promise<QueueSession> {
	const emulator = running.keep(await startEmulator(options));
	const queue = running.keep(
		await startQueue({ onProgress: showProgress, editor: false, ...options }),
	);
	const client = await N8nClient.signIn(queue.main.url);
	return {
		emulator,
		queue,
		client,
		workerOf: (id) => queue.workers.findIndex((worker) => worker.executions().includes(id)),
	};
}

/** Whether the process of a worker runs. */
export function isAlive({ pid }: Worker): boolean {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
}
