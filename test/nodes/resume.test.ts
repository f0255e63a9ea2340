import { startPoll } from '../../nodes/client/video/pollTasks';
import { nextResumeMs } from '../../nodes/WaitForVideo/execute';

/** Seconds until the next step of a task that has been polled for `elapsed` seconds. */
const step = (elapsed: number, timeout: number, pausedUntilMs = 0) => {
	const nowMs = elapsed * 1000;
	const state = { polls: [startPoll('a', 0)], pausedUntilMs };
	return (nextResumeMs(state, nowMs, timeout * 1000) - nowMs) / 1000;
};

test.each([
	['a minute, where the deadline is whole minutes away', 0, 600, 60],
	['a little more, so that a step ends on the deadline', 1, 600, 66.556],
	['up to two minutes: a shorter step would end late', 0, 90, 90],
	['the remaining time, if it is less than a minute', 560, 600, 40],
	['no time, after the deadline', 610, 600, 0],
])('a step takes %s', (_name, elapsed, timeout, seconds) => {
	expect(step(elapsed, timeout)).toBeCloseTo(seconds, 2);
});

test('a step lasts at least until the end of a pause, up to the deadline', () => {
	expect(step(0, 600, 100_000)).toBe(100);
	expect(step(0, 600, 3_600_000)).toBe(600);
});

test('the deadline of the oldest unfinished task decides', () => {
	const finished = { ...startPoll('a', 0), outcome: 'timeout' as const };
	const polls = [finished, startPoll('b', 100_000)];
	expect(nextResumeMs({ polls, pausedUntilMs: 0 }, 100_000, 600_000)).toBe(160_000);
});
