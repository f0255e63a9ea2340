import { isCanceled, ServiceError } from '../../errors';
import type { Clock } from '../../ports';
import type { TaskReport } from '../taskState';
import { applyError, applyReport, wrongServiceError, type TaskPoll } from './task';

/** Polling state of all tasks: a JSON value. Its times are of the clock that polls; `withTimesMoved` makes others of them. */
export interface PollState {
	/** Each task once. */
	readonly polls: readonly TaskPoll[];
	/** No poll starts before, except the last one of a task. Rate limits are per account, not per task. */
	readonly pausedUntilMs: number;
}

/** The state with its times on another clock, which is ahead by this much: it is saved with times of the wall clock. */
export function withTimesMoved({ polls, pausedUntilMs }: PollState, aheadMs: number): PollState {
	return {
		pausedUntilMs: pausedUntilMs + aheadMs,
		polls: polls.map(({ startedAtMs, dueAtMs, ...task }) => ({
			...task,
			startedAtMs: startedAtMs + aheadMs,
			dueAtMs: dueAtMs + aheadMs,
		})),
	};
}

export interface PollTasksOptions {
	/** Milliseconds after the start of polling at which a task that is not finished counts as failed. */
	readonly timeoutMs: number;
	/** Maximum number of concurrent status polls. */
	readonly concurrency: number;
	/** On the clock: polls due later are not made. Without it polling lasts until all tasks are finished. */
	readonly untilMs?: number;
	/** Whether nobody polls the tasks again that have no outcome at `untilMs`. */
	readonly isLast?: boolean;
	/** Called each time that a task changes its status or gets its outcome. */
	readonly onChange?: (polls: readonly TaskPoll[]) => void;
}

/** The service rejects the key: that is not about one task (spec 7.2). */
const REJECTED_KEY = 401;

/**
 * Polls tasks concurrently until each is finished or past its deadline (spec 3.1). A due task is polled as soon as a
 * concurrency slot is free; slow responses never delay other tasks.
 *
 * Each of the workers takes the task that is due first, sleeps until then, polls it and puts it back. So a task in the
 * queue is never due before one that a worker sleeps for, and however many tasks there are, few timers run.
 *
 * @param queryStatus Queries the status of one task; a ServiceError that it throws becomes part of that task's state.
 * @returns The tasks in their order, each with its outcome unless `untilMs` or `error` came first. `error` has ended polling:
 *   ServiceError `canceled`; `http` when the service rejects the key; the error of all tasks when none of them ever had a
 *   good answer (`wrongServiceError`): then no task has an outcome; any other error of `queryStatus`.
 */
export async function pollTasks(
	clock: Clock,
	initial: PollState,
	queryStatus: (taskId: string) => Promise<TaskReport>,
	{ timeoutMs, concurrency, untilMs = Infinity, isLast = false, onChange }: PollTasksOptions,
): Promise<PollState & { readonly error?: unknown }> {
	const byId = new Map(initial.polls.map((task) => [task.taskId, task]));
	let { pausedUntilMs } = initial;
	const end = new AbortController();
	/** The unfinished tasks that no worker has taken, the first one due first. */
	const queue: TaskPoll[] = [];

	function enqueue(task: TaskPoll): void {
		if (task.outcome !== undefined) return;
		queue.splice(queue.findLastIndex(({ dueAtMs }) => dueAtMs <= task.dueAtMs) + 1, 0, task);
	}

	async function work(): Promise<void> {
		for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
			if (!(await isDue(task))) continue;
			const next = await polled(task);
			byId.set(task.taskId, next);
			if (next.history !== task.history || next.outcome !== undefined)
				onChange?.([...byId.values()]);
			enqueue(next);
		}
	}

	/** Sleeps until the task is due. False if polling ends before. */
	async function isDue({ dueAtMs, startedAtMs }: TaskPoll): Promise<boolean> {
		for (;;) {
			// A poll of another task may have begun a pause, or failed, meanwhile.
			const atMs = Math.max(dueAtMs, Math.min(pausedUntilMs, startedAtMs + timeoutMs));
			const waitMs = atMs - clock.now();
			if (atMs > untilMs || end.signal.aborted) return false;
			if (waitMs <= 0) return true;
			await clock.sleep(waitMs, end.signal);
		}
	}

	async function polled(task: TaskPoll): Promise<TaskPoll> {
		const answer = await queryStatus(task.taskId).catch(taskErrorOf);
		const context = { nowMs: clock.now(), random: clock.random(), timeoutMs };
		if (!(answer instanceof ServiceError)) return applyReport(task, answer, context);
		pausedUntilMs = Math.max(pausedUntilMs, context.nowMs + pauseMs(answer));
		return applyError(task, answer, context);
	}

	initial.polls.forEach(enqueue);
	const worker = async () => {
		await work().catch((error: unknown) => {
			end.abort(error);
		});
	};
	await Promise.all(Array.from({ length: concurrency }, worker));
	const polls = [...byId.values()];
	if (end.signal.aborted) return { polls, pausedUntilMs, error: end.signal.reason as unknown };
	const isOver = isLast || polls.every(({ outcome }) => outcome !== undefined);
	const error = isOver ? wrongServiceError(polls) : undefined;
	return error === undefined ? { polls, pausedUntilMs } : { ...initial, error };
}

/** Returns an error about one task as a value; rethrows one that ends polling: cancellation, a rejected key, a bug. */
function taskErrorOf(error: unknown): ServiceError {
	const isAboutTask =
		error instanceof ServiceError &&
		!isCanceled(error) &&
		error.details.status !== REJECTED_KEY;
	if (isAboutTask) return error;
	throw error;
}

/** Pause after a 429 without Retry-After. */
const PAUSE_MS = 30_000;
/** A longer Retry-After is heeded up to this: it may be about one task, and the others finish meanwhile. */
const MAX_PAUSE_MS = 60_000;

/** How long no task is polled after this error, in milliseconds: after a 429, or a retryable error with Retry-After. */
function pauseMs({ details: { status, retryable, retryAfterMs } }: ServiceError): number {
	if (status === 429) return Math.min(MAX_PAUSE_MS, retryAfterMs ?? PAUSE_MS);
	return retryable === true ? Math.min(MAX_PAUSE_MS, retryAfterMs ?? 0) : 0;
}
