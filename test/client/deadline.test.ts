import { ServiceError } from '../../nodes/client/errors';
import { startDeadline, withDeadline, withRetry } from '../../nodes/client/http/failures';
import type { Clock, HttpPort, HttpRequest } from '../../nodes/client/ports';
import { fakeClock } from '../support/fakeClock';

const REQUEST: HttpRequest = { method: 'POST', path: '/', body: {}, idleTimeoutMs: 1_000 };
const RETRY = { retries: 3, retryOutcomeUnknown: false };

/** A port that answers 429, each time with the next Retry-After, then 200. */
function busy(retryAfterMs: readonly number[]) {
	const leftMs: (number | undefined)[] = [];
	const http: HttpPort = ({ deadline }) => {
		leftMs.push(deadline?.leftMs());
		const ms = retryAfterMs[leftMs.length - 1];
		if (ms === undefined)
			return Promise.resolve({ status: 200, headers: {}, body: [] as never });
		const details = { retryable: true, retryAfterMs: ms };
		return Promise.reject(new ServiceError('http', 'Busy', 'slowDown', details));
	};
	return { http, leftMs };
}

async function send(http: HttpPort, limitMs: number, clock: Clock = fakeClock()) {
	return await withRetry(
		clock,
		{ ...RETRY, limitMs },
		async (deadline) => await withDeadline(http, deadline)(REQUEST),
	).then(
		({ status }) => status,
		(error: unknown) => {
			const { message, details } = error as ServiceError;
			return { message, outcomeUnknown: details.outcomeUnknown };
		},
	);
}

test('each request of a call gets what the ones before it left', async () => {
	const { http, leftMs } = busy([7_000, 30_000]);
	expect(await send(http, 60_000)).toBe(200);
	expect(leftMs).toStrictEqual([60_000, 53_000, 23_000]);
});

test('a retry that no time is left for does not start', async () => {
	const { http, leftMs } = busy([7_000, 30_000]);
	expect(await send(http, 37_000)).toMatchObject({ message: 'Busy' });
	expect(leftMs).toStrictEqual([37_000, 30_000]);
});

test('after a pause that ended too late nothing is sent', async () => {
	const clock = fakeClock();
	const late = {
		...clock,
		sleep: async (ms: number) => {
			await clock.sleep(ms * 2);
		},
	};
	const { http, leftMs } = busy([7_000]);
	expect(await send(http, 10_000, late)).toStrictEqual({
		message: 'The call exceeded its Timeout of 10 seconds',
		outcomeUnknown: false,
	});
	expect(leftMs).toHaveLength(1);
});

test('a deadline without retries starts at once', async () => {
	const clock = fakeClock();
	const { http, leftMs } = busy([]);
	const port = withDeadline(http, startDeadline(clock, 60_000));
	await clock.sleep(5_000);
	await port(REQUEST);
	expect(leftMs).toStrictEqual([55_000]);
});
