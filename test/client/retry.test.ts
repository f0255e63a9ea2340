import { ServiceError, type ErrorDetails } from '../../nodes/client/errors';
import { withRetry, type RetryPolicy } from '../../nodes/client/http/retry';
import { canceledError } from '../../nodes/client/http/transportError';
import { fakeClock } from '../support/fakeClock';

const POLICY: RetryPolicy = { retries: 3, retryOutcomeUnknown: false };
const BUSY: ErrorDetails = { retryable: true };
const OUTCOME_UNKNOWN: ErrorDetails = { retryable: true, outcomeUnknown: true };

const failed = (details: ErrorDetails) => new ServiceError('http', 'no', 'wait', details);

/** Runs a call that fails with each of the failures, then succeeds; returns the delays between attempts. */
async function run(
	failures: readonly ErrorDetails[],
	policy: Partial<RetryPolicy> = {},
	mayRetry?: () => boolean,
) {
	const clock = fakeClock();
	let calls = 0;
	const outcome = await withRetry(
		clock,
		{ ...POLICY, ...policy },
		() => {
			const details = failures[calls++];
			return details === undefined
				? Promise.resolve('done')
				: Promise.reject(failed(details));
		},
		mayRetry,
	).catch((error: unknown) => error);
	return { outcome, calls, delaysMs: clock.slept };
}

test('retryable failures are retried with exponential backoff and full jitter', async () => {
	// The random number of the virtual clock is always one half.
	expect(await run([BUSY, BUSY, BUSY])).toStrictEqual({
		outcome: 'done',
		calls: 4,
		delaysMs: [500, 1_000, 2_000],
	});
});

test('a delay is at most 20 seconds, all delays together at most a minute', async () => {
	const { calls, delaysMs, outcome } = await run(Array<ErrorDetails>(20).fill(BUSY), {
		retries: 20,
	});
	expect(delaysMs).toStrictEqual([
		500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000, 10_000,
	]);
	expect(calls).toBe(10);
	expect(outcome).toBeInstanceOf(ServiceError);
});

test('a retry is never sooner than Retry-After', async () => {
	const { delaysMs } = await run([
		{ ...BUSY, retryAfterMs: 7_000 },
		{ ...BUSY, retryAfterMs: 1 },
	]);
	expect(delaysMs).toStrictEqual([7_000, 1_000]);
});

test('a Retry-After of more than a minute ends the retries', async () => {
	const { calls, delaysMs } = await run([{ ...BUSY, retryAfterMs: 61_000 }]);
	expect({ calls, delaysMs }).toStrictEqual({ calls: 1, delaysMs: [] });
});

test('after the last retry the last failure is thrown', async () => {
	const { calls, outcome } = await run([BUSY, BUSY, { ...BUSY, serviceMessage: 'the last' }], {
		retries: 2,
	});
	expect(calls).toBe(3);
	expect(outcome).toMatchObject({ details: { serviceMessage: 'the last' } });
});

test.each([
	['a failure without retryable is not retried', {}, {}, 1],
	['a permanent failure is not retried', { retryable: false }, {}, 1],
	['a failure with an unknown outcome is not retried', OUTCOME_UNKNOWN, {}, 1],
	[
		'a failure with an unknown outcome is retried if the policy says so',
		OUTCOME_UNKNOWN,
		{ retryOutcomeUnknown: true },
		2,
	],
	['no failure is retried with retries: 0', BUSY, { retries: 0 }, 1],
])('%s', async (_name, details, policy, calls) => {
	expect((await run([details], policy)).calls).toBe(calls);
});

test('mayRetry can forbid a retry', async () => {
	expect((await run([BUSY], {}, () => false)).calls).toBe(1);
});

test('errors other than ServiceError are not retried', async () => {
	let calls = 0;
	const call = () => {
		calls++;
		return Promise.reject(new TypeError('a bug'));
	};
	await expect(withRetry(fakeClock(), POLICY, call)).rejects.toThrow('a bug');
	expect(calls).toBe(1);
});

test('canceling ends the delay', async () => {
	const clock = { ...fakeClock(), sleep: () => Promise.reject(canceledError()) };
	let calls = 0;
	const call = () => {
		calls++;
		return Promise.reject(failed(BUSY));
	};
	await expect(withRetry(clock, POLICY, call)).rejects.toMatchObject({ kind: 'canceled' });
	expect(calls).toBe(1);
});
