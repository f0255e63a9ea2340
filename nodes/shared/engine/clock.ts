import { sleep, type IExecuteFunctions } from 'n8n-workflow';

import { canceledError } from '../../client/http/failures';
import type { Clock } from '../../client/ports';

/** The `sleep` of n8n 2.20 to 2.30 cannot be interrupted, so a sleep is cut into slices of this length. */
const SLEEP_SLICE_MS = 1_000;

/** Sleeps for a time, at most for the length of a slice. Ends early when the signal is aborted. */
export async function sleepSlice(ms: number, end?: AbortSignal): Promise<void> {
	await sleep(Math.min(Math.ceil(ms), SLEEP_SLICE_MS), end).catch(() => undefined);
}

/** One turn of the event loop, see `mapConcurrent`: requests leave and responses are received. */
export async function eventLoopTurn(): Promise<void> {
	await sleep(0);
}

/**
 * The client's clock: real time, with a sleep that rejects when the execution is canceled. It is monotonic: it starts at
 * the wall-clock time and then ignores adjustments of the wall clock, which would end or prolong a wait.
 */
export function n8nClock(context: Pick<IExecuteFunctions, 'getExecutionCancelSignal'>): Clock {
	const signal = context.getExecutionCancelSignal();
	const startMs = Date.now() - performance.now();

	return {
		now: () => Math.round(startMs + performance.now()),
		random: Math.random,
		async sleep(ms, end) {
			const both = end && signal ? AbortSignal.any([end, signal]) : (end ?? signal);
			const endMs = performance.now() + ms;
			for (let leftMs = ms; leftMs > 0; leftMs = endMs - performance.now()) {
				await sleepSlice(leftMs, both);
				if (signal?.aborted) throw canceledError();
				if (end?.aborted) return;
			}
		},
	};
}
