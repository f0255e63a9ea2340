import { ServiceError } from '../../nodes/client/errors';
import { pollTasks, startPoll } from '../../nodes/client/video/pollTasks';
import type { TaskReport } from '../../nodes/client/video/tasks';
import { pollResult } from '../../nodes/client/video/pollResult';
import { fakeClock } from '../support/fakeClock';

/** The answer to the n-th poll (from 0) of a task. */
type Answer = (nowMs: number, nth: number) => TaskReport | ServiceError;

const VIDEO_URL = 'https://files.example/a.mp4';
const report = (status: string, more: object = {}): TaskReport => ({
	task_id: 't',
	status,
	...(status === 'completed' && { video_url: VIDEO_URL }),
	...more,
});
const finishesAt =
	(endMs: number, status = 'completed'): Answer =>
	(nowMs) =>
		report(nowMs >= endMs ? status : 'processing');

/** Polls tasks in virtual time, with average intervals; `polledAt` has the times of their polls, in seconds. */
async function poll(answers: Record<string, Answer>, timeoutMs = 600_000) {
	const clock = fakeClock();
	const polledAt: Record<string, number[]> = Object.fromEntries(
		Object.keys(answers).map((id) => [id, []]),
	);
	const queryStatus = (taskId: string): Promise<TaskReport> => {
		const answer = answers[taskId]!(clock.now(), polledAt[taskId]!.length);
		polledAt[taskId]!.push(clock.now() / 1000);
		return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
	};
	const state = {
		polls: Object.keys(answers).map((taskId) => startPoll(taskId, clock.now())),
		pausedUntilMs: 0,
	};
	const options = { timeoutMs, concurrency: 2 };
	const { polls, error } = await pollTasks(clock, state, queryStatus, options);
	return { polls, results: polls.map((each) => pollResult(each)), polledAt, error };
}

test('a task that is already completed is detected by the first poll', async () => {
	const { results, polledAt } = await poll({ t: finishesAt(0) });
	expect(polledAt).toStrictEqual({ t: [0] });
	expect(results).toStrictEqual([
		{
			task_id: 't',
			status: 'completed',
			video_url: VIDEO_URL,
			waited_seconds: 0,
			history: 'completed 0 s',
		},
	]);
});

test('the intervals grow from 5 to 10 seconds (spec 3.1)', async () => {
	const { polledAt } = await poll({ t: finishesAt(40_000) });
	expect(polledAt['t']).toStrictEqual([0, 5.25, 12.875, 22.375, 31.875, 41.375]);
});

test('a task that never finishes times out at the deadline, after a last poll there', async () => {
	const { results, polledAt } = await poll({ t: () => report('queued') });
	const intervals = polledAt['t']!.slice(1).map((at, index) => at - polledAt['t']![index]!);
	expect(polledAt['t']!.at(-1)).toBe(600);
	expect(Math.min(...intervals)).toBeGreaterThanOrEqual(5);
	expect(Math.max(...intervals)).toBeLessThanOrEqual(10);
	expect(results).toStrictEqual([
		{
			task_id: 't',
			status: 'queued',
			reason: 'timeout',
			error_message: 'Not finished after 600 seconds; the task may still complete',
			waited_seconds: 600,
			history: 'queued 0 s',
		},
	]);
});

test.each([60_000, 61_000, 64_000, 68_000, 72_300, 79_999])(
	'with a timeout of %i ms all intervals are at least 5 seconds, and the last poll is at the deadline',
	async (timeoutMs) => {
		const { polledAt } = await poll({ t: () => report('queued') }, timeoutMs);
		const intervals = polledAt['t']!.slice(1).map((at, index) => at - polledAt['t']![index]!);
		expect(Math.min(...intervals)).toBeGreaterThanOrEqual(5);
		expect(polledAt['t']!.at(-1)).toBe(timeoutMs / 1000);
	},
);

test('a slow answer that leaves no time for another poll ends the wait', async () => {
	const clock = fakeClock();
	const slow = async () => {
		await clock.sleep(57_000);
		return report('queued');
	};
	const options = { timeoutMs: 60_000, concurrency: 1 };
	const state = { polls: [startPoll('t', 0)], pausedUntilMs: 0 };
	const { polls } = await pollTasks(clock, state, slow, options);
	expect(pollResult(polls[0]!)).toMatchObject({
		waited_seconds: 57,
		error_message: 'Not finished after 57 seconds; the task may still complete',
	});
});

test('the history has each status transition, with its time', async () => {
	const stages = ['init', 'queued', 'queued', 'unknown', 'processing', 'completed'];
	const { results } = await poll({ t: (_now, nth) => report(stages[nth]!) });
	expect(results[0]!.history).toBe(
		'init 0 s, queued 5.3 s, unknown 22.4 s, processing 31.9 s, completed 41.4 s',
	);
});

test('a failed task keeps the error message of the service', async () => {
	const { results } = await poll({ t: () => report('failed', { error_message: 'moderation' }) });
	expect(results[0]).toMatchObject({
		status: 'failed',
		reason: 'failed',
		error_message: 'moderation',
	});
});

test.each(['init', 'queued', 'processing', 'unknown', 'warming_up'])(
	'a task with the status %s is polled further',
	async (status) => {
		const { results } = await poll({
			t: (_now, nth) => report(nth < 2 ? status : 'completed'),
		});
		expect(results[0]).toMatchObject({ status: 'completed', waited_seconds: 12.9 });
	},
);

test('tasks are polled concurrently and returned in their order', async () => {
	const { polls, polledAt } = await poll({
		a: finishesAt(60_000),
		b: finishesAt(5_000),
		c: finishesAt(20_000, 'failed'),
	});
	expect(polls.map(({ taskId, outcome }) => `${taskId} ${outcome!}`)).toStrictEqual([
		'a completed',
		'b completed',
		'c failed',
	]);
	expect(polledAt['b']).toStrictEqual([0, 5.25]);
	expect(polledAt['c']).toStrictEqual([0, 5.25, 12.875, 22.375]);
});

test('cancellation ends polling', async () => {
	const canceled = new ServiceError('canceled', 'stopped', []);
	const { error } = await poll({ t: () => canceled });
	expect(error).toBe(canceled);
});
