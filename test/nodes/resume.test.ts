import { NO_COOLDOWN, type RateLimitCooldown } from '../../nodes/client/video/poll/cooldown';
import { startPoll } from '../../nodes/client/video/poll/task';
import { nextResumeMs } from '../../nodes/WaitForVideo/resume';

/** Seconds until the next step of a task that has waited so many seconds. */
const step = (waited: number, limit: number, pause: RateLimitCooldown = NO_COOLDOWN) => {
	const nowMs = waited * 1000;
	const waiting = { polls: [startPoll('a', 0)], pause };
	return (nextResumeMs(waiting, nowMs, limit * 1000) - nowMs) / 1000;
};

test.each([
	['a minute, where the limit is whole minutes away', 0, 600, 60],
	['a little more, so that a step falls on the limit', 1, 600, 66.556],
	['up to two minutes: a shorter step would end late', 0, 90, 90],
	['what is left, after a late start', 560, 600, 40],
	['nothing, beyond the limit', 610, 600, 0],
])('a step takes %s', (_name, waited, limit, seconds) => {
	expect(step(waited, limit)).toBeCloseTo(seconds, 2);
});

test('a pause that the service asked for is kept, up to the limit', () => {
	expect(step(0, 600, { untilMs: 100_000, consecutive: 1 })).toBe(100);
	expect(step(0, 600, { untilMs: 3_600_000, consecutive: 1 })).toBe(600);
});

test('the oldest task that is not finished decides', () => {
	const finished = {
		...startPoll('a', 0),
		outcome: { kind: 'failed', reason: 'timeout' } as const,
	};
	const polls = [finished, startPoll('b', 100_000)];
	expect(nextResumeMs({ polls, pause: NO_COOLDOWN }, 100_000, 600_000)).toBe(160_000);
});
