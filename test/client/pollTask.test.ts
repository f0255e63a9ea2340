import { ServiceError } from '../../nodes/client/errors';
import { NO_COOLDOWN } from '../../nodes/client/video/poll/cooldown';
import type { TaskReport } from '../../nodes/client/video/queryTask';
import { DEFAULT_SCHEDULE, startPoll } from '../../nodes/client/video/poll/task';
import { pollTasks } from '../../nodes/client/video/poll/pollTasks';
import { pollResult } from '../../nodes/client/video/poll/result';
import { fakeClock } from '../support/fakeClock';

type Answer = (nowMs: number, nth: number) => TaskReport | ServiceError;

const busy = new ServiceError('http', 'busy', '', { status: 503, retryable: true });
const gone = new ServiceError('http', 'no such task', '', { status: 400, retryable: false });

const report = (status: string, more: object = {}): TaskReport => ({
	task_id: 't',
	status,
	...more,
});
const finishesAt =
	(endMs: number, status = 'completed'): Answer =>
	(nowMs) =>
		report(nowMs >= endMs ? status : 'processing');

/** Without chance, so that the times can be told beforehand. */
const STEADY = { ...DEFAULT_SCHEDULE, jitter: 0 };

/** Waits for tasks in virtual time; tells when each was asked for, in seconds. */
async function wait(answers: Record<string, Answer>, schedule = STEADY) {
	const clock = fakeClock();
	const asked: Record<string, number[]> = Object.fromEntries(
		Object.keys(answers).map((id) => [id, []]),
	);
	const query = (taskId: string): Promise<TaskReport> => {
		const answer = answers[taskId]!(clock.now(), asked[taskId]!.length);
		asked[taskId]!.push(clock.now() / 1000);
		return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
	};
	const waiting = {
		polls: Object.keys(answers).map((taskId) => startPoll(taskId, clock.now())),
		pause: NO_COOLDOWN,
	};
	const { polls } = await pollTasks(clock, waiting, query, { schedule, concurrency: 2 });
	return { polls, results: polls.map((each) => pollResult(each)), asked };
}

test('a task that is finished already is noticed at once', async () => {
	const { results, asked } = await wait({ t: finishesAt(0) });
	expect(asked).toStrictEqual({ t: [0] });
	expect(results).toStrictEqual([
		{
			task_id: 't',
			status: 'completed',
			waited_seconds: 0,
			history: [{ status: 'completed', at_seconds: 0 }],
		},
	]);
});

test('the gaps grow from 5 to 10 seconds (spec 3.1)', async () => {
	const { asked } = await wait({ t: finishesAt(40_000) });
	expect(asked['t']).toStrictEqual([0, 5, 12.5, 22.5, 32.5, 42.5]);
});

test('a task that never finishes leaves at the limit, asked a last time there', async () => {
	const { results, asked } = await wait({ t: () => report('queued') });
	const gaps = asked['t']!.slice(1).map((at, index) => at - asked['t']![index]!);
	expect(asked['t']!.at(-1)).toBe(600);
	expect(Math.min(...gaps)).toBeGreaterThanOrEqual(5);
	expect(Math.max(...gaps)).toBeLessThanOrEqual(10);
	expect(results).toStrictEqual([
		{
			task_id: 't',
			status: 'queued',
			reason: 'timeout',
			error_message: 'Not finished after 600 seconds; the task may still complete',
			waited_seconds: 600,
			history: [{ status: 'queued', at_seconds: 0 }],
		},
	]);
});

test.each([60_000, 61_000, 64_000, 68_000, 72_300, 79_999])(
	'with a limit of %i ms no two queries come closer than 5 seconds, and the last is at the limit',
	async (limitMs) => {
		const { asked } = await wait({ t: () => report('queued') }, { ...STEADY, limitMs });
		const gaps = asked['t']!.slice(1).map((at, index) => at - asked['t']![index]!);
		expect(Math.min(...gaps)).toBeGreaterThanOrEqual(5);
		expect(asked['t']!.at(-1)).toBe(limitMs / 1000);
	},
);

test('each change of status is in the history, with its time', async () => {
	const stages = ['init', 'queued', 'queued', 'unknown', 'processing', 'completed'];
	const { results } = await wait({ t: (_now, nth) => report(stages[nth]!) });
	expect(results[0]!.history).toStrictEqual([
		{ status: 'init', at_seconds: 0 },
		{ status: 'queued', at_seconds: 5 },
		{ status: 'unknown', at_seconds: 22.5 },
		{ status: 'processing', at_seconds: 32.5 },
		{ status: 'completed', at_seconds: 42.5 },
	]);
});

test('a failed task keeps the words of the service', async () => {
	const { results } = await wait({ t: () => report('failed', { error_message: 'moderation' }) });
	expect(results[0]).toMatchObject({
		status: 'failed',
		reason: 'failed',
		error_message: 'moderation',
	});
});

test('a status word that the specification does not list is waited out', async () => {
	const { results } = await wait({
		t: (_now, nth) => report(nth < 2 ? 'warming_up' : 'completed'),
	});
	expect(results[0]).toMatchObject({ status: 'completed', waited_seconds: 12.5 });
});

test('passing trouble keeps the wait going, lasting trouble ends it', async () => {
	const { results, asked } = await wait({
		shaky: (now, nth) => (nth < 3 ? busy : finishesAt(0)(now, nth)),
		bad: () => gone,
	});
	expect(results[0]).toMatchObject({ task_id: 'shaky', status: 'completed' });
	expect(results[1]).toMatchObject({
		task_id: 'bad',
		status: '',
		reason: 'http',
		error_message: 'no such task',
	});
	expect(asked['bad']).toStrictEqual([0]);
});

test('a refused key ends all polls at once', async () => {
	const refused = new ServiceError('http', 'key', '', { status: 401, retryable: false });
	await expect(wait({ t: () => refused, u: finishesAt(60_000) })).rejects.toBe(refused);
});

const page = new ServiceError('protocol', 'not the service', '');

test('a strange answer is waited out where the service has answered before', async () => {
	const { results } = await wait({
		t: (now, nth) => (nth === 1 ? page : finishesAt(9_000)(now, nth)),
	});
	expect(results[0]).toMatchObject({ status: 'completed', waited_seconds: 12.5 });
});

test('three strange answers and no good one end the wait: the address is wrong', async () => {
	const { results, asked } = await wait({ t: () => page });
	expect(asked['t']).toStrictEqual([0, 5, 12.5]);
	expect(results[0]).toMatchObject({ reason: 'http', error_message: 'not the service' });
});

test('many tasks are waited for side by side and come back in their order', async () => {
	const { polls, asked } = await wait({
		a: finishesAt(60_000),
		b: finishesAt(5_000),
		c: finishesAt(20_000, 'failed'),
	});
	expect(polls.map(({ taskId, outcome }) => `${taskId} ${outcome!.kind}`)).toStrictEqual([
		'a completed',
		'b completed',
		'c failed',
	]);
	expect(asked['b']).toStrictEqual([0, 5]);
	expect(asked['c']).toStrictEqual([0, 5, 12.5, 22.5]);
});

test('cancelling ends the wait', async () => {
	const cancelled = new ServiceError('cancelled', 'stopped', '');
	await expect(wait({ t: () => cancelled })).rejects.toBe(cancelled);
});
