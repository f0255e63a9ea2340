import { NO_COOLDOWN } from '../../nodes/client/video/poll/cooldown';
import { startPoll } from '../../nodes/client/video/poll/task';
import type { PollState } from '../../nodes/client/video/poll/pollTasks';
import { taskIdOf, type Notice } from '../server/taskRuns';

/** Spec 3.1: a task is asked for every 5 to 10 seconds. */
export const SHORTEST_GAP_MS = 5_000;

/** How many tasks there are, and when they finish, in milliseconds: half of them before the median. */
export interface TaskPlan {
	readonly count: number;
	readonly leastMs: number;
	readonly medianMs: number;
	readonly mostMs: number;
}

/** Spec 8: from 30 seconds to several minutes. */
export const REALISTIC = { leastMs: 25_000, medianMs: 90_000, mostMs: 300_000 };

const SIGMA = 0.6;

/** When tasks finish, in milliseconds, unsorted: log-normal between the least and the most, the same at every call. */
export async function finishTimes({
	count,
	leastMs,
	medianMs,
	mostMs,
}: TaskPlan): Promise<readonly number[]> {
	const { probit } = await import('simple-statistics');
	// A step without a common divisor with most counts spreads early and late ones over the list.
	const step = 73;
	return Array.from({ length: count }, (_, index) => {
		const share = (((index * step) % count) + 0.5) / count;
		const finishMs = medianMs * Math.exp(SIGMA * probit(share));
		return Math.round(Math.min(mostMs, Math.max(leastMs, finishMs)));
	});
}

/** Ids of tasks that finish then. */
export function taskIds(run: string, finishMs: readonly number[]): string[] {
	return finishMs.map((each, index) => taskIdOf({ run, index, finishMs: each }));
}

/** Initial polling state of these tasks. */
export function waitingFor(ids: readonly string[], nowMs: number): PollState {
	return { polls: ids.map((taskId) => startPoll(taskId, nowMs)), cooldown: NO_COOLDOWN };
}

/** What a way of waiting came to, in seconds. */
export interface WaitFigures {
	readonly makespan: number;
	readonly meanDelay: number;
	readonly worstDelay: number;
	readonly queries: number;
}

/** @throws Error when a task was not noticed. */
export function waitFigures(notices: readonly Notice[]): WaitFigures {
	const delays = notices.map(({ finishMs, noticedMs = NaN }) => noticedMs - finishMs);
	if (delays.some(Number.isNaN)) throw new Error('A finished task was not noticed');
	const seconds = (ms: number) => ms / 1000;
	return {
		makespan: seconds(Math.max(...notices.map(({ noticedMs = 0 }) => noticedMs))),
		meanDelay: seconds(delays.reduce((sum, each) => sum + each, 0) / delays.length),
		worstDelay: seconds(Math.max(...delays)),
		queries: notices.reduce((sum, { queries }) => sum + queries, 0),
	};
}

/** What polling every task at a fixed gap comes to when nothing takes any time. */
export function fixedGap(finishMs: readonly number[], gapMs: number): WaitFigures {
	return waitFigures(
		finishMs.map((each) => {
			const polls = Math.ceil(each / gapMs);
			return { finishMs: each, noticedMs: polls * gapMs, queries: polls + 1 };
		}),
	);
}
