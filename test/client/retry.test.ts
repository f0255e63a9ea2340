import { ServiceError, type ErrorDetails } from '../../nodes/client/errors';
import { withRetry, type RetryPolicy } from '../../nodes/client/http/retry';
import { cancelledError } from '../../nodes/client/http/transportError';
import { fakeClock } from '../support/fakeClock';

const POLICY: RetryPolicy = { retries: 3, retryOutcomeUnknown: false };
const BUSY: ErrorDetails = { retryable: true };
const UNCLEAR: ErrorDetails = { retryable: true, outcomeUnknown: true };

const failed = (details: ErrorDetails) => new ServiceError('http', 'no', 'wait', details);

/** Calls with one failure after another, then a good one; tells what was waited. */
async function run(
	failures: readonly ErrorDetails[],
	policy: Partial<RetryPolicy> = {},
	mayRepeat?: () => boolean,
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
		mayRepeat,
	).catch((error: unknown) => error);
	return { outcome, calls, polls: clock.slept };
}

test('failures that pass are repeated, ever later, by a random part of the longest wait', async () => {
	// The virtual clock's chance is one half.
	expect(await run([BUSY, BUSY, BUSY])).toStrictEqual({
		outcome: 'done',
		calls: 4,
		polls: [500, 1_000, 2_000],
	});
});

test('a wait never grows beyond 20 seconds, and all of them never beyond a minute', async () => {
	const { calls, polls, outcome } = await run(Array<ErrorDetails>(20).fill(BUSY), {
		retries: 20,
	});
	expect(polls).toStrictEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000, 10_000]);
	expect(calls).toBe(10);
	expect(outcome).toBeInstanceOf(ServiceError);
});

test('the service is not asked sooner than it said', async () => {
	const { polls } = await run([
		{ ...BUSY, retryAfterMs: 7_000 },
		{ ...BUSY, retryAfterMs: 1 },
	]);
	expect(polls).toStrictEqual([7_000, 1_000]);
});

test('a Retry-After beyond the budget is not waited for', async () => {
	const { calls, polls } = await run([{ ...BUSY, retryAfterMs: 61_000 }]);
	expect({ calls, polls }).toStrictEqual({ calls: 1, polls: [] });
});

test('after the last retry the last failure is thrown', async () => {
	const { calls, outcome } = await run([BUSY, BUSY, { ...BUSY, serviceMessage: 'the last' }], {
		retries: 2,
	});
	expect(calls).toBe(3);
	expect(outcome).toMatchObject({ details: { serviceMessage: 'the last' } });
});

test.each([
	['a lasting failure', {}, {}, 1],
	['a failure without a word about it', { retryable: false }, {}, 1],
	['what may have been carried out', UNCLEAR, {}, 1],
	[
		'what may have been carried out, where that is wanted',
		UNCLEAR,
		{ retryOutcomeUnknown: true },
		2,
	],
	['anything with no retries', BUSY, { retries: 0 }, 1],
])('%s', async (_name, details, policy, calls) => {
	expect((await run([details], policy)).calls).toBe(calls);
});

test('the caller may say no', async () => {
	expect((await run([BUSY], {}, () => false)).calls).toBe(1);
});

test('what is no failure of the service is not repeated', async () => {
	let calls = 0;
	const call = () => {
		calls++;
		return Promise.reject(new TypeError('a bug'));
	};
	await expect(withRetry(fakeClock(), POLICY, call)).rejects.toThrow('a bug');
	expect(calls).toBe(1);
});

test('cancelling ends the wait', async () => {
	const clock = { ...fakeClock(), sleep: () => Promise.reject(cancelledError()) };
	let calls = 0;
	const call = () => {
		calls++;
		return Promise.reject(failed(BUSY));
	};
	await expect(withRetry(clock, POLICY, call)).rejects.toMatchObject({ kind: 'cancelled' });
	expect(calls).toBe(1);
});
