import { pollTasks, startPoll } from '../../nodes/client/video/pollTasks';
import { fakeClock } from '../support/fakeClock';
import { seededRandom } from '../support/seededRandom';

/** Real time that a test may take, in milliseconds. */
const TEST_TIMEOUT_MS = 60_000;
const TASKS = 5_000;
const OPTIONS = { timeoutMs: 600_000, concurrency: 50 };

/** Polls tasks with these finish times; returns the times of the polls, and when the last task was seen finished. */
async function poll(finishMs: readonly number[], latencyMs: number) {
	const clock = fakeClock();
	const startedAtMs: number[][] = finishMs.map(() => []);
	let sleeping = 0;
	let maxSleeping = 0;
	const counted = {
		...clock,
		sleep: async (ms: number, end?: AbortSignal) => {
			maxSleeping = Math.max(maxSleeping, ++sleeping);
			await clock.sleep(ms, end);
			sleeping--;
		},
	};
	const state = {
		polls: finishMs.map((_finish, index) => startPoll(String(index), 0)),
		pausedUntilMs: 0,
	};
	const done = await pollTasks(
		counted,
		state,
		async (taskId) => {
			startedAtMs[Number(taskId)]!.push(clock.now());
			if (latencyMs > 0) await clock.sleep(latencyMs);
			const isFinished = clock.now() >= finishMs[Number(taskId)]!;
			const status = isFinished ? 'completed' : 'processing';
			return { task_id: taskId, status, video_url: 'https://files.example/a.mp4' };
		},
		OPTIONS,
	);
	const isAll = done.polls.every(({ outcome }) => outcome === 'completed');
	const makespanMs = Math.max(...done.polls.map(({ elapsedMs }) => elapsedMs));
	return { isAll, startedAtMs, makespanMs, maxSleeping };
}

const random = seededRandom(5);
const FINISH_MS = Array.from({ length: TASKS }, () => Math.round(25_000 + random() * 275_000));

/** The pauses between the polls of a task, the first one since the start. */
function pauses(polledAtMs: readonly number[]): readonly number[] {
	return polledAtMs.map((atMs, index) => atMs - (polledAtMs[index - 1] ?? 0));
}

test(
	'each of 5,000 tasks is polled every 5 to 10 seconds, and seen finished within 10',
	async () => {
		const { isAll, startedAtMs, maxSleeping } = await poll(FINISH_MS, 0);
		expect(isAll).toBe(true);
		const late = startedAtMs.map((polled, index) => polled.at(-1)! - FINISH_MS[index]!);
		expect(Math.max(...late)).toBeLessThanOrEqual(10_000);
		expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
		const between = startedAtMs.flatMap((polled) => pauses(polled).slice(1));
		expect(Math.min(...between)).toBeGreaterThanOrEqual(5_000);
		expect(Math.max(...between)).toBeLessThanOrEqual(10_000);
		// Not a timer for each task.
		expect(maxSleeping).toBeLessThanOrEqual(OPTIONS.concurrency);
	},
	TEST_TIMEOUT_MS,
);

test('all tasks are asked at once, as far as slots are free', async () => {
	const { startedAtMs } = await poll(FINISH_MS.slice(0, 100), 0);
	expect(new Set(startedAtMs.map(([first]) => first))).toStrictEqual(new Set([0]));
});

test(
	'where more polls are due than slots, no slot is ever empty',
	async () => {
		const latencyMs = 300;
		const { isAll, startedAtMs, makespanMs } = await poll(FINISH_MS, latencyMs);
		expect(isAll).toBe(true);
		// Most tasks are unfinished by then, so that three times as many polls are due.
		const [fromMs, untilMs] = [12_000, 120_000];
		const fitting = ((untilMs - fromMs) / latencyMs) * OPTIONS.concurrency;
		expect(startedAtMs.flat().filter((atMs) => atMs >= fromMs && atMs < untilMs)).toHaveLength(
			fitting,
		);
		expect(makespanMs).toBeLessThanOrEqual(Math.max(...FINISH_MS) + 10_000 + 2 * latencyMs);
	},
	TEST_TIMEOUT_MS,
);
