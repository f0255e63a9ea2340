import { setImmediate, setTimeout } from 'node:timers/promises';

export type ClockKind = 'real' | 'virtual';

/** Time as the emulator sees it, in milliseconds since 1970. */
export interface Clock {
	readonly kind: ClockKind;
	now(): number;
	sleep(ms: number): Promise<void>;
	/**
	 * Moves a virtual clock forward, waking every sleeper that falls due, in order.
	 * @throws Error when the clock is the real one
	 */
	advance(ms: number): Promise<void>;
}

/** Where virtual time starts. */
export const VIRTUAL_START_MS = Date.UTC(2026, 0, 1);

function realClock(): Clock {
	return {
		kind: 'real',
		now: Date.now,
		async sleep(ms) {
			// Nobody waits for a sleeper once the server is closed.
			if (ms > 0) await setTimeout(ms, undefined, { ref: false });
		},
		advance: () => Promise.reject(new Error('The clock is real; only a virtual one advances.')),
	};
}

function virtualClock(): Clock {
	interface Sleeper {
		readonly dueMs: number;
		readonly wake: () => void;
	}
	let nowMs = VIRTUAL_START_MS;
	let sleepers: Sleeper[] = [];

	return {
		kind: 'virtual',
		now: () => nowMs,
		sleep(ms) {
			if (ms <= 0) return Promise.resolve();
			return new Promise((wake) => {
				sleepers.push({ dueMs: nowMs + ms, wake });
			});
		},
		async advance(ms) {
			const targetMs = nowMs + ms;
			for (;;) {
				const due = sleepers
					.filter(({ dueMs }) => dueMs <= targetMs)
					.reduce<Sleeper | undefined>(
						(a, b) => (a && a.dueMs <= b.dueMs ? a : b),
						undefined,
					);
				if (!due) break;
				sleepers = sleepers.filter((sleeper) => sleeper !== due);
				nowMs = due.dueMs;
				due.wake();
				// What was woken runs, and may sleep again, before time goes on.
				await setImmediate();
			}
			nowMs = targetMs;
		},
	};
}

/** The real clock, or a virtual one that stands still until it is advanced. */
export function createClock(kind: ClockKind): Clock {
	return kind === 'real' ? realClock() : virtualClock();
}
