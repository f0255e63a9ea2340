import type { Clock } from '../../nodes/client/ports';

export interface VirtualClock extends Clock {
	/** Milliseconds slept so far. */
	readonly slept: number[];
}

/** A clock on which sleeping takes no time: `now` jumps by the time slept. */
export function virtualClock(startMs = 0): VirtualClock {
	let nowMs = startMs;
	const slept: number[] = [];
	return {
		slept,
		now: () => nowMs,
		random: () => 0.5,
		sleep: (ms) => {
			nowMs += ms;
			slept.push(ms);
			return Promise.resolve();
		},
	};
}
