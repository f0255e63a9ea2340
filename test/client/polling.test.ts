import fc from 'fast-check';

import { ServiceError, type ErrorDetails } from '../../nodes/client/errors';
import { pollResult, pollSummary, videoLine } from '../../nodes/client/video/pollResult';
import { pollTasks, startPoll, type PollState } from '../../nodes/client/video/pollTasks';
import { fakeClock } from '../support/fakeClock';
import { seededRandom } from '../support/seededRandom';
import { thorough } from '../support/thorough';

const VIDEO_URL = 'https://files.example/a.mp4';
const http = (status: number, more: ErrorDetails = {}) =>
	new ServiceError('http', `status ${status}`, [], { status, ...more });
/** An error in the service's own form (spec 7). */
const own = (status: number) => http(status, { isServiceForm: true, serviceMessage: 'own words' });
const busy = (status: number, seconds?: number) =>
	http(status, { retryable: true, ...(seconds && { retryAfterMs: seconds * 1_000 }) });

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
	'429': busy(429),
	'429, 30 s': busy(429, 30),
	'429, 1 h': busy(429, 3_600),
	'503': busy(503),
	'503, 7 s': busy(503, 7),
	'503, 1 h': busy(503, 3_600),
	cut: new ServiceError('network', 'broke off', [], { retryable: true }),
	canceled: new ServiceError('canceled', 'stopped', []),
};

/** Reports with other fields than their status. */
const REPORTS: Readonly<Record<string, object>> = {
	completed: { video_url: VIDEO_URL },
	'no URL yet': { status: 'completed' },
	'no URL': { status: 'completed', video_url: null },
	early: { status: 'processing', video_url: VIDEO_URL, progress: 40 },
	SUCCEEDED: { video_url: VIDEO_URL },
	EXPIRED: { reason: 'kept for a day' },
	rendered: { video_url: VIDEO_URL },
	'too long': { status: 'completed', error_message: 'prompt is longer than 2500 characters' },
	'other words': { status: 'completed', video_url: null, error: { message: 'own words' } },
	unsafe: { status: 'failed', fail_reason: 'unsafe' },
	moderated: { status: 'failed', error_message: 'moderation' },
	'all is well': { ...{ status: 'completed', message: 'success' }, error_message: null },
	'a warning': { status: 'processing', error_message: 'slow today' },
	CANCELED: { error_message: 'moderation', error: { message: 'other' } },
};

/** Names the answer to a poll by its time, its number for the task and its number for all. */
type Answer = (poll: { readonly ms: number; readonly nth: number; readonly of: number }) => string;
/** These answers in their order, the last one forever. */
const then =
	(...names: readonly string[]): Answer =>
	({ nth }) =>
		names[Math.min(nth, names.length - 1)]!;
/** These answers in the order of the polls of all tasks, and then `completed`. */
const toAll =
	(...names: readonly string[]): Answer =>
	({ of }) =>
		names[of] ?? 'completed';
const endsAt =
	(endMs: number, end = 'completed'): Answer =>
	({ ms }) =>
		ms >= endMs ? end : 'processing';

/** Polls tasks in virtual time, with average intervals; `polledAt` has the times of their polls, in seconds. */
async function poll(tasks: Record<string, Answer>, timeoutMs = 600_000, concurrency = 2) {
	const clock = fakeClock();
	const polledAt: Record<string, number[]> = {};
	const order: string[] = [];
	const query = (taskId: string) => {
		const times = (polledAt[taskId] ??= []);
		const of = order.push(`${taskId} ${clock.now() / 1000}`) - 1;
		const answer = tasks[taskId]!({ ms: clock.now(), nth: times.length, of });
		times.push(clock.now() / 1000);
		const error = ERRORS[answer];
		if (error !== undefined) return Promise.reject(error);
		return Promise.resolve({ task_id: taskId, status: answer, ...REPORTS[answer] });
	};
	const polls = Object.keys(tasks).map((taskId) => startPoll(taskId, clock.now()));
	const options = { timeoutMs, concurrency };
	const done = await pollTasks(clock, { polls, pausedUntilMs: 0 }, query, options);
	return { ...done, results: done.polls.map(pollResult), polledAt, order };
}
const between = (times: readonly number[]) => times.slice(1).map((at, index) => at - times[index]!);

describe('one task', () => {
	test('a task that is already completed is detected by the first poll', async () => {
		const { results, polledAt } = await poll({ t: then('completed') });
		expect(polledAt).toStrictEqual({ t: [0] });
		expect(results).toStrictEqual([
			{
				...{ task_id: 't', status: 'completed', video_url: VIDEO_URL },
				...{ waited_seconds: 0, history: 'completed 0 s' },
			},
		]);
	});

	test('the intervals grow from 5 to 10 seconds (spec 3.1)', async () => {
		const { polledAt } = await poll({ t: endsAt(40_000) });
		expect(polledAt['t']).toStrictEqual([0, 5.25, 12.875, 22.375, 31.875, 41.375]);
	});

	test('a task that never finishes times out at the deadline, after a last poll there', async () => {
		const { results, polledAt } = await poll({ t: then('queued') });
		expect(polledAt['t']!.at(-1)).toBe(600);
		expect(Math.min(...between(polledAt['t']!))).toBeGreaterThanOrEqual(5);
		expect(Math.max(...between(polledAt['t']!))).toBeLessThanOrEqual(10);
		expect(results).toStrictEqual([
			{
				...{ task_id: 't', status: 'queued', reason: 'timeout' },
				error_message: 'Not finished after 600 seconds; the task may still complete',
				...{ waited_seconds: 600, history: 'queued 0 s' },
			},
		]);
	});

	test.each([60_000, 61_000, 64_000, 68_000, 72_300, 79_999])(
		'with a timeout of %i ms all intervals are at least 5 seconds, and the last poll is at the deadline',
		async (timeoutMs) => {
			const { polledAt } = await poll({ t: then('queued') }, timeoutMs);
			expect(Math.min(...between(polledAt['t']!))).toBeGreaterThanOrEqual(5);
			expect(polledAt['t']!.at(-1)).toBe(timeoutMs / 1000);
		},
	);

	test('a slow answer that leaves no time for another poll ends the wait', async () => {
		const clock = fakeClock();
		const slow = async () => {
			await clock.sleep(57_000);
			return { task_id: 't', status: 'queued' };
		};
		const state = { polls: [startPoll('t', 0)], pausedUntilMs: 0 };
		const options = { timeoutMs: 60_000, concurrency: 1 };
		const { polls } = await pollTasks(clock, state, slow, options);
		expect(pollResult(polls[0]!)).toMatchObject({
			waited_seconds: 57,
			error_message: 'Not finished after 57 seconds; the task may still complete',
		});
	});

	test('the history has each status transition, with its time', async () => {
		const stages = ['init', 'queued', 'queued', 'unknown', 'processing', 'completed'];
		const { results } = await poll({ t: then(...stages) });
		expect(results[0]!.history).toBe(
			'init 0 s, queued 5.3 s, unknown 22.4 s, processing 31.9 s, completed 41.4 s',
		);
	});

	test('a failed task keeps the error message of the service', async () => {
		const { results } = await poll({ t: then('moderated') });
		expect(results).toMatchObject([
			{ status: 'failed', reason: 'failed', error_message: 'moderation' },
		]);
	});

	test.each(['init', 'queued', 'processing', 'unknown', 'warming_up'])(
		'a task with the status %s is polled further',
		async (status) => {
			const { results } = await poll({ t: then(status, status, 'completed') });
			expect(results).toMatchObject([{ status: 'completed', waited_seconds: 12.9 }]);
		},
	);

	test('cancellation ends polling', async () => {
		expect((await poll({ t: then('canceled') })).error).toBe(ERRORS['canceled']);
	});
});

test('tasks are polled concurrently and returned in their order', async () => {
	const tasks = { a: endsAt(60_000), b: endsAt(5_000), c: endsAt(20_000, 'failed') };
	const { polls, polledAt } = await poll(tasks);
	expect(polls.map(({ taskId, outcome }) => `${taskId} ${outcome!}`)).toStrictEqual([
		...['a completed', 'b completed', 'c failed'],
	]);
	expect(polledAt['b']).toStrictEqual([0, 5.25]);
	expect(polledAt['c']).toStrictEqual([0, 5.25, 12.875, 22.375]);
});

describe('a pause that the service asks for', () => {
	test.each<[string, string[], string, string[]]>([
		[
			'a 429 with Retry-After for one task delays all tasks',
			['queued', '429, 30 s'],
			'abc',
			['a 0', 'b 0', 'c 30', 'a 30', 'b 30'],
		],
		[
			'a 429 without Retry-After pauses polls for 30 seconds, again and again',
			['429', '429', 'queued', '429'],
			'a',
			['a 0', 'a 30', 'a 60', 'a 69.5', 'a 99.5'],
		],
		['another retryable error pauses no polls', ['503'], 'ab', ['a 0', 'b 0', 'a 5.25']],
		['but with Retry-After it does', ['503, 7 s'], 'ab', ['a 0', 'b 7', 'a 7']],
		['a 429 pauses for a minute at most', ['429, 1 h'], 'ab', ['a 0', 'b 60', 'a 60']],
		['and so does a 503', ['503, 1 h'], 'ab', ['a 0', 'b 60', 'a 60']],
	])('%s', async (_name, answers, ids, order) => {
		const tasks = Array.from(ids, (id) => [id, toAll(...answers)] as const);
		expect((await poll(Object.fromEntries(tasks), 600_000, 1)).order).toStrictEqual(order);
	});

	test('each task is polled at the deadline, whatever pause there is', async () => {
		const hours = toAll(...Array<string>(11).fill('429, 1 h'));
		const { order, results } = await poll({ a: hours, b: hours }, 600_000, 1);
		expect(order.slice(-2)).toStrictEqual(['a 600', 'b 600']);
		expect(results).toMatchObject([
			{
				...{ reason: 'timeout', waited_seconds: 600 },
				error_message:
					'Not finished after 600 seconds; the task may still complete. The last poll failed: status 429',
			},
			{ status: 'completed' },
		]);
	});
});

const times = (count: number, answer: string) => Array<string>(count).fill(answer);
/** A task that has an answer at once, so that the address and the key are right. */
const GOOD = { good: then('completed') };

describe('an answer that does not end the wait', () => {
	const odd = ['page', '404', '405', '403', '400', '402'];
	test.each<[string, string[]]>([
		...[...odd, '404 own'].map((each): [string, string[]] => [
			`${each} between two good ones`,
			['queued', each, 'processing', 'completed'],
		]),
		...odd.map((each): [string, string[]] => [
			`two ${each} before the first good one`,
			[each, each, 'completed'],
		]),
		[
			'five in a row after a good one, again and again',
			['queued', ...times(5, '404'), 'queued', ...times(5, '404'), 'completed'],
		],
		[
			'retryable errors, as many as come within the wait',
			[...times(20, '503'), ...times(20, 'cut'), 'completed'],
		],
	])('%s', async (_name, answers) => {
		const { results, error } = await poll({ t: then(...answers) });
		expect(error).toBeUndefined();
		expect(results).toMatchObject([{ status: 'completed', video_url: VIDEO_URL }]);
	});
});

describe('every outcome keeps the last report', () => {
	const early = { status: 'processing', video_url: VIDEO_URL, progress: 40 };
	const late = 'Not finished after 600 seconds; the task may still complete';
	const warned = { error_message: 'slow today' };
	const whole = { status: 'completed', video_url: VIDEO_URL };
	test.each([
		[['SUCCEEDED'], { status: 'SUCCEEDED', video_url: VIDEO_URL }],
		[
			['EXPIRED'],
			{
				...{ status: 'EXPIRED', reason: 'failed', service_reason: 'kept for a day' },
				error_message: 'kept for a day',
			},
		],
		[['CANCELED'], { status: 'CANCELED', reason: 'failed', error_message: 'moderation' }],
		[['early'], { ...early, reason: 'timeout' }],
		[['early', '404'], { ...early, reason: 'refused' }],
		[['rendered'], { status: 'rendered', reason: 'timeout', video_url: VIDEO_URL }],
		[['a warning'], { ...warned, reason: 'timeout', explanation: late }],
		[
			['a warning', '404'],
			{ ...warned, reason: 'refused', explanation: 'The service does not know this task' },
		],
		[['all is well', 'completed'], whole],
		[['no URL yet', 'no URL yet', 'completed'], whole],
		[['no URL'], { status: 'completed', video_url: null }],
	])('%j', async (answers, result) => {
		const { results } = await poll({ ...GOOD, t: then(...answers) });
		expect(results[1]).toMatchObject(result);
	});

	test.each([
		['too long', 'prompt is longer than 2500 characters'],
		['unsafe', 'unsafe'],
	])('a final report without URL, "%s", ends at once with its reason', async (answer, words) => {
		const { polledAt, results } = await poll({ t: then('queued', answer) });
		expect(polledAt['t']).toHaveLength(2);
		expect(results).toMatchObject([{ reason: 'failed', error_message: words }]);
	});

	test.each(['no URL yet', 'other words'])(
		'a completed video, %s, is asked for six times',
		async (answer) => {
			const { polledAt, results } = await poll({ t: then(answer) });
			expect(polledAt['t']).toHaveLength(6);
			expect(results[0]).not.toHaveProperty('reason');
		},
	);
});

describe('an answer that ends the wait for its task, where others get good ones', () => {
	const unknown = 'The service does not know this task';
	const noAccess = 'The API key has no access to this task';
	test.each([
		['404', [], 3, unknown],
		['404 own', [], 3, `${unknown}: own words`],
		['405', [], 3, unknown],
		['403 own', [], 3, `${noAccess}: own words`],
		['page', [], 3, 'not this API'],
		['400', [], 3, 'status 400: own words'],
		['402', [], 3, 'status 402: own words'],
		['404', ['queued'], 6, unknown],
		['403', ['queued'], 6, noAccess],
		['page', ['queued'], 6, 'not this API'],
		['400', ['queued'], 6, 'status 400: own words'],
	])('%s after %j: number %i', async (odd, before, count, message) => {
		const { polledAt, results } = await poll({ ...GOOD, t: then(...before, odd) });
		expect(results[0]).toMatchObject({ status: 'completed' });
		expect(results[1]).toMatchObject({ reason: 'refused', error_message: message });
		expect(polledAt['t']).toHaveLength(before.length + count);
	});

	test('errors that are repeated in between do not start a new row', async () => {
		const t = then('404', '503', '404', 'cut', '404');
		expect((await poll({ ...GOOD, t })).polledAt['t']).toHaveLength(5);
	});

	test.each([
		['answers in the form of the service', '404 own', '403 own'],
		['the answer of the service about one of them', '400', '404'],
	])('%s leaves every task to itself', async (_name, a, b) => {
		const { results } = await poll({ a: then(a), b: then(b) });
		expect(results.map(({ reason }) => reason)).toStrictEqual(['refused', 'refused']);
	});
});

describe('answers that fail the node', () => {
	test.each([
		['404', 'status 404'],
		['405', 'status 405'],
		['page', 'not this API'],
		['403', 'status 403'],
	])('%s for all tasks', async (odd, message) => {
		const { error } = await poll({ a: then(odd), b: then(odd), c: then('cut') });
		expect(error).toMatchObject({ message });
	});

	test.each(['cut', '503'])('no connection or %s, until the end of the wait', async (odd) => {
		const { error } = await poll({ a: then('cut'), b: then(odd) });
		expect(error).toMatchObject({ kind: 'network' });
	});

	test('a rejected key, at once', async () => {
		const { error, results } = await poll({ ...GOOD, t: then('401') });
		expect(error).toBe(ERRORS['401']);
		expect(results).toMatchObject([{ status: 'completed' }, { status: 'unknown' }]);
	});

	test('the row is part of the saved state: a suspended wait at a wrong address ends with the third step', async () => {
		let state: PollState = { polls: [startPoll('t', 0)], pausedUntilMs: 0 };
		const step = async (nowMs: number) => {
			const saved = JSON.parse(JSON.stringify(state)) as PollState;
			const options = { timeoutMs: 600_000, concurrency: 1, untilMs: nowMs };
			const query = () => Promise.reject(http(404));
			const { error, ...next } = await pollTasks(fakeClock(nowMs), saved, query, options);
			state = next;
			return error;
		};
		expect(await step(0)).toBeUndefined();
		expect(await step(60_000)).toBeUndefined();
		expect(await step(120_000)).toMatchObject({ kind: 'http', message: 'status 404' });
	});
});

describe('many tasks', () => {
	interface World {
		/** When each task ends, and how. */
		readonly ends: readonly (readonly [atMs: number, status: string])[];
		readonly latencyMs?: () => number;
		/** What a poll at this time gets in place of an answer. */
		readonly failure?: (nowMs: number) => ServiceError | undefined;
		readonly timeoutMs?: number;
		readonly concurrency?: number;
		readonly random?: () => number;
	}

	async function simulate(world: World) {
		const { ends, latencyMs = () => 0, failure = () => undefined, random } = world;
		const { timeoutMs = 600_000, concurrency = 50 } = world;
		const clock = fakeClock(0, random);
		const polled = ends.map((): { atMs: number; isGood: boolean }[] => []);
		const count = { polls: 0, sleeps: 0 };
		const most = { polls: 0, sleeps: 0 };
		const counting = async (what: keyof typeof count, ms: number, end?: AbortSignal) => {
			most[what] = Math.max(most[what], ++count[what]);
			await clock.sleep(ms, end);
			count[what]--;
		};
		const query = async (taskId: string) => {
			const atMs = clock.now();
			const error = failure(atMs);
			polled[Number(taskId)]!.push({ atMs, isGood: error === undefined });
			await counting('polls', latencyMs());
			if (error !== undefined) throw error;
			const [endMs, end] = ends[Number(taskId)]!;
			const status = atMs >= endMs ? end : 'processing';
			return { task_id: taskId, status, video_url: VIDEO_URL };
		};
		const sleep = async (ms: number, end?: AbortSignal) => {
			await counting('sleeps', ms, end);
		};
		const polls = ends.map((_end, index) => startPoll(String(index), 0));
		const state = { polls, pausedUntilMs: 0 };
		const options = { timeoutMs, concurrency };
		const done = await pollTasks({ ...clock, sleep }, state, query, options);
		return { done: done.polls, results: done.polls.map(pollResult), polled, most };
	}
	const timesOf = (polls: readonly { atMs: number }[]) => polls.map(({ atMs }) => atMs);

	const TASKS = thorough(1_000, 5_000);
	const concurrency = TASKS / 100;
	const uniform = seededRandom(5);
	const ENDS = Array.from(
		{ length: TASKS },
		() => [Math.round(25_000 + uniform() * 275_000), 'completed'] as const,
	);

	test('each is polled at once, then every 5 to 10 seconds, and seen finished within 10', async () => {
		const { results, polled, most } = await simulate({ ends: ENDS, concurrency });
		expect(results.every(({ status }) => status === 'completed')).toBe(true);
		const late = polled.map((polls, index) => polls.at(-1)!.atMs - ENDS[index]![0]);
		expect(Math.max(...late)).toBeLessThanOrEqual(10_000);
		expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
		const pauses = polled.flatMap((polls) => between(timesOf(polls)));
		expect(Math.min(...pauses)).toBeGreaterThanOrEqual(5_000);
		expect(Math.max(...pauses)).toBeLessThanOrEqual(10_000);
		expect(new Set(polled.map(([first]) => first!.atMs))).toStrictEqual(new Set([0]));
		// Not a timer for each task.
		expect(most.sleeps).toBeLessThanOrEqual(concurrency);
	});

	test('where more polls are due than slots, no slot is ever empty', async () => {
		const latencyMs = 300;
		const world = { ends: ENDS, concurrency, latencyMs: () => latencyMs };
		const { done, polled } = await simulate(world);
		expect(done.every(({ outcome }) => outcome === 'completed')).toBe(true);
		// Most tasks are unfinished by then, so that three times as many polls are due.
		const [fromMs, untilMs] = [12_000, 120_000];
		const begun = polled.flatMap(timesOf).filter((atMs) => atMs >= fromMs && atMs < untilMs);
		expect(begun).toHaveLength(((untilMs - fromMs) / latencyMs) * concurrency);
		const lastMs = Math.max(...done.map(({ elapsedMs }) => elapsedMs));
		const lastEndMs = Math.max(...ENDS.map(([atMs]) => atMs));
		expect(lastMs).toBeLessThanOrEqual(lastEndMs + 10_000 + 2 * latencyMs);
	});

	/** Tasks that end at any time, some of them failed, at a service that sometimes breaks off and is overloaded for a while. */
	function anyWorld(tasks: number, seed: number, latencyMs: number, breakRate: number) {
		const random = seededRandom(seed);
		const ends = Array.from(
			{ length: tasks },
			() =>
				[
					Math.floor(5_000 + random() * 500_000),
					random() < 0.05 ? 'failed' : 'completed',
				] as const,
		);
		return (fromMs: number, untilMs: number) => ({
			ends,
			latencyMs: () => Math.floor(random() * latencyMs),
			failure: (nowMs: number) => {
				if (nowMs >= fromMs && nowMs < untilMs) return busy(429, 15);
				return random() < breakRate ? ERRORS['cut'] : undefined;
			},
			random: seededRandom(seed + 1),
		});
	}

	test('a thousand with failures, broken connections and a minute of 429 responses', async () => {
		const [fromMs, untilMs] = [120_000, 180_000];
		const latencyMs = 300;
		const world = anyWorld(1_000, 7, latencyMs, 0.02)(fromMs, untilMs);
		const { results, polled, most } = await simulate(world);

		expect(results.map(({ task_id: id, status }) => [id, status])).toStrictEqual(
			world.ends.map(([, end], index) => [String(index), end]),
		);
		expect(results.filter(({ status }) => status === 'failed').length).toBeGreaterThan(30);
		expect(most.polls).toBeLessThanOrEqual(50);
		for (const [index, polls] of polled.entries()) {
			const [endMs] = world.ends[index]!;
			expect(Math.min(Infinity, ...between(timesOf(polls)))).toBeGreaterThanOrEqual(5_000);
			// The first poll after the end comes within an interval; another one follows only if it failed.
			const late = polls.filter(({ atMs }) => atMs >= endMs);
			const isMet = endMs > fromMs - 10_000 && endMs < untilMs + 15_000;
			const allowedMs = 10_000 + 2 * latencyMs + (isMet ? 60_000 + 2 * 15_000 : 0);
			expect(late[0]!.atMs - endMs).toBeLessThanOrEqual(allowedMs);
			expect(late.map(({ isGood }) => isGood).indexOf(true)).toBe(late.length - 1);
		}
		// For each Retry-After at most as many polls as are concurrent.
		const during = polled.flatMap(timesOf).filter((at) => at >= fromMs && at < untilMs);
		expect(during.length).toBeLessThanOrEqual(5 * 50);
	});

	test('with any timeout, two polls of a task are at least 5 seconds apart', async () => {
		const upTo = (seconds: number) =>
			fc.integer({ min: 0, max: seconds * 10 }).map((tenths) => tenths * 100);
		const seed = fc.integer({ min: 1, max: 1_000_000 });
		await fc.assert(
			fc.asyncProperty(seed, upTo(8), upTo(90), async (from, latencyMs, timeoutMs) => {
				const world = anyWorld(5, from, latencyMs, 0.1)(20_000, 25_000);
				const { polled, results } = await simulate({ ...world, timeoutMs });
				for (const polls of polled) {
					const atMs = timesOf(polls);
					expect(Math.min(Infinity, ...between(atMs))).toBeGreaterThanOrEqual(5_000);
					expect(atMs.at(-1)).toBeLessThanOrEqual(timeoutMs);
				}
				expect(results).toHaveLength(5);
			}),
			{ numRuns: 200, seed: 11 },
		);
	});
});

describe('the line about all videos', () => {
	const polls = (counts: Readonly<Record<string, number>>) =>
		Object.entries(counts).flatMap(([outcome, count]) =>
			Array.from({ length: count }, (_, index) => ({
				...startPoll(`${outcome}-${index}`, 0),
				...(outcome !== 'open' && { outcome: outcome as 'completed' }),
			})),
		);

	test.each([
		[{ completed: 8, failed: 2, timeout: 1 }, '8 finished, 2 failed, 1 not finished in time'],
		[{ completed: 8, refused: 1, open: 2 }, '8 finished, 1 failed, 2 generating'],
		[{ open: 1 }, '0 finished, 1 generating'],
	])('%j', (counts, words) => {
		expect(pollSummary(polls(counts), 80_000)).toBe(`${words}, after 80 s`);
	});

	test('a finished video of which nothing comes out has failed; what is late is late', () => {
		const lost = new Set(['completed-0', 'timeout-0']);
		expect(pollSummary(polls({ completed: 2, timeout: 1 }), 0, lost)).toBe(
			'1 finished, 1 failed, 1 not finished in time, after 0 s',
		);
	});

	test.each([
		[{ status: 'failed' }, 'The video failed'],
		[{ status: 'SUCCEEDED' }, 'The video is completed: task t'],
		[{ status: 'completed', reason: 'timeout' }, 'The video is not finished: task t'],
		[{ status: 'processing' }, 'The video is not finished: task t'],
		[{}, 'The video is not finished: task t'],
	])('without a URL the line of %j is %j', (item, line) => {
		expect(videoLine({ task_id: 't', ...item })).toBe(line);
	});
});
