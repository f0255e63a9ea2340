import type { ServiceError } from '../../errors';
import { taskState, type TaskReport } from '../queryTask';

/** When to ask, and for how long (spec 3.1: every 5 to 10 seconds, at most 10 minutes). */
export interface PollSchedule {
	/** Milliseconds between the first query of a task and the second. */
	readonly firstMs: number;
	/** Milliseconds between two queries at most; each gap is half as long again as the one before. */
	readonly maxMs: number;
	/** Milliseconds after which a task that is not finished counts as failed. */
	readonly limitMs: number;
	/** Share by which a gap may be longer or shorter, so that tasks created together drift apart; 0 to 1. */
	readonly jitter: number;
}

export const DEFAULT_SCHEDULE: PollSchedule = {
	firstMs: 5_000,
	maxMs: 10_000,
	limitMs: 600_000,
	jitter: 0.1,
};

/** Milliseconds that always lie between two queries for a task (spec 3.1). */
const MIN_GAP_MS = 5_000;
const GROWTH = 1.5;
/** Answers that are not the service's after which its address counts as wrong, if there was no good one. */
const STRANGE_ANSWERS = 3;

export type PollOutcome =
	| { readonly kind: 'completed'; readonly report: TaskReport }
	| { readonly kind: 'failed'; readonly reason: 'failed'; readonly report: TaskReport }
	/** Not finished within the limit. */
	| { readonly kind: 'failed'; readonly reason: 'timeout' }
	/** The service refuses to answer for this task, and asking again would not change that. */
	| { readonly kind: 'failed'; readonly reason: 'http'; readonly message: string };

/** One status that a task was seen in. */
export interface StatusChange {
	readonly status: string;
	/** Seconds since the wait began. */
	readonly at_seconds: number;
}

/**
 * The wait for one task: a JSON value that can be saved, changed only by the functions below, which return the
 * next one.
 */
export interface TaskPoll {
	readonly taskId: string;
	readonly startedAtMs: number;
	/** When the next query is due. */
	readonly dueAtMs: number;
	readonly queries: number;
	/** Changes of status, oldest first. */
	readonly history: readonly StatusChange[];
	/** Milliseconds since the wait began at the latest event. */
	readonly waitedMs: number;
	readonly outcome?: PollOutcome;
}

/** What a change of a wait depends on beside the event. */
export interface PollContext {
	readonly nowMs: number;
	/** At least 0, below 1. */
	readonly random: number;
	readonly schedule: PollSchedule;
}

/** The wait for a task, its first query due at once: it may have finished before. */
export function startPoll(taskId: string, nowMs: number): TaskPoll {
	return { taskId, startedAtMs: nowMs, dueAtMs: nowMs, queries: 0, history: [], waitedMs: 0 };
}

/** The wait after the service has told how the task stands. */
export function applyReport(
	wait: TaskPoll,
	report: TaskReport,
	pollContext: PollContext,
): TaskPoll {
	const asked = answered(wait, pollContext.nowMs);
	const seen = { ...asked, history: withStatus(asked, report.status) };
	switch (taskState(report.status)) {
		case 'completed':
			return { ...seen, outcome: { kind: 'completed', report } };
		case 'failed':
			return { ...seen, outcome: { kind: 'failed', reason: 'failed', report } };
		case 'unfinished':
			return postponed(seen, pollContext);
	}
}

/**
 * The wait after a query went wrong. A passing trouble (429, 503, network) keeps the wait going, and so does an
 * answer that is not the service's once it has answered; a lasting one ends it.
 */
export function applyError(
	wait: TaskPoll,
	error: ServiceError,
	pollContext: PollContext,
): TaskPoll {
	const asked = answered(wait, pollContext.nowMs);
	const isStrange =
		error.kind === 'protocol' && (asked.history.length > 0 || asked.queries < STRANGE_ANSWERS);
	if (error.details.retryable === true || isStrange) return postponed(asked, pollContext);
	return { ...asked, outcome: { kind: 'failed', reason: 'http', message: inWords(error) } };
}

/** The wait at its limit, when no query is allowed there. */
export function applyTimeout(wait: TaskPoll, nowMs: number): TaskPoll {
	return {
		...wait,
		waitedMs: nowMs - wait.startedAtMs,
		outcome: { kind: 'failed', reason: 'timeout' },
	};
}

function answered(wait: TaskPoll, nowMs: number): TaskPoll {
	return { ...wait, queries: wait.queries + 1, waitedMs: nowMs - wait.startedAtMs };
}

function withStatus({ history, waitedMs }: TaskPoll, status: string): readonly StatusChange[] {
	if (history.at(-1)?.status === status) return history;
	return [...history, { status, at_seconds: Math.round(waitedMs / 100) / 10 }];
}

function postponed(wait: TaskPoll, { nowMs, random, schedule }: PollContext): TaskPoll {
	const leftMs = wait.startedAtMs + schedule.limitMs - nowMs;
	if (leftMs <= 0) return applyTimeout(wait, nowMs);
	return { ...wait, dueAtMs: nowMs + fitted(gapMs(wait, schedule, random), leftMs, schedule) };
}

function gapMs(
	{ queries }: TaskPoll,
	{ firstMs, maxMs, jitter }: PollSchedule,
	random: number,
): number {
	const middleMs = Math.min(maxMs, firstMs * GROWTH ** (queries - 1));
	const lowMs = Math.max(firstMs, middleMs * (1 - jitter));
	const highMs = Math.min(maxMs, middleMs * (1 + jitter));
	return Math.round(lowMs + random * (highMs - lowMs));
}

/** The gap, moved so that the last query falls on the limit and none follows another too closely. */
function fitted(gap: number, leftMs: number, { firstMs, maxMs }: PollSchedule): number {
	if (leftMs >= gap + firstMs) return gap;
	if (leftMs > maxMs && leftMs >= 2 * MIN_GAP_MS) return Math.round(leftMs / 2);
	return Math.max(leftMs, MIN_GAP_MS);
}

function inWords({ message, details }: ServiceError): string {
	return details.serviceMessage === undefined ? message : `${message}: ${details.serviceMessage}`;
}
