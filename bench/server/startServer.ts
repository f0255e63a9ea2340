import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The service with fixed answers and known delays, in a process of its own. */
export interface MeasuringServer {
	/** Base URL without a trailing slash. */
	readonly url: string;
	stop(): Promise<void>;
}

/**
 * Starts the measuring server. The emulator does more work for an answer than the contenders that are measured; this
 * one does next to none, and says when it did it.
 */
export async function startServer(): Promise<MeasuringServer> {
	const child = fork(join(__dirname, 'main.ts'));
	const [ready] = (await Promise.race([
		once(child, 'message'),
		once(child, 'exit').then(() => {
			throw new Error('The measuring server did not start');
		}),
	])) as [{ url: string }];
	return {
		url: ready.url,
		stop: async () => {
			const ended = once(child, 'exit');
			child.disconnect();
			await ended;
		},
	};
}
