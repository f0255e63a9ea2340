import { setTimeout as sleep } from 'node:timers/promises';

import axios from 'axios';

import { freePort } from '../../../lab/services/freePort';
import { startProgram } from '../../../lab/services/startProgram';

const LIMIT_MS = 1_000;
const PAUSE_MS = 100;

/** How a server answered during a test. */
export interface Liveness {
	/** Number of times it was asked. */
	asked(): number;
	/** The longest row of missed answers since the last call of this function. */
	worstRow(): number;
	stop(): Promise<void>;
}

/**
 * Asks n8n's `/healthz` without a pause, and a second server at the same time. n8n misses an answer if it does not come
 * within a second while the second server's does: otherwise the machine is busy, not n8n. A busy machine can also hold up one
 * process for a moment; code that blocks n8n misses one answer after another.
 */
export async function watchLiveness(n8nUrl: string): Promise<Liveness> {
	const port = await freePort();
	const control = await startProgram(
		process.execPath,
		['-e', `require('http').createServer((q, r) => r.end('ok')).listen(${port}, '127.0.0.1')`],
		{
			name: 'second server',
			stdio: ['ignore', 'pipe', 'pipe'],
			limitMs: 30_000,
			isReady: async () => await answers(`http://127.0.0.1:${port}`),
		},
	);
	let asked = 0;
	let row = 0;
	let worstRow = 0;
	let isOver = false;
	const watch = async () => {
		while (!isOver) {
			const [isAlive, isIdle] = await Promise.all([
				answers(`${n8nUrl}/healthz`),
				answers(`http://127.0.0.1:${port}`),
			]);
			asked++;
			if (isAlive) row = 0;
			else if (isIdle) worstRow = Math.max(worstRow, ++row);
			await sleep(PAUSE_MS);
		}
	};
	const watching = watch();
	return {
		asked: () => asked,
		worstRow: () => {
			const worst = worstRow;
			worstRow = 0;
			return worst;
		},
		stop: async () => {
			isOver = true;
			await watching;
			await control.stop();
		},
	};
}

async function answers(url: string): Promise<boolean> {
	const signal = AbortSignal.timeout(LIMIT_MS);
	const options = { proxy: false, signal, validateStatus: () => true } as const;
	const response = await axios.get(url, options).catch(() => undefined);
	return response?.status === 200;
}
