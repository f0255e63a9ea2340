import { ServiceError } from '../errors';
import type { Clock } from '../ports';

/** How often, how late and for how long a failed call is sent again. */
export interface RetryPolicy {
	/** Repetitions after the first try, at most. */
	readonly retries: number;
	/** Whether a call that the service may have carried out is repeated: it may then be paid twice. */
	readonly retryOutcomeUnknown: boolean;
}

/** Milliseconds; the longest wait doubles with every repetition. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 20_000;
/** Milliseconds spent on waiting for one call, in all; a longer Retry-After is not worth waiting for. */
const BUDGET_MS = 60_000;

/**
 * Makes a call, and makes it again after failures that pass (spec 7: 429, 503, a connection that cannot be made), with
 * exponential backoff and full jitter, and never sooner than the service asked for. What may have been carried out is
 * repeated only where the policy says so; 400, 401, 402, 403, 406 and 409 never are.
 *
 * @param mayRepeat Whether this failure may be repeated as far as the caller is concerned.
 * @throws The last failure; whatever `clock.sleep` throws when the execution is cancelled.
 */
export async function withRetry<T>(
	clock: Clock,
	{ retries, retryOutcomeUnknown }: RetryPolicy,
	call: () => Promise<T>,
	mayRepeat: () => boolean = () => true,
): Promise<T> {
	let waitedMs = 0;
	for (let repetition = 0; ; repetition++) {
		const outcome = await attempt(call);
		if (!('failure' in outcome)) return outcome.result;

		const { failure } = outcome;
		const waitMs = waitBefore(failure, repetition, clock);
		const isPassing = failure.details.retryable === true;
		const isSafe = failure.details.outcomeUnknown !== true || retryOutcomeUnknown;
		const isInBudget = repetition < retries && waitedMs + waitMs <= BUDGET_MS;
		if (!isPassing || !isSafe || !isInBudget || !mayRepeat()) throw failure;

		await clock.sleep(waitMs);
		waitedMs += waitMs;
	}
}

async function attempt<T>(
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

function waitBefore({ details }: ServiceError, repetition: number, clock: Clock): number {
	const longestMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** repetition);
	return Math.max(details.retryAfterMs ?? 0, clock.random() * longestMs);
}
