import { ServiceError, type ErrorDetails } from '../../nodes/client/errors';
import { canceledError, withRetry, type RetryPolicy } from '../../nodes/client/http/failures';
import { fakeClock } from '../support/fakeClock';

const POLICY: RetryPolicy = { retries: 3, retryOutcomeUnknown: false };
const BUSY: ErrorDetails = { retryable: true };
const OUTCOME_UNKNOWN: ErrorDetails = { retryable: true, outcomeUnknown: true };

const failed = (details: ErrorDetails) => new ServiceError('http', 'no', 'tryLater', details);

/** Runs a call that fails with each of the failures, then succeeds; returns the delays between attempts. */
async function run(
	failures: readonly ErrorDetails[],
	policy: Partial<RetryPolicy> = {},
	mayRetry?: () => boolean,
	random = 0.5,
) {
	const clock = fakeClock(0, () => random);
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
	// The random number of the fake clock is one half.
	expect(await run([BUSY, BUSY, BUSY])).toStrictEqual({
		outcome: 'done',
		calls: 4,
		delaysMs: [500, 1_000, 2_000],
	});
});

test('a delay is at most 20 seconds, all delays together at most two minutes', async () => {
	const { calls, delaysMs, outcome } = await run(Array<ErrorDetails>(20).fill(BUSY), {
		retries: 20,
	});
	const tens = Array<number>(10).fill(10_000);
	expect(delaysMs).toStrictEqual([500, 1_000, 2_000, 4_000, 8_000, ...tens, 4_500]);
	expect(calls).toBe(17);
	expect(outcome).toBeInstanceOf(ServiceError);
});

describe('429 without Retry-After', () => {
	const LIMITED: ErrorDetails = { ...BUSY, status: 429 };
	const delays = async (random: number, retries: number) =>
		(await run(Array<ErrorDetails>(20).fill(LIMITED), { retries }, undefined, random)).delaysMs;

	test.each([
		['the smallest random number', 0, [10_000, 20_000, 40_000]],
		['the middle', 0.5, [12_500, 25_000, 50_000]],
		['the largest', 1, [15_000, 30_000, 60_000]],
	])('three retries outlast a limit per minute: %s', async (_name, random, expected) => {
		expect(await delays(random, 3)).toStrictEqual(expected);
	});

	test('more retries use up two minutes, not more', async () => {
		expect(await delays(0.5, 10)).toStrictEqual([12_500, 25_000, 50_000, 32_500]);
	});

	test('a Retry-After of the service replaces these delays', async () => {
		const { delaysMs } = await run([{ ...LIMITED, retryAfterMs: 3_000 }, LIMITED]);
		expect(delaysMs).toStrictEqual([3_000, 25_000]);
	});
});

test('a retry is never sooner than Retry-After', async () => {
	const { delaysMs } = await run([
		{ ...BUSY, retryAfterMs: 7_000 },
		{ ...BUSY, retryAfterMs: 1 },
	]);
	expect(delaysMs).toStrictEqual([7_000, 1_000]);
});

test.each([
	['two minutes is waited for', 120_000, 2],
	['more than two minutes ends the retries', 121_000, 1],
])('a Retry-After of %s', async (_name, retryAfterMs, calls) => {
	expect((await run([{ ...BUSY, retryAfterMs }])).calls).toBe(calls);
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
