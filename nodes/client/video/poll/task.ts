import type { ServiceError } from '../../errors';
import { taskState, type TaskReport } from '../queryTask';
import { backoffInterval, clipToDeadline, type PollSchedule } from './schedule';

/** Malformed responses before the first good one after which the base URL counts as wrong. */
const STRANGE_ANSWERS = 3;

/** How polling a task ended. */
export type PollOutcome =
	| { readonly kind: 'completed'; readonly report: TaskReport }
	| { readonly kind: 'failed'; readonly reason: 'failed'; readonly report: TaskReport }
	/** Not finished at the deadline. */
	| { readonly kind: 'failed'; readonly reason: 'timeout' }
	/** The service rejects status polls for this task, and another one would be rejected, too. */
	| { readonly kind: 'failed'; readonly reason: 'refused'; readonly message: string };

/** A status transition, with its time. */
export interface StatusChange {
	readonly status: string;
	/** Seconds since polling began. */
	readonly at_seconds: number;
}

/**
 * Polling state of one task: a JSON value that can be saved. The functions below are pure: they return the next
 * state.
 */
export interface TaskPoll {
	readonly taskId: string;
	readonly startedAtMs: number;
	/** When the next poll is due. */
	readonly dueAtMs: number;
	readonly pollCount: number;
	/** Status transitions, oldest first. */
	readonly history: readonly StatusChange[];
	/** Milliseconds from the start of polling to the latest event. */
	readonly elapsedMs: number;
	readonly outcome?: PollOutcome;
}

/** Clock reading, random number and schedule, injected so that the reducer stays pure. */
export interface PollContext {
	readonly nowMs: number;
	/** At least 0, below 1. */
	readonly random: number;
	readonly schedule: PollSchedule;
}

/** Initial state of a task. The first poll is due at once, because the task may have finished already. */
export function startPoll(taskId: string, nowMs: number): TaskPoll {
	return { taskId, startedAtMs: nowMs, dueAtMs: nowMs, pollCount: 0, history: [], elapsedMs: 0 };
}

/** State after a poll that returned the status of the task. */
export function applyReport(task: TaskPoll, report: TaskReport, context: PollContext): TaskPoll {
	const polled = countPoll(task, context.nowMs);
	const next = { ...polled, history: withStatus(polled, report.status) };
	switch (taskState(report.status)) {
		case 'completed':
			return { ...next, outcome: { kind: 'completed', report } };
		case 'failed':
			return { ...next, outcome: { kind: 'failed', reason: 'failed', report } };
		case 'unfinished':
			return reschedule(next, context);
	}
}

/**
 * State after a poll that failed. Retryable errors (429, 503, network) reschedule the poll. A malformed response does
 * too, up to STRANGE_ANSWERS times before the first good one. Everything else is terminal.
 */
export function applyError(task: TaskPoll, error: ServiceError, context: PollContext): TaskPoll {
	const polled = countPoll(task, context.nowMs);
	const isTolerated =
		error.kind === 'protocol' &&
		(polled.history.length > 0 || polled.pollCount < STRANGE_ANSWERS);
	if (error.details.retryable === true || isTolerated) return reschedule(polled, context);
	return {
		...polled,
		outcome: { kind: 'failed', reason: 'refused', message: withServiceMessage(error) },
	};
}

/** State at the deadline, where no further poll is allowed. */
export function applyTimeout(task: TaskPoll, nowMs: number): TaskPoll {
	return {
		...task,
		elapsedMs: nowMs - task.startedAtMs,
		outcome: { kind: 'failed', reason: 'timeout' },
	};
}

function countPoll(task: TaskPoll, nowMs: number): TaskPoll {
	return { ...task, pollCount: task.pollCount + 1, elapsedMs: nowMs - task.startedAtMs };
}

function withStatus({ history, elapsedMs }: TaskPoll, status: string): readonly StatusChange[] {
	if (history.at(-1)?.status === status) return history;
	return [...history, { status, at_seconds: Math.round(elapsedMs / 100) / 10 }];
}

function reschedule(task: TaskPoll, { nowMs, random, schedule }: PollContext): TaskPoll {
	const remainingMs = task.startedAtMs + schedule.timeoutMs - nowMs;
	if (remainingMs <= 0) return applyTimeout(task, nowMs);
	const intervalMs = backoffInterval(schedule, task.pollCount, random);
	return { ...task, dueAtMs: nowMs + clipToDeadline(intervalMs, remainingMs, schedule) };
}

function withServiceMessage({ message, details }: ServiceError): string {
	return details.serviceMessage === undefined ? message : `${message}: ${details.serviceMessage}`;
}
