import fc from 'fast-check';

import { ServiceError } from '../../nodes/client/errors';
import { NO_COOLDOWN } from '../../nodes/client/video/poll/cooldown';
import type { TaskReport } from '../../nodes/client/video/queryTask';
import { DEFAULT_SCHEDULE, startPoll, type PollSchedule } from '../../nodes/client/video/poll/task';
import { pollTasks } from '../../nodes/client/video/poll/pollTasks';
import { pollResult } from '../../nodes/client/video/poll/result';
import { fakeClock } from '../support/fakeClock';

/** Milliseconds of real time: an hour of a thousand tasks is many queries. */
const LIMIT_MS = 60_000;

/** A generator of chance with a seed (mulberry32). */
function seeded(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let t = Math.imul(state ^ (state >>> 15), 1 | state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
	};
}

const network = new ServiceError('network', 'broke', '', { retryable: true });
const tooMany = new ServiceError('http', 'too many', '', {
	status: 429,
	retryable: true,
	retryAfterMs: 15_000,
});

interface World {
	readonly tasks: number;
	readonly seed: number;
	/** Milliseconds that an answer takes at most. */
	readonly latencyMs: number;
	/** Seconds of the minute in which every query gets 429. */
	readonly storm: readonly [fromMs: number, toMs: number];
	readonly schedule: PollSchedule;
	/** Chance that a query meets a broken connection. */
	readonly broken: number;
}

/** A service with tasks that finish at random times, and everything that was asked of it. */
async function live({ tasks, seed, latencyMs, storm, schedule, broken }: World) {
	const random = seeded(seed);
	const clock = fakeClock(0, seeded(seed + 1));
	const fates = new Map(
		Array.from({ length: tasks }, (_, index) => [
			`task-${index}`,
			{
				endMs: Math.floor(5_000 + random() * 500_000),
				end: random() < 0.05 ? 'failed' : 'completed',
			},
		]),
	);
	const asked = new Map<string, { atMs: number; good: boolean }[]>();
	const most = { now: 0, ever: 0 };

	async function query(taskId: string): Promise<TaskReport> {
		const atMs = clock.now();
		const isStorm = atMs >= storm[0] && atMs < storm[1];
		const isBroken = random() < broken;
		asked.set(taskId, [...(asked.get(taskId) ?? []), { atMs, good: !isStorm && !isBroken }]);
		most.ever = Math.max(most.ever, ++most.now);
		await clock.sleep(Math.floor(random() * latencyMs));
		most.now--;
		if (isStorm) throw tooMany;
		if (isBroken) throw network;
		const { endMs, end } = fates.get(taskId)!;
		return { task_id: taskId, status: atMs >= endMs ? end : 'processing' };
	}

	const polls = [...fates.keys()].map((taskId) => startPoll(taskId, clock.now()));
	const options = { schedule, concurrency: 50 };
	const done = await pollTasks(clock, { polls, pause: NO_COOLDOWN }, query, options);
	return { fates, asked, most: most.ever, results: done.polls.map(pollResult) };
}

test(
	'a thousand tasks through failures, broken connections and a storm of 429',
	async () => {
		const storm = [120_000, 180_000] as const;
		const latencyMs = 300;
		const { fates, asked, most, results } = await live({
			tasks: 1_000,
			seed: 7,
			latencyMs,
			storm,
			schedule: DEFAULT_SCHEDULE,
			broken: 0.02,
		});

		expect(results.map(({ task_id: id }) => id)).toStrictEqual([...fates.keys()]);
		expect(
			results.filter(({ status }, index) => status !== [...fates.values()][index]!.end),
		).toEqual([]);
		expect(results.filter(({ status }) => status === 'failed').length).toBeGreaterThan(30);
		expect(most).toBeLessThanOrEqual(50);

		for (const [taskId, { endMs }] of fates) {
			const queries = asked.get(taskId)!;
			const gaps = queries.slice(1).map(({ atMs }, index) => atMs - queries[index]!.atMs);
			expect(Math.min(Infinity, ...gaps)).toBeGreaterThanOrEqual(5_000);

			// The first query after the end is within an interval, and only a bad one is followed by another.
			const late = queries.filter(({ atMs }) => atMs >= endMs);
			const [first] = late;
			const inStorm = endMs > storm[0] - 10_000 && endMs < storm[1] + 15_000;
			const allowedMs = 10_000 + 2 * latencyMs + (inStorm ? 60_000 + 2 * 15_000 : 0);
			expect(first!.atMs - endMs).toBeLessThanOrEqual(allowedMs);
			expect(late.map(({ good }) => good).indexOf(true)).toBe(late.length - 1);
		}
	},
	LIMIT_MS,
);

test(
	'in the storm hardly anything is asked',
	async () => {
		const storm = [120_000, 180_000] as const;
		const { asked } = await live({
			tasks: 1_000,
			seed: 3,
			latencyMs: 300,
			storm,
			schedule: DEFAULT_SCHEDULE,
			broken: 0,
		});
		const during = [...asked.values()]
			.flat()
			.filter(({ atMs }) => atMs >= storm[0] && atMs < storm[1]);
		// One volley of what is under way at once for each Retry-After.
		expect(during.length).toBeLessThanOrEqual(5 * 50);
	},
	LIMIT_MS,
);

test(
	'whatever the schedule, no two queries for a task are closer than 5 seconds',
	async () => {
		const seconds = (min: number, max: number) =>
			fc.integer({ min: min * 10, max: max * 10 }).map((tenths) => tenths * 100);
		const worlds = fc.record({
			seed: fc.integer({ min: 1, max: 1_000_000 }),
			latencyMs: seconds(0, 8),
			firstMs: seconds(5, 10),
			maxMs: seconds(5, 10),
			limitMs: seconds(0, 90),
			jitter: fc.double({ min: 0, max: 0.5, noNaN: true }),
		});
		await fc.assert(
			fc.asyncProperty(
				worlds,
				async ({ seed, latencyMs, firstMs, maxMs, limitMs, jitter }) => {
					const { asked, results } = await live({
						tasks: 5,
						seed,
						latencyMs,
						storm: [20_000, 25_000],
						schedule: { firstMs, maxMs: Math.max(firstMs, maxMs), limitMs, jitter },
						broken: 0.1,
					});
					for (const queries of asked.values()) {
						const gaps = queries
							.slice(1)
							.map(({ atMs }, index) => atMs - queries[index]!.atMs);
						expect(Math.min(Infinity, ...gaps)).toBeGreaterThanOrEqual(5_000);
						expect(queries.at(-1)!.atMs).toBeLessThanOrEqual(limitMs);
					}
					expect(results).toHaveLength(5);
				},
			),
			{ numRuns: 200, seed: 11 },
		);
	},
	LIMIT_MS,
);
