import type { ServiceError } from '../../errors';

/** A pause of all queries: a service that has had too many calls has had too many from everybody who polls. */
export interface RateLimitCooldown {
	/** Milliseconds since the epoch; no query begins before. */
	readonly untilMs: number;
	/** Pauses that followed one another without a good answer in between. */
	readonly consecutive: number;
}

export const NO_COOLDOWN: RateLimitCooldown = { untilMs: 0, consecutive: 0 };

/** Where the service does not say how long: the first pause; each further one doubles. */
const FIRST_MS = 10_000;
const MAX_MS = 60_000;

/**
 * The pause after a query: longer after 429, or after a trouble with Retry-After, and over after a good answer.
 *
 * @param error What the query gave instead of an answer.
 */
export function nextCooldown(
	pause: RateLimitCooldown,
	error: ServiceError | undefined,
	nowMs: number,
): RateLimitCooldown {
	const isPaused = nowMs < pause.untilMs;
	if (error === undefined) return isPaused ? pause : NO_COOLDOWN;

	const { status, retryable, retryAfterMs } = error.details;
	if (status !== 429 && (retryable !== true || retryAfterMs === undefined)) return pause;
	// Queries that were under way together are told the same thing: it counts once.
	if (isPaused)
		return { ...pause, untilMs: Math.max(pause.untilMs, nowMs + (retryAfterMs ?? 0)) };

	const ownMs = Math.min(MAX_MS, FIRST_MS * 2 ** pause.consecutive);
	return { untilMs: nowMs + (retryAfterMs ?? ownMs), consecutive: pause.consecutive + 1 };
}
