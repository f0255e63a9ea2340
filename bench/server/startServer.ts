import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A minimal service with fixed replies and known latencies, in a separate process. */
export interface MeasuringServer {
	/** Base URL without a trailing slash. */
	readonly url: string;
	stop(): Promise<void>;
}

/**
 * Starts the measuring server. The emulator is unsuitable here: it spends more time on a reply than the contenders do.
 * This server does almost no work, and timestamps what it sends.
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
