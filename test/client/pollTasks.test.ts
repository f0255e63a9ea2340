import fc from 'fast-check';

import { ServiceError } from '../../nodes/client/errors';
import { pollTasks, startPoll } from '../../nodes/client/video/pollTasks';
import type { TaskReport } from '../../nodes/client/video/tasks';
import { pollResult } from '../../nodes/client/video/pollResult';
import { seededRandom } from '../support/seededRandom';
import { fakeClock } from '../support/fakeClock';

/** Real time that a test may take, in milliseconds: a thousand tasks make many polls. */
const TEST_TIMEOUT_MS = 60_000;

const network = new ServiceError('network', 'broke', [], { retryable: true });
const tooMany = new ServiceError('http', 'too many', [], {
	status: 429,
	retryable: true,
	retryAfterMs: 15_000,
});

/** How the simulated service behaves, and how it is polled. */
interface Simulation {
	readonly tasks: number;
	readonly seed: number;
	/** Maximum latency of a response, in milliseconds. */
	readonly latencyMs: number;
	/** Period in which every poll gets 429. */
	readonly outage: readonly [fromMs: number, toMs: number];
	readonly timeoutMs?: number;
	readonly concurrency?: number;
	/** Probability that the connection of a poll breaks. */
	readonly breakRate: number;
}

/** Polls a simulated service with tasks that finish at random times; returns the tasks, their polls and results. */
async function simulate({
	tasks,
	seed,
	latencyMs,
	outage,
	timeoutMs = 600_000,
	concurrency = 50,
	breakRate,
}: Simulation) {
	const random = seededRandom(seed);
	const clock = fakeClock(0, seededRandom(seed + 1));
	const fateOf = new Map(
		Array.from({ length: tasks }, (_, index) => [
			`task-${index}`,
			{
				endMs: Math.floor(5_000 + random() * 500_000),
				end: random() < 0.05 ? 'failed' : 'completed',
			},
		]),
	);
	const pollsOf = new Map<string, { atMs: number; good: boolean }[]>();
	const concurrent = { now: 0, max: 0 };

	async function queryStatus(taskId: string): Promise<TaskReport> {
		const atMs = clock.now();
		const isOutage = atMs >= outage[0] && atMs < outage[1];
		const isBroken = random() < breakRate;
		pollsOf.set(taskId, [
			...(pollsOf.get(taskId) ?? []),
			{ atMs, good: !isOutage && !isBroken },
		]);
		concurrent.max = Math.max(concurrent.max, ++concurrent.now);
		await clock.sleep(Math.floor(random() * latencyMs));
		concurrent.now--;
		if (isOutage) throw tooMany;
		if (isBroken) throw network;
		const { endMs, end } = fateOf.get(taskId)!;
		const status = atMs >= endMs ? end : 'processing';
		return { task_id: taskId, status, video_url: 'https://files.example/a.mp4' };
	}

	const polls = [...fateOf.keys()].map((taskId) => startPoll(taskId, clock.now()));
	const options = { timeoutMs, concurrency };
	const done = await pollTasks(clock, { polls, pausedUntilMs: 0 }, queryStatus, options);
	return { fateOf, pollsOf, maxConcurrent: concurrent.max, results: done.polls.map(pollResult) };
}

test(
	'a thousand tasks with failures, broken connections and a minute of 429 responses',
	async () => {
		const outage = [120_000, 180_000] as const;
		const latencyMs = 300;
		const { fateOf, pollsOf, maxConcurrent, results } = await simulate({
			tasks: 1_000,
			seed: 7,
			latencyMs,
			outage,
			breakRate: 0.02,
		});

		expect(results.map(({ task_id: id }) => id)).toStrictEqual([...fateOf.keys()]);
		expect(
			results.filter(({ status }, index) => status !== [...fateOf.values()][index]!.end),
		).toEqual([]);
		expect(results.filter(({ status }) => status === 'failed').length).toBeGreaterThan(30);
		expect(maxConcurrent).toBeLessThanOrEqual(50);

		for (const [taskId, { endMs }] of fateOf) {
			const polled = pollsOf.get(taskId)!;
			const intervals = polled.slice(1).map(({ atMs }, index) => atMs - polled[index]!.atMs);
			expect(Math.min(Infinity, ...intervals)).toBeGreaterThanOrEqual(5_000);

			// The first poll after the end comes within an interval; another one follows only if it failed.
			const late = polled.filter(({ atMs }) => atMs >= endMs);
			const [first] = late;
			const inOutage = endMs > outage[0] - 10_000 && endMs < outage[1] + 15_000;
			const allowedMs = 10_000 + 2 * latencyMs + (inOutage ? 60_000 + 2 * 15_000 : 0);
			expect(first!.atMs - endMs).toBeLessThanOrEqual(allowedMs);
			expect(late.map(({ good }) => good).indexOf(true)).toBe(late.length - 1);
		}
	},
	TEST_TIMEOUT_MS,
);

test(
	'during a minute of 429 responses hardly any poll is made',
	async () => {
		const outage = [120_000, 180_000] as const;
		const { pollsOf } = await simulate({
			tasks: 1_000,
			seed: 3,
			latencyMs: 300,
			outage,
			breakRate: 0,
		});
		const during = [...pollsOf.values()]
			.flat()
			.filter(({ atMs }) => atMs >= outage[0] && atMs < outage[1]);
		// For each Retry-After at most as many polls as are concurrent.
		expect(during.length).toBeLessThanOrEqual(5 * 50);
	},
	TEST_TIMEOUT_MS,
);

test(
	'with any timeout, two polls of a task are at least 5 seconds apart',
	async () => {
		const seconds = (min: number, max: number) =>
			fc.integer({ min: min * 10, max: max * 10 }).map((tenths) => tenths * 100);
		const simulations = fc.record({
			seed: fc.integer({ min: 1, max: 1_000_000 }),
			latencyMs: seconds(0, 8),
			timeoutMs: seconds(0, 90),
		});
		await fc.assert(
			fc.asyncProperty(simulations, async ({ seed, latencyMs, timeoutMs }) => {
				const { pollsOf, results } = await simulate({
					tasks: 5,
					seed,
					latencyMs,
					outage: [20_000, 25_000],
					timeoutMs,
					breakRate: 0.1,
				});
				for (const polled of pollsOf.values()) {
					const intervals = polled
						.slice(1)
						.map(({ atMs }, index) => atMs - polled[index]!.atMs);
					expect(Math.min(Infinity, ...intervals)).toBeGreaterThanOrEqual(5_000);
					expect(polled.at(-1)!.atMs).toBeLessThanOrEqual(timeoutMs);
				}
				expect(results).toHaveLength(5);
			}),
			{ numRuns: 200, seed: 11 },
		);
	},
	TEST_TIMEOUT_MS,
);
