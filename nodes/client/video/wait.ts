import type { ServiceError } from '../errors';
import { taskState, type TaskReport } from './task';

/** When to ask, and for how long (spec 3.1: every 5 to 10 seconds, at most 10 minutes). */
export interface PollSchedule {
	/** Milliseconds between the first query of a task and the second. */
	readonly firstMs: number;
	/** Milliseconds between two queries at most; each gap is half as long again as the one before. */
	readonly maxMs: number;
	/** Milliseconds after which a task that is not finished counts as failed. */
	readonly limitMs: number;
}

export const DEFAULT_SCHEDULE: PollSchedule = { firstMs: 5_000, maxMs: 10_000, limitMs: 600_000 };

const GROWTH = 1.5;

export type WaitOutcome =
	| { readonly kind: 'completed'; readonly report: TaskReport }
	| { readonly kind: 'failed'; readonly reason: 'failed'; readonly report: TaskReport }
	/** Not finished within the limit. */
	| { readonly kind: 'failed'; readonly reason: 'timeout' }
	/** The service refuses to answer for this task, and asking again would not change that. */
	| { readonly kind: 'failed'; readonly reason: 'refused'; readonly error: ServiceError };

/** One status that a task was seen in. */
export interface Sighting {
	readonly status: string;
	/** Seconds since the wait began. */
	readonly at_seconds: number;
}

/** The wait for one task: a value, changed only by `noteReport` and `noteError`, which return the next one. */
export interface TaskWait {
	readonly taskId: string;
	readonly startedAtMs: number;
	/** When the next query is due. */
	readonly dueAtMs: number;
	readonly queries: number;
	/** Changes of status, oldest first. */
	readonly history: readonly Sighting[];
	/** Milliseconds since the wait began at the latest event. */
	readonly waitedMs: number;
	readonly outcome?: WaitOutcome;
}

/** The wait for a task, its first query due at once: it may have finished before. */
export function startWait(taskId: string, nowMs: number): TaskWait {
	return { taskId, startedAtMs: nowMs, dueAtMs: nowMs, queries: 0, history: [], waitedMs: 0 };
}

/** The wait after the service has told how the task stands. */
export function noteReport(
	wait: TaskWait,
	report: TaskReport,
	nowMs: number,
	schedule: PollSchedule,
): TaskWait {
	const seen = sighted(wait, report.status, nowMs);
	switch (taskState(report.status)) {
		case 'completed':
			return { ...seen, outcome: { kind: 'completed', report } };
		case 'failed':
			return { ...seen, outcome: { kind: 'failed', reason: 'failed', report } };
		case 'unfinished':
			return postponed(seen, nowMs, schedule, 0);
	}
}

/**
 * The wait after a query went wrong. A passing trouble (429, 503, network) keeps the wait going, as late
 * as the service asked for; a lasting one ends it.
 */
export function noteError(
	wait: TaskWait,
	error: ServiceError,
	nowMs: number,
	schedule: PollSchedule,
): TaskWait {
	const seen = { ...wait, queries: wait.queries + 1, waitedMs: nowMs - wait.startedAtMs };
	if (error.details.transient === true) {
		return postponed(seen, nowMs, schedule, error.details.retryAfterMs ?? 0);
	}
	return { ...seen, outcome: { kind: 'failed', reason: 'refused', error } };
}

function sighted(wait: TaskWait, status: string, nowMs: number): TaskWait {
	const waitedMs = nowMs - wait.startedAtMs;
	const changed = wait.history.at(-1)?.status !== status;
	const sighting = { status, at_seconds: Math.round(waitedMs / 100) / 10 };
	return {
		...wait,
		queries: wait.queries + 1,
		waitedMs,
		history: changed ? [...wait.history, sighting] : wait.history,
	};
}

function postponed(
	wait: TaskWait,
	nowMs: number,
	{ firstMs, maxMs, limitMs }: PollSchedule,
	atLeastMs: number,
): TaskWait {
	const endMs = wait.startedAtMs + limitMs;
	if (nowMs >= endMs) return { ...wait, outcome: { kind: 'failed', reason: 'timeout' } };

	const gapMs = Math.min(maxMs, firstMs * GROWTH ** (wait.queries - 1));
	return {
		...wait,
		dueAtMs: nowMs + fitted(gapMs, atLeastMs, endMs - nowMs, { firstMs, maxMs }),
	};
}

/** The gap, moved so that the last query falls on the limit and none follows another too closely. */
function fitted(
	gapMs: number,
	atLeastMs: number,
	leftMs: number,
	{ firstMs, maxMs }: Pick<PollSchedule, 'firstMs' | 'maxMs'>,
): number {
	const wantedMs = Math.max(gapMs, atLeastMs);
	if (leftMs >= wantedMs + firstMs) return wantedMs;
	return leftMs <= maxMs || atLeastMs > gapMs ? leftMs : leftMs / 2;
}
