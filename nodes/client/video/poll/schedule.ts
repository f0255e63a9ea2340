import type { ServiceError } from '../../errors';

/** Interval between the first two polls of a task, and the minimum between any two (spec 3.1: 5 to 10 seconds). */
const MIN_INTERVAL_MS = 5_000;
/** Maximum interval; each one is half as long as the wait so far, plus the minimum, up to this. */
const MAX_INTERVAL_MS = 10_000;
/** Random variation of an interval, as a fraction of it: tasks created together are not polled together. */
const JITTER = 0.1;

/**
 * Milliseconds until the next poll: exponential backoff with jitter. It is clipped so that the last poll lands on the
 * deadline and no two polls are closer than MIN_INTERVAL_MS.
 *
 * @param elapsedMs Milliseconds since polling began.
 * @param random At least 0, below 1.
 * @param remainingMs Milliseconds until the deadline.
 */
export function nextInterval(elapsedMs: number, random: number, remainingMs: number): number {
	const middleMs = Math.min(MAX_INTERVAL_MS, MIN_INTERVAL_MS + elapsedMs / 2);
	const lowMs = Math.max(MIN_INTERVAL_MS, middleMs * (1 - JITTER));
	const highMs = Math.min(MAX_INTERVAL_MS, middleMs * (1 + JITTER));
	const intervalMs = Math.round(lowMs + random * (highMs - lowMs));
	if (remainingMs >= intervalMs + MIN_INTERVAL_MS) return intervalMs;
	// Too long for one interval: split the rest into two equal ones.
	if (remainingMs > MAX_INTERVAL_MS) return Math.round(remainingMs / 2);
	return Math.max(remainingMs, MIN_INTERVAL_MS);
}

/** Of a batch at least so many tasks are asked at once, and at least one in so many. */
const SCOUTS = 8;

/**
 * Milliseconds until the first poll of a task. Videos that were begun together are ready at similar times: some tasks of
 * a large batch, spread over it, are asked at once, and the others after the maximum interval, unless one of the batch is
 * finished before.
 *
 * @param index Position in a batch of `count` tasks.
 */
export function firstInterval(index: number, count: number): number {
	const stride = Math.min(SCOUTS, Math.ceil(count / SCOUTS));
	return index % stride === 0 ? 0 : Math.round(MAX_INTERVAL_MS * (1 - (JITTER * index) / count));
}

/** After a 429 no task is polled until `untilMs`: rate limits are per account, not per task. */
export interface RateLimitCooldown {
	/** Milliseconds since the epoch; no poll starts before. */
	readonly untilMs: number;
	/** Cooldowns since the last successful response; the exponent of the backoff. */
	readonly consecutive: number;
}

export const NO_COOLDOWN: RateLimitCooldown = { untilMs: 0, consecutive: 0 };

/** Length of the first cooldown without Retry-After; each further one is twice as long, up to MAX_MS. */
const FIRST_MS = 10_000;
const MAX_MS = 60_000;

/**
 * The cooldown after a poll. A 429, or any retryable error with Retry-After, starts or extends it; a successful
 * response after its end resets it.
 *
 * @param error The error of the poll; undefined after a successful response.
 */
export function nextCooldown(
	cooldown: RateLimitCooldown,
	error: ServiceError | undefined,
	nowMs: number,
): RateLimitCooldown {
	const isActive = nowMs < cooldown.untilMs;
	if (error === undefined) return isActive ? cooldown : NO_COOLDOWN;

	const { status, retryable, retryAfterMs } = error.details;
	if (status !== 429 && (retryable !== true || retryAfterMs === undefined)) return cooldown;
	// Concurrent polls get the same 429: it counts once.
	if (isActive) {
		const untilMs = Math.max(cooldown.untilMs, nowMs + (retryAfterMs ?? 0));
		return { ...cooldown, untilMs };
	}
	const backoffMs = Math.min(MAX_MS, FIRST_MS * 2 ** cooldown.consecutive);
	return {
		untilMs: nowMs + (retryAfterMs ?? backoffMs),
		consecutive: cooldown.consecutive + 1,
	};
}
