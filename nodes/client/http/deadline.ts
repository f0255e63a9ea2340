import type { Clock, Deadline, HttpPort } from '../ports';
import { withRetry, type RetryPolicy } from './retry';
import { deadlineError } from './transportError';

/** The timeouts of a call, in milliseconds. */
export interface CallLimits {
	/** Maximum time without a byte. */
	readonly idleTimeoutMs: number;
	/** Maximum time from the first request to the last byte of the last one, with the pauses before retries. */
	readonly limitMs: number;
}

/** Adds a total timeout to the requests of one call. It starts now: bytes that keep arriving do not extend it. */
export function withDeadline(http: HttpPort, clock: Pick<Clock, 'now'>, limitMs: number): HttpPort {
	const deadline = startDeadline(clock, limitMs);
	return async (request) => await http({ ...request, deadline });
}

/**
 * Runs a call with retries under one total timeout. No retry starts after the deadline.
 *
 * @param call Sends the call through the port it receives.
 * @param mayRetry As in `withRetry`.
 * @throws ServiceError As `withRetry`; `deadline` when the call exceeds `limitMs`.
 */
export async function withRetryUntil<T>(
	clock: Clock,
	http: HttpPort,
	{ limitMs, retry }: Pick<CallLimits, 'limitMs'> & { readonly retry: RetryPolicy },
	call: (http: HttpPort) => Promise<T>,
	mayRetry: () => boolean = () => true,
): Promise<T> {
	const deadline = startDeadline(clock, limitMs);
	const port: HttpPort = async (request) => await http({ ...request, deadline });
	return await withRetry(
		clock,
		retry,
		async () => {
			// The pause before a retry may have ended too late.
			if (deadline.leftMs() > 0) return await call(port);
			throw deadlineError(deadline).with({ outcomeUnknown: retry.retryOutcomeUnknown });
		},
		(delayMs) => delayMs < deadline.leftMs() && mayRetry(),
	);
}

function startDeadline({ now }: Pick<Clock, 'now'>, limitMs: number): Deadline {
	const endMs = now() + limitMs;
	return { limitMs, leftMs: () => endMs - now() };
}
