import type { ServiceError } from '../../errors';

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
