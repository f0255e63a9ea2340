import { startPoll, type PollState } from '../../nodes/client/video/pollTasks';
import { taskIdOf, type TaskObservation } from '../server/taskRuns';

/** The service asks clients to poll a task every 5 to 10 seconds. */
export const MIN_INTERVAL_MS = 5_000;

/** Number of tasks, and the distribution of their durations in milliseconds. */
export interface TaskPlan {
	readonly count: number;
	readonly minMs: number;
	readonly medianMs: number;
	readonly maxMs: number;
}

/** The service takes from 30 seconds to several minutes for a video. */
export const REALISTIC = { minMs: 25_000, medianMs: 90_000, maxMs: 300_000 };

const SIGMA = 0.6;

/** Finish times in milliseconds, unsorted: log-normal, clipped to the minimum and maximum, the same on every call. */
export async function finishTimes({
	count,
	minMs,
	medianMs,
	maxMs,
}: TaskPlan): Promise<readonly number[]> {
	const { probit } = await import('simple-statistics');
	// A prime step shuffles early and late finish times over the list.
	const step = 73;
	return Array.from({ length: count }, (_, index) => {
		const share = (((index * step) % count) + 0.5) / count;
		const finishMs = medianMs * Math.exp(SIGMA * probit(share));
		return Math.round(Math.min(maxMs, Math.max(minMs, finishMs)));
	});
}

/** Task ids with these finish times. */
export function taskIds(run: string, finishMs: readonly number[]): string[] {
	return finishMs.map((each, index) => taskIdOf({ run, index, finishMs: each }));
}

/** The scheduler's initial state for these tasks. */
export function waitingFor(ids: readonly string[], nowMs: number): PollState {
	return { polls: ids.map((taskId) => startPoll(taskId, nowMs)), pausedUntilMs: 0 };
}

/** Figures of a polling strategy; times in seconds. */
export interface WaitFigures {
	/** Time until the last task was detected. */
	readonly makespan: number;
	readonly meanDelay: number;
	readonly worstDelay: number;
	readonly polls: number;
}

/** @throws Error if a finished task was not detected. */
export function waitFigures(observations: readonly TaskObservation[]): WaitFigures {
	const delays = observations.map(({ finishMs, detectedMs = NaN }) => detectedMs - finishMs);
	if (delays.some(Number.isNaN)) throw new Error('A finished task was not detected');
	const seconds = (ms: number) => ms / 1000;
	return {
		makespan: seconds(Math.max(...observations.map(({ detectedMs = 0 }) => detectedMs))),
		meanDelay: seconds(delays.reduce((sum, each) => sum + each, 0) / delays.length),
		worstDelay: seconds(Math.max(...delays)),
		polls: observations.reduce((sum, { polls }) => sum + polls, 0),
	};
}

/** Computes the figures of polling every task at a fixed interval, with polls that take no time. */
export function fixedInterval(finishMs: readonly number[], intervalMs: number): WaitFigures {
	return waitFigures(
		finishMs.map((each) => {
			const intervals = Math.ceil(each / intervalMs);
			return { finishMs: each, detectedMs: intervals * intervalMs, polls: intervals + 1 };
		}),
	);
}
