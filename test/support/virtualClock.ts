import type { Clock } from '../../nodes/client/ports';

export interface VirtualClock extends Clock {
	/** Milliseconds of each sleep so far. */
	readonly slept: number[];
}

/** A clock on which sleeping takes no time: when nothing else can go on, `now` jumps to the first sleeper's end. */
export function virtualClock(startMs = 0, random: () => number = () => 0.5): VirtualClock {
	let nowMs = startMs;
	const slept: number[] = [];
	const sleepers: { readonly endMs: number; readonly wake: () => void }[] = [];

	function wakeFirst(): void {
		sleepers.sort((a, b) => a.endMs - b.endMs);
		const { endMs, wake } = sleepers.shift()!;
		nowMs = Math.max(nowMs, endMs);
		wake();
	}

	return {
		slept,
		now: () => nowMs,
		random,
		sleep: (ms) =>
			new Promise((wake) => {
				slept.push(ms);
				sleepers.push({ endMs: nowMs + ms, wake });
				setImmediate(wakeFirst);
			}),
	};
}
