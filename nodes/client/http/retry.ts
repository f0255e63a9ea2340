import { ServiceError } from '../errors';
import type { Clock } from '../ports';

export interface RetryPolicy {
	/** Maximum retries after the first attempt. */
	readonly retries: number;
	/** Whether to retry requests that the service may have processed. They may be charged twice. */
	readonly retryOutcomeUnknown: boolean;
}

/** Exponential backoff: the maximum delay starts here, doubles with every retry, and is capped. */
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 20_000;
/** Maximum sum of the delays of one call. A longer Retry-After ends the retries at once. */
const MAX_TOTAL_DELAY_MS = 60_000;

/**
 * Runs a call and retries retryable failures (spec 7: 429, 503, connection errors) with exponential backoff and full
 * jitter, never sooner than Retry-After. Failures with an unknown outcome are retried only if the policy says so;
 * 400, 401, 402, 403, 406 and 409 never are.
 *
 * @param mayRetry Asked before each retry; `false` forbids it, e.g. when text has been streamed to the user.
 * @throws The last failure; the rejection of `clock.sleep` when the execution is canceled.
 */
export async function withRetry<T>(
	clock: Clock,
	{ retries, retryOutcomeUnknown }: RetryPolicy,
	call: () => Promise<T>,
	mayRetry: () => boolean = () => true,
): Promise<T> {
	let totalDelayMs = 0;
	for (let retry = 0; ; retry++) {
		const outcome = await settle(call);
		if (!('failure' in outcome)) return outcome.result;

		const { failure } = outcome;
		const delayMs = retryDelay(failure, retry, clock);
		const isRetryable = failure.details.retryable === true;
		const isSafe = failure.details.outcomeUnknown !== true || retryOutcomeUnknown;
		const isInBudget = retry < retries && totalDelayMs + delayMs <= MAX_TOTAL_DELAY_MS;
		if (!isRetryable || !isSafe || !isInBudget || !mayRetry()) throw failure;

		await clock.sleep(delayMs);
		totalDelayMs += delayMs;
	}
}

/** The outcome of a call as a value. Errors other than ServiceError are thrown: they are bugs, not failures. */
async function settle<T>(
	call: () => Promise<T>,
): Promise<{ readonly result: T } | { readonly failure: ServiceError }> {
	return await call().then(
		(result) => ({ result }),
		(failure: unknown) => {
			if (failure instanceof ServiceError) return { failure };
			throw failure;
		},
	);
}

function retryDelay({ details }: ServiceError, retry: number, clock: Clock): number {
	const maxDelayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** retry);
	return Math.max(details.retryAfterMs ?? 0, clock.random() * maxDelayMs);
}
