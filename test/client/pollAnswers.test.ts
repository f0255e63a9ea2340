import { ServiceError, type ErrorDetails } from '../../nodes/client/errors';
import { pollTasks, startPoll, type PollState } from '../../nodes/client/video/pollTasks';
import { pollResult } from '../../nodes/client/video/pollResult';
import { fakeClock } from '../support/fakeClock';

const VIDEO_URL = 'https://files.example/a.mp4';
const http = (status: number, more: ErrorDetails = {}) =>
	new ServiceError('http', `status ${status}`, [], { status, ...more });
/** An error in the service's own form (spec 7). */
const own = (status: number) => http(status, { isServiceForm: true, serviceMessage: 'own words' });

/** Answers by their names in the tables below; any other name is a status of the task. */
const ERRORS: Readonly<Record<string, ServiceError>> = {
	page: new ServiceError('protocol', 'not this API', []),
	'404': http(404),
	'405': http(405),
	'403': http(403),
	'400': own(400),
	'401': own(401),
	'402': own(402),
	'404 own': own(404),
	'403 own': own(403),
	'503': http(503, { retryable: true }),
	cut: new ServiceError('network', 'broke off', [], { retryable: true }),
};

/** Reports with other fields than their status. */
const REPORTS: Readonly<Record<string, object>> = {
	'no URL yet': { status: 'completed' },
	'no URL': { status: 'completed', video_url: null },
	early: { status: 'processing', video_url: VIDEO_URL, progress: 40 },
	SUCCEEDED: { video_url: VIDEO_URL },
	EXPIRED: { reason: 'kept for a day' },
	rendered: { video_url: VIDEO_URL },
	'too long': { status: 'completed', error_message: 'prompt is longer than 2500 characters' },
	'other words': { status: 'completed', video_url: null, error: { message: 'own words' } },
	unsafe: { status: 'failed', fail_reason: 'unsafe' },
	'all is well': { status: 'completed', message: 'success', error_message: null },
	'a warning': { status: 'processing', error_message: 'slow today' },
	CANCELED: { error_message: 'moderation', error: { message: 'other' } },
};

/** Polls tasks whose answers come in this order, the last one forever; `asked` counts the polls of each. */
async function poll(tasks: Readonly<Record<string, readonly string[]>>) {
	const clock = fakeClock();
	const asked: Record<string, number> = {};
	const queryStatus = (taskId: string) => {
		const answers = tasks[taskId]!;
		const nth = (asked[taskId] ??= 0);
		asked[taskId] = nth + 1;
		const answer = answers[Math.min(nth, answers.length - 1)]!;
		const error = ERRORS[answer];
		if (error !== undefined) return Promise.reject(error);
		const video = answer === 'completed' && { video_url: VIDEO_URL };
		return Promise.resolve({ task_id: taskId, status: answer, ...video, ...REPORTS[answer] });
	};
	const polls = Object.keys(tasks).map((taskId) => startPoll(taskId, 0));
	const options = { timeoutMs: 600_000, concurrency: 10 };
	const done = await pollTasks(clock, { polls, pausedUntilMs: 0 }, queryStatus, options);
	return { asked, results: done.polls.map(pollResult), error: done.error };
}

const times = (count: number, answer: string) => Array<string>(count).fill(answer);
/** A task that has an answer at once, so that the address and the key are right. */
const GOOD = { good: ['completed'] };

describe('an answer that does not end the wait', () => {
	test.each(['page', '404', '405', '403', '404 own', '400', '402'])(
		'%s between two good ones',
		async (odd) => {
			const { results } = await poll({ t: ['queued', odd, 'processing', 'completed'] });
			expect(results).toMatchObject([{ status: 'completed', waited_seconds: 22.4 }]);
		},
	);

	test.each(['page', '404', '405', '403', '400', '402'])(
		'two %s before the first good one',
		async (odd) => {
			const { results } = await poll({ t: [odd, odd, 'completed'] });
			expect(results).toMatchObject([{ status: 'completed' }]);
		},
	);

	test('five in a row after a good one, again and again', async () => {
		const five = times(5, '404');
		const { results } = await poll({ t: ['queued', ...five, 'queued', ...five, 'completed'] });
		expect(results).toMatchObject([{ status: 'completed' }]);
	});

	test('retryable errors, as many as come within the wait', async () => {
		const { results } = await poll({
			t: [...times(20, '503'), ...times(20, 'cut'), 'completed'],
		});
		expect(results).toMatchObject([{ status: 'completed' }]);
	});
});

describe('every outcome keeps the last report', () => {
	test.each([
		[['SUCCEEDED'], { status: 'SUCCEEDED', video_url: VIDEO_URL }],
		[
			['EXPIRED'],
			{
				status: 'EXPIRED',
				reason: 'failed',
				service_reason: 'kept for a day',
				error_message: 'kept for a day',
			},
		],
		[['CANCELED'], { status: 'CANCELED', reason: 'failed', error_message: 'moderation' }],
		[
			['early'],
			{ status: 'processing', reason: 'timeout', video_url: VIDEO_URL, progress: 40 },
		],
		[
			['early', '404'],
			{ status: 'processing', reason: 'refused', video_url: VIDEO_URL, progress: 40 },
		],
		[['rendered'], { status: 'rendered', reason: 'timeout', video_url: VIDEO_URL }],
		[
			['a warning'],
			{
				reason: 'timeout',
				error_message: 'slow today',
				explanation: 'Not finished after 600 seconds; the task may still complete',
			},
		],
		[
			['a warning', '404'],
			{
				reason: 'refused',
				error_message: 'slow today',
				explanation: 'The service does not know this task',
			},
		],
		[['all is well', 'completed'], { status: 'completed', video_url: VIDEO_URL }],
		[['no URL yet', 'no URL yet', 'completed'], { status: 'completed', video_url: VIDEO_URL }],
		[['no URL'], { status: 'completed', video_url: null }],
	] as const)('%j', async (answers, result) => {
		const { results } = await poll({ ...GOOD, t: answers });
		expect(results[1]).toMatchObject(result);
	});

	test.each([
		['too long', 'prompt is longer than 2500 characters'],
		['unsafe', 'unsafe'],
	])(
		'a final report without URL, "%s", ends at once with the reason of the service',
		async (answer, words) => {
			const { asked, results } = await poll({ t: ['queued', answer] });
			expect(asked['t']).toBe(2);
			expect(results).toMatchObject([{ reason: 'failed', error_message: words }]);
		},
	);

	test.each(['no URL yet', 'other words'])(
		'a completed video, %s, is asked for six times',
		async (answer) => {
			const { asked, results } = await poll({ t: [answer] });
			expect(asked['t']).toBe(6);
			expect(results[0]).not.toHaveProperty('reason');
		},
	);
});

describe('an answer that ends the wait for its task, where others get good ones', () => {
	test.each([
		['404', [], 3, 'The service does not know this task'],
		['404 own', [], 3, 'The service does not know this task: own words'],
		['405', [], 3, 'The service does not know this task'],
		['403 own', [], 3, 'The API key has no access to this task: own words'],
		['page', [], 3, 'not this API'],
		['400', [], 3, 'status 400: own words'],
		['402', [], 3, 'status 402: own words'],
		['404', ['queued'], 6, 'The service does not know this task'],
		['403', ['queued'], 6, 'The API key has no access to this task'],
		['page', ['queued'], 6, 'not this API'],
		['400', ['queued'], 6, 'status 400: own words'],
	] as const)('%s after %j: number %i', async (odd, before, count, message) => {
		const { asked, results } = await poll({ ...GOOD, t: [...before, odd] });
		expect(results[0]).toMatchObject({ status: 'completed' });
		expect(results[1]).toMatchObject({ reason: 'refused', error_message: message });
		expect(asked['t']).toBe(before.length + count);
	});

	test('errors that are repeated in between do not start a new row', async () => {
		const { asked } = await poll({ ...GOOD, t: ['404', '503', '404', 'cut', '404'] });
		expect(asked['t']).toBe(5);
	});
});

describe('answers that fail the node', () => {
	test.each([
		['404', 'status 404'],
		['405', 'status 405'],
		['page', 'not this API'],
		['403', 'status 403'],
	])('%s for all tasks', async (odd, message) => {
		const { error } = await poll({ a: [odd], b: [odd], c: ['cut'] });
		expect(error).toMatchObject({ message });
	});

	test.each(['cut', '503'])('no connection or %s, until the end of the wait', async (odd) => {
		expect((await poll({ a: ['cut'], b: [odd] })).error).toMatchObject({ kind: 'network' });
	});

	test('a rejected key, at once', async () => {
		const { error, results } = await poll({ ...GOOD, t: ['401'] });
		expect(error).toBe(ERRORS['401']);
		expect(results).toMatchObject([{ status: 'completed' }, { status: 'unknown' }]);
	});
});

test.each([
	[
		'answers in the form of the service',
		{ a: ['404 own'], b: ['403 own'] },
		['refused', 'refused'],
	],
	[
		'the answer of the service about one of them',
		{ a: ['400'], b: ['404'] },
		['refused', 'refused'],
	],
])('%s leaves every task to itself', async (_name, tasks, reasons) => {
	const { results } = await poll(tasks);
	expect(results.map(({ reason }) => reason)).toStrictEqual(reasons);
});

test('the row is part of the saved state: a suspended wait at a wrong address ends with the third step', async () => {
	let state: PollState = { polls: [startPoll('t', 0)], pausedUntilMs: 0 };
	const step = async (nowMs: number) => {
		const saved = JSON.parse(JSON.stringify(state)) as PollState;
		const options = { timeoutMs: 600_000, concurrency: 1, untilMs: nowMs };
		const clock = fakeClock(nowMs);
		const query = () => Promise.reject(http(404));
		const { error, ...next } = await pollTasks(clock, saved, query, options);
		state = next;
		return error;
	};
	expect(await step(0)).toBeUndefined();
	expect(await step(60_000)).toBeUndefined();
	expect(await step(120_000)).toMatchObject({ kind: 'http', message: 'status 404' });
});
