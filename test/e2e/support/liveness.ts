import { setTimeout as sleep } from 'node:timers/promises';

import axios from 'axios';
import pidusage from 'pidusage';

import type { N8n } from '../../../lab/n8n/startN8n';

const LIMIT_MS = 1_000;
const PAUSE_MS = 100;

/** How n8n answered during a test. */
export interface Liveness {
	/** Number of times it was asked. */
	asked(): number;
	/** The most CPU time that n8n has used in a row of missed answers since the last call of this function, in milliseconds. */
	longestFreezeMs(): number;
	stop(): Promise<void>;
}

/**
 * Asks n8n's `/healthz` without a pause; an answer that does not come within a second is missed. What counts is the time that n8n
 * itself computes meanwhile: on a busy machine it also misses answers while it waits for a processor.
 */
export function watchLiveness({ url, pid }: Pick<N8n, 'url' | 'pid'>): Liveness {
	let asked = 0;
	let longestMs = 0;
	let isOver = false;
	const cpuMs = async () => (await pidusage(pid)).ctime;
	const watch = async () => {
		for (let answeredMs = await cpuMs(); !isOver; asked++) {
			const isAlive = await answers(`${url}/healthz`);
			const nowMs = await cpuMs();
			if (isAlive) answeredMs = nowMs;
			else longestMs = Math.max(longestMs, nowMs - answeredMs);
			await sleep(PAUSE_MS);
		}
	};
	const watching = watch();
	return {
		asked: () => asked,
		longestFreezeMs: () => {
			const ms = longestMs;
			longestMs = 0;
			return ms;
		},
		stop: async () => {
			isOver = true;
			await watching;
		},
	};
}

async function answers(url: string): Promise<boolean> {
	const signal = AbortSignal.timeout(LIMIT_MS);
	const options = { proxy: false, signal, validateStatus: () => true } as const;
	const response = await axios.get(url, options).catch(() => undefined);
	return response?.status === 200;
}
