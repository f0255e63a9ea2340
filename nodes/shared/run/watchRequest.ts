import type { HttpRequest } from '../../client/ports';
import { deadlineError } from '../../client/http/transportError';
import { sleepSlice } from './clock';

/** Idle time that is this much shorter than its limit still counts as such: by default both limits are equal. */
const TIE_MS = 500;

/**
 * Ends a request when the execution is canceled, at its deadline, or after the idle timeout. That of axios ends with the
 * headers, as no redirect is followed.
 *
 * @param canceled The signal of the execution.
 */
export function watchRequest(
	{ idleTimeoutMs, deadline }: Pick<HttpRequest, 'idleTimeoutMs' | 'deadline'>,
	canceled: AbortSignal | undefined,
) {
	const request = new AbortController();
	const done = new AbortController();
	let lastReadAtMs = performance.now();

	async function watch(): Promise<void> {
		for (;;) {
			const idleMs = idleTimeoutMs - (performance.now() - lastReadAtMs);
			const leftMs = Math.min(idleMs, deadline?.leftMs() ?? Infinity);
			if (done.signal.aborted) return;
			if (leftMs <= 0) break;
			await sleepSlice(leftMs, done.signal);
		}
		request.abort();
	}
	void watch();

	// Not `AbortSignal.any`: of 10,000 combined signals most memory stays in use until n8n's is collected.
	const cancel = () => {
		request.abort();
	};
	canceled?.addEventListener('abort', cancel);
	if (canceled?.aborted) cancel();

	return {
		/** Aborted when the request has to end. */
		signal: request.signal,
		/** Restarts the idle timeout: data has arrived. */
		touch() {
			lastReadAtMs = performance.now();
		},
		/** The error to report for one of the request: it may have been ended by this watch. */
		explain(error: unknown): unknown {
			if (canceled?.aborted || !request.signal.aborted) return error;
			const idleMs = performance.now() - lastReadAtMs;
			if (deadline && idleMs < idleTimeoutMs - TIE_MS) return deadlineError(deadline);
			return Object.assign(new Error('Idle timeout', { cause: error }), {
				code: 'ETIMEDOUT',
			});
		},
		/** Ends the watch. Call it however the request ends. */
		end() {
			canceled?.removeEventListener('abort', cancel);
			// Without a reason an error with a stack trace would be made for each request.
			done.abort('done');
		},
	};
}
