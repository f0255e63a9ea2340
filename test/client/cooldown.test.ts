import { ServiceError } from '../../nodes/client/errors';
import {
	NO_COOLDOWN,
	nextCooldown,
	type RateLimitCooldown,
} from '../../nodes/client/video/poll/cooldown';
import type { TaskReport } from '../../nodes/client/video/queryTask';
import { DEFAULT_SCHEDULE, startPoll } from '../../nodes/client/video/poll/task';
import { pollTasks } from '../../nodes/client/video/poll/pollTasks';
import { pollResult } from '../../nodes/client/video/poll/result';
import { fakeClock } from '../support/fakeClock';

const tooMany = (retryAfterMs?: number) =>
	new ServiceError('http', 'too many', '', {
		status: 429,
		retryable: true,
		...(retryAfterMs === undefined ? {} : { retryAfterMs }),
	});
const schedule = { ...DEFAULT_SCHEDULE, jitter: 0 };

/** Asks for tasks, one query at a time; the n-th query of all gets the n-th answer, further ones say completed. */
async function wait(ids: readonly string[], answers: readonly (ServiceError | 'queued')[]) {
	const clock = fakeClock();
	const asked: string[] = [];
	const query = (taskId: string): Promise<TaskReport> => {
		const answer = answers[asked.length] ?? 'completed';
		asked.push(`${taskId} ${clock.now() / 1000}`);
		return answer instanceof ServiceError
			? Promise.reject(answer)
			: Promise.resolve({ task_id: taskId, status: answer });
	};
	const polls = ids.map((taskId) => startPoll(taskId, clock.now()));
	const options = { schedule, concurrency: 1 };
	const done = await pollTasks(clock, { polls, pause: NO_COOLDOWN }, query, options);
	return { asked, results: done.polls.map(pollResult) };
}

test('everybody polls as long as the service told one of them', async () => {
	const { asked } = await wait(['a', 'b', 'c'], ['queued', tooMany(30_000)]);
	expect(asked).toStrictEqual(['a 0', 'b 0', 'c 30', 'a 30', 'b 30']);
});

test('a service that stays too busy is left alone for longer and longer, until it answers', async () => {
	const { asked } = await wait(
		['a'],
		[tooMany(), tooMany(), tooMany(), tooMany(), tooMany(), 'queued', tooMany()],
	);
	expect(asked.map((each) => Number(each.slice(2)))).toStrictEqual([
		0, 10, 30, 70, 130, 190, 200, 210,
	]);
});

test('a pause beyond the limit ends the wait at the limit, without a query', async () => {
	const { asked, results } = await wait(['a'], [tooMany(3_600_000)]);
	expect(asked).toStrictEqual(['a 0']);
	expect(results[0]).toMatchObject({ reason: 'timeout', waited_seconds: 600 });
});

test('answers to queries that were under way together count as one refusal', () => {
	const together = [tooMany(), tooMany(), tooMany(20_000)];
	const pause = together.reduce<RateLimitCooldown>(
		(so, error) => nextCooldown(so, error, 1_000),
		NO_COOLDOWN,
	);
	expect(pause).toStrictEqual({ untilMs: 21_000, consecutive: 1 });
	expect(nextCooldown(pause, undefined, 2_000)).toBe(pause);
	expect(nextCooldown(pause, undefined, 21_000)).toBe(NO_COOLDOWN);
});

test('another passing trouble pauses nobody, unless the service names a time', () => {
	const busy = (retryAfterMs: object) =>
		new ServiceError('http', '', '', { status: 503, retryable: true, ...retryAfterMs });
	expect(nextCooldown(NO_COOLDOWN, busy({}), 0)).toBe(NO_COOLDOWN);
	expect(nextCooldown(NO_COOLDOWN, busy({ retryAfterMs: 7_000 }), 0).untilMs).toBe(7_000);
});
