import { startEmulator, type Emulator } from '../../../emulator/startEmulator';
import { N8nClient } from '../../../lab/n8n/N8nClient';
import { Running } from '../../../lab/services/Running';
import { startQueue, type Queue, type QueueOptions } from '../../../lab/n8n/startQueue';
import { say } from './say';

/** A real n8n in queue mode with the package in it, and the service for it. */
export interface QueueSession {
	readonly emulator: Emulator;
	readonly queue: Queue;
	readonly client: N8nClient;
	/** Position of the worker that took an execution from the queue; -1 when none has. */
	workerOf(executionId: string): number;
	/** Stops what was started, in the opposite order. */
	stop(): Promise<void>;
}

/** Starts the emulator and n8n in queue mode, and signs in; all is stopped again when something does not start. */
export async function startQueueSession(
	options: QueueOptions & { readonly videoSeconds: number },
): Promise<QueueSession> {
	const running = new Running();
	try {
		const emulator = running.keep(await startEmulator(options));
		const queue = running.keep(await startQueue({ onProgress: say, ...options }));
		const client = await N8nClient.signIn(queue.main.url);
		return {
			emulator,
			queue,
			client,
			workerOf: (id) => queue.workers.findIndex((worker) => worker.executions().includes(id)),
			stop: () => running.stop(),
		};
	} catch (error) {
		await running.stop();
		throw error;
	}
}
