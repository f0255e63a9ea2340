import { ServiceError } from '../../nodes/client/errors';
import type { TaskReport } from '../../nodes/client/video/tasks';
import { pollTasks, startPoll } from '../../nodes/client/video/pollTasks';
import { pollResult } from '../../nodes/client/video/pollResult';
import { fakeClock } from '../support/fakeClock';

const tooMany = (retryAfterMs?: number) =>
	new ServiceError('http', 'too many', [], {
		status: 429,
		retryable: true,
		...(retryAfterMs === undefined ? {} : { retryAfterMs }),
	});

/** Polls tasks, one at a time: the n-th poll overall gets the n-th answer, later ones the status completed. */
async function poll(ids: readonly string[], answers: readonly (ServiceError | 'queued')[]) {
	const clock = fakeClock();
	const polled: string[] = [];
	const queryStatus = (taskId: string): Promise<TaskReport> => {
		const answer = answers[polled.length] ?? 'completed';
		polled.push(`${taskId} ${clock.now() / 1000}`);
		return answer instanceof ServiceError
			? Promise.reject(answer)
			: Promise.resolve({ task_id: taskId, status: answer, video_url: 'https://cdn/a.mp4' });
	};
	const polls = ids.map((taskId) => startPoll(taskId, clock.now()));
	const options = { timeoutMs: 600_000, concurrency: 1 };
	const done = await pollTasks(clock, { polls, pausedUntilMs: 0 }, queryStatus, options);
	return { polled, results: done.polls.map(pollResult) };
}

test('a 429 with Retry-After for one task delays all tasks', async () => {
	const { polled } = await poll(['a', 'b', 'c'], ['queued', tooMany(30_000)]);
	expect(polled).toStrictEqual(['a 0', 'b 0', 'c 30', 'a 30', 'b 30']);
});

test('a 429 without Retry-After pauses polls for 30 seconds, again and again', async () => {
	const { polled } = await poll(['a'], [tooMany(), tooMany(), 'queued', tooMany()]);
	expect(polled.map((each) => Number(each.slice(2)))).toStrictEqual([0, 30, 60, 69.5, 99.5]);
});

test('another retryable error pauses polls only with Retry-After', async () => {
	const busy = (retryAfterMs: object) =>
		new ServiceError('http', '', [], { status: 503, retryable: true, ...retryAfterMs });
	expect((await poll(['a', 'b'], [busy({})])).polled).toStrictEqual(['a 0', 'b 0', 'a 5.25']);
	const { polled } = await poll(['a', 'b'], [busy({ retryAfterMs: 7_000 })]);
	expect(polled).toStrictEqual(['a 0', 'b 7', 'a 7']);
});

test.each([429, 503])('a %i with a long Retry-After delays polls by a minute', async (status) => {
	const error = new ServiceError('http', 'busy', [], {
		status,
		retryable: true,
		retryAfterMs: 3_600_000,
	});
	const { polled } = await poll(['a', 'b'], [error]);
	expect(polled).toStrictEqual(['a 0', 'b 60', 'a 60']);
});

test('each task is polled at the deadline, whatever cooldown there is', async () => {
	const answers = Array<ServiceError>(11).fill(tooMany(3_600_000));
	const { polled, results } = await poll(['a', 'b'], answers);
	expect(polled.slice(-2)).toStrictEqual(['a 600', 'b 600']);
	expect(results).toMatchObject([
		{
			reason: 'timeout',
			waited_seconds: 600,
			error_message:
				'Not finished after 600 seconds; the task may still complete. The last poll failed: too many',
		},
		{ status: 'completed' },
	]);
});
