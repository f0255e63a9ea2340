import { ServiceError } from '../errors';
import type { Clock, Deadline, HttpPort } from '../ports';
import { settled } from '../concurrency';
import { deadlineError } from './failures';

export interface RetryPolicy {
	/** Maximum retries after the first attempt. */
	readonly retries: number;
	/** Whether to retry requests that the service may have processed. They may be charged twice. */
	readonly retryOutcomeUnknown: boolean;
	/** Maximum milliseconds from the first request to the last byte of the last one, with the pauses before retries. */
	readonly limitMs?: number;
	/** The delay before each retry, in place of the backoff. */
	readonly delaysMs?: readonly number[];
	/** Called before each retry. */
	readonly onRetry?: () => void;
}

/** Exponential backoff: the base delay doubles with every retry up to a maximum; jitter is a range of factors. */
const BACKOFF = { firstMs: 1_000, maxMs: 20_000, jitter: [0, 1] } as const;
/** For 429 without Retry-After: three retries outlast a limit per minute. */
const RATE_LIMIT_BACKOFF = { firstMs: 10_000, maxMs: 40_000, jitter: [1, 1.5] } as const;
/** Maximum sum of the delays of one call. A longer Retry-After ends the retries at once. */
const MAX_TOTAL_DELAY_MS = 120_000;

/**
 * Runs a call and retries retryable failures (spec 7: 429, 503, connection errors) with exponential backoff and jitter,
 * never sooner than Retry-After. Failures with an unknown outcome are retried only if the policy says so; 400, 401,
 * 402, 403, 406 and 409 never are.
 *
 * @param call Sends a request, which ends at the total timeout. No retry starts after it.
 * @param mayRetry Asked before each retry; `false` forbids it, e.g. when text has been streamed to the user.
 * @throws The last failure; ServiceError `deadline` after a pause that ended too late; the rejection of `clock.sleep` when
 *   the execution is canceled.
 */
export async function withRetry<T>(
	clock: Clock,
	{ retries, retryOutcomeUnknown, limitMs = Infinity, delaysMs = [], onRetry }: RetryPolicy,
	call: (deadline: Deadline) => Promise<T>,
	mayRetry: () => boolean = () => true,
): Promise<T> {
	const deadline = startDeadline(clock, limitMs);
	let totalDelayMs = 0;
	for (let retry = 0; ; retry++) {
		const outcome = await settled(call(deadline));
		if ('value' in outcome) return outcome.value;

		const { error: failure } = outcome;
		// Any other error is a bug.
		if (!(failure instanceof ServiceError)) throw failure;
		const leftMs = MAX_TOTAL_DELAY_MS - totalDelayMs;
		const delayMs = delaysMs[retry] ?? retryDelay(failure, retry, clock, leftMs);
		const isRetryable = failure.details.retryable === true;
		const isSafe = failure.details.outcomeUnknown !== true || retryOutcomeUnknown;
		const isInBudget = retry < retries && leftMs > 0 && delayMs <= leftMs;
		const isInTime = delayMs < deadline.leftMs();
		if (!isRetryable || !isSafe || !isInBudget || !isInTime || !mayRetry()) throw failure;

		await clock.sleep(delayMs);
		if (deadline.leftMs() <= 0)
			throw deadlineError(deadline).with({ outcomeUnknown: retryOutcomeUnknown });
		totalDelayMs += delayMs;
		onRetry?.();
	}
}

/** The delay that the service asks for, at least the backoff; the last backoff is clipped to the time that is left. */
function retryDelay(
	{ details: { status, retryAfterMs } }: ServiceError,
	retry: number,
	clock: Clock,
	leftMs: number,
): number {
	const isRateLimit = status === 429 && retryAfterMs === undefined;
	const { firstMs, maxMs, jitter } = isRateLimit ? RATE_LIMIT_BACKOFF : BACKOFF;
	const [low, high] = jitter;
	const backoffMs = Math.min(maxMs, firstMs * 2 ** retry) * (low + (high - low) * clock.random());
	return Math.max(retryAfterMs ?? 0, Math.min(backoffMs, leftMs));
}

/** Adds a total timeout to the requests of one call: bytes that keep arriving do not extend it. */
export function withDeadline(http: HttpPort, deadline: Deadline): HttpPort {
	return async (request) => await http({ ...request, deadline });
}

/** A total timeout that starts now. */
export function startDeadline({ now }: Pick<Clock, 'now'>, limitMs: number): Deadline {
	const endMs = now() + limitMs;
	return { limitMs, leftMs: () => endMs - now() };
}
