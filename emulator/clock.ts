import { setImmediate, setTimeout } from 'node:timers/promises';
import { HttpError } from './errors';

export type ClockKind = 'real' | 'virtual';

/** Time source of the emulator; times are in milliseconds since 1970. */
export interface EmulatorClock {
	now(): number;
	sleep(ms: number): Promise<void>;
	/**
	 * Moves a virtual clock forward and resolves every due sleep, in order of due time.
	 * @throws HttpError 400 for the real clock
	 */
	advance(ms: number): Promise<void>;
}

/** Start of virtual time. */
export const VIRTUAL_START_MS = Date.UTC(2026, 0, 1);

function realClock(): EmulatorClock {
	return {
		now: Date.now,
		async sleep(ms) {
			// `ref: false`: a pending sleep must not keep the process alive after the server has closed.
			if (ms > 0) await setTimeout(ms, undefined, { ref: false });
		},
		async advance() {
			throw new HttpError(
				400,
				'The clock cannot be advanced: it is the real one. Start the emulator with --virtual-clock.',
			);
		},
	};
}

function virtualClock(): EmulatorClock {
	let nowMs = VIRTUAL_START_MS;
	let advanced = Promise.resolve();
	let sleepers: { readonly dueMs: number; readonly wake: () => void }[] = [];

	async function advanceBy(ms: number): Promise<void> {
		const targetMs = nowMs + ms;
		for (;;) {
			const [due] = sleepers.sort((a, b) => a.dueMs - b.dueMs);
			if (!due || due.dueMs > targetMs) break;
			sleepers = sleepers.filter((sleeper) => sleeper !== due);
			nowMs = due.dueMs;
			due.wake();
			// Let the resumed code run first; it may call `sleep` again before the target time.
			await setImmediate();
		}
		nowMs = targetMs;
	}
	return {
		now: () => nowMs,
		sleep(ms) {
			if (ms <= 0) return Promise.resolve();
			return new Promise((wake) => {
				sleepers.push({ dueMs: nowMs + ms, wake });
			});
		},
		// One after another: the clock must not go back.
		advance: (ms) => (advanced = advanced.then(() => advanceBy(ms))),
	};
}

/** Creates the real clock, or a virtual one that only moves when it is advanced. */
export function createClock(kind: ClockKind): EmulatorClock {
	return kind === 'real' ? realClock() : virtualClock();
}
