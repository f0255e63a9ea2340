import type { Clock } from '../../nodes/client/ports';

/** A clock for the client that counts instead of waiting. */
export interface FakeClock extends Clock {
	/** Milliseconds of each sleep so far. */
	readonly slept: number[];
}

/**
 * Fakes the client's `Clock` port: a sleep takes no real time. When nothing else can run, `now` jumps to the end of the
 * shortest sleep.
 *
 * The tests know three kinds of time besides the real one, because three things can wait:
 * - `fakeClock` is for the client on its own, which reads time from its port only. No timer is replaced.
 * - `withFakeTimers` is for a node in n8n's engine: it replaces the timers of the whole process, those of n8n and of
 *   the HTTP connections included.
 * - `createClock('virtual')` in emulator/ is the time of the service. It stands still until a test advances it.
 */
export function fakeClock(startMs = 0, random: () => number = () => 0.5): FakeClock {
	let nowMs = startMs;
	const slept: number[] = [];
	const sleepers: { readonly endMs: number; readonly wake: () => void }[] = [];

	function wakeFirst(): void {
		sleepers.sort((a, b) => a.endMs - b.endMs);
		const first = sleepers.shift();
		// Its sleep may have ended early.
		if (first === undefined) return;
		nowMs = Math.max(nowMs, first.endMs);
		first.wake();
	}

	return {
		slept,
		now: () => nowMs,
		random,
		sleep: (ms, end) =>
			new Promise((resolve) => {
				slept.push(ms);
				const sleeper = { endMs: nowMs + ms, wake };
				function wake(): void {
					end?.removeEventListener('abort', cancel);
					resolve();
				}
				function cancel(): void {
					sleepers.splice(sleepers.indexOf(sleeper), 1);
					wake();
				}
				sleepers.push(sleeper);
				end?.addEventListener('abort', cancel);
				setImmediate(wakeFirst);
			}),
	};
}
