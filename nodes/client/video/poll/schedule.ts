/** When to poll a task, and for how long (spec 3.1: every 5 to 10 seconds, at most 10 minutes). */
export interface PollSchedule {
	/** Interval between the first poll of a task and the second, in milliseconds. */
	readonly firstMs: number;
	/** Maximum interval in milliseconds; each interval is GROWTH times the one before, up to this. */
	readonly maxMs: number;
	/** Milliseconds after the start of polling at which a task that is not finished counts as failed. */
	readonly timeoutMs: number;
	/** Random variation of the interval, as a fraction of it (0 to 1): tasks created together are not polled together. */
	readonly jitter: number;
}

export const DEFAULT_SCHEDULE: PollSchedule = {
	firstMs: 5_000,
	maxMs: 10_000,
	timeoutMs: 600_000,
	jitter: 0.1,
};

/** Minimum interval between two polls of a task (spec 3.1). */
const MIN_GAP_MS = 5_000;
const GROWTH = 1.5;

/**
 * Exponential backoff with jitter: the interval after a poll, between `firstMs` and `maxMs`.
 *
 * @param pollCount Polls so far, at least 1.
 * @param random At least 0, below 1.
 */
export function backoffInterval(
	{ firstMs, maxMs, jitter }: PollSchedule,
	pollCount: number,
	random: number,
): number {
	const middleMs = Math.min(maxMs, firstMs * GROWTH ** (pollCount - 1));
	const lowMs = Math.max(firstMs, middleMs * (1 - jitter));
	const highMs = Math.min(maxMs, middleMs * (1 + jitter));
	return Math.round(lowMs + random * (highMs - lowMs));
}

/**
 * Clips the interval so that the last poll lands on the deadline and no two polls are closer than MIN_GAP_MS.
 *
 * @param remainingMs Milliseconds until the deadline.
 */
export function clipToDeadline(
	intervalMs: number,
	remainingMs: number,
	{ firstMs, maxMs }: PollSchedule,
): number {
	if (remainingMs >= intervalMs + firstMs) return intervalMs;
	// Too long for one interval: split the rest into two equal ones.
	if (remainingMs > maxMs && remainingMs >= 2 * MIN_GAP_MS) return Math.round(remainingMs / 2);
	return Math.max(remainingMs, MIN_GAP_MS);
}
