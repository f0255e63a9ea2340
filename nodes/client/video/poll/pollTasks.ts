import { isCanceled, ServiceError } from '../../errors';
import type { Clock } from '../../ports';
import type { TaskReport } from '../taskState';
import { applyError, applyReport, applyTimeout, wrongServiceError, type TaskPoll } from './task';

/** Polling state of all tasks: a JSON value that can be saved between two runs. */
export interface PollState {
	readonly polls: readonly TaskPoll[];
	readonly cooldown: RateLimitCooldown;
}

export interface PollTasksOptions {
	/** Milliseconds after the start of polling at which a task that is not finished counts as failed. */
	readonly timeoutMs: number;
	/** Maximum number of concurrent status polls. */
	readonly concurrency: number;
	/** Milliseconds since the epoch: polls due later are not made. Without it polling lasts until all tasks are finished. */
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
	const polls = [...initial.polls];
	let { cooldown } = initial;
	const failures: unknown[] = [];
	const failed = new AbortController();

	const deadlineOf = ({ startedAtMs }: TaskPoll) => startedAtMs + timeoutMs;
	/** The next poll of each unfinished task, or its deadline if that comes first. The earliest is the first. */
	const queue: { readonly index: number; readonly atMs: number }[] = [];

	function enqueue(index: number): void {
		const task = polls[index]!;
		if (task.outcome !== undefined) return;
		const next = { index, atMs: Math.min(task.dueAtMs, deadlineOf(task)) };
		queue.splice(queue.findLastIndex(({ atMs }) => atMs <= next.atMs) + 1, 0, next);
	}

	async function work(): Promise<void> {
		for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
			const { index } = next;
			if (!(await isDue(index))) continue;
			update(index, await polled(polls[index]!));
			enqueue(index);
		}
	}

	/** Sleeps until the task is due. False if polling ends before. */
	async function isDue(index: number): Promise<boolean> {
		for (;;) {
			// A poll of another task may have started a cooldown, or finished, meanwhile.
			const dueMs = Math.max(polls[index]!.dueAtMs, cooldown.untilMs);
			const atMs = Math.min(dueMs, deadlineOf(polls[index]!));
			const nowMs = clock.now();
			if (atMs > untilMs || failures.length > 0) return false;
			if (atMs <= nowMs) return true;
			await clock.sleep(atMs - nowMs, failed.signal);
		}
	}

	async function polled(task: TaskPoll): Promise<TaskPoll> {
		// It was polled shortly before. A cooldown is no reason: the task may have finished in it.
		if (task.dueAtMs > deadlineOf(task)) return applyTimeout(task, clock.now());
		const answer = await queryStatus(task.taskId).catch(taskErrorOf);
		const context = { nowMs: clock.now(), random: clock.random(), timeoutMs };
		const error = answer instanceof ServiceError ? answer : undefined;
		cooldown = nextCooldown(cooldown, error, context.nowMs);
		return answer instanceof ServiceError
			? applyError(task, answer, context)
			: applyReport(task, answer, context);
	}

	function update(index: number, next: TaskPoll): void {
		const { history } = polls[index]!;
		polls[index] = next;
		if (next.history !== history || next.outcome !== undefined) onChange?.(polls);
	}

	for (const index of polls.keys()) enqueue(index);
	const fail = (error: unknown) => {
		failures.push(error);
		failed.abort();
	};
	await Promise.all(
		Array.from({ length: concurrency }, async () => {
			await work().catch(fail);
		}),
	);
	if (failures.length > 0) return { polls, cooldown, error: failures[0] };
	const isOver = isLast || polls.every(({ outcome }) => outcome !== undefined);
	const error = isOver ? wrongServiceError(polls) : undefined;
	return error === undefined ? { polls, cooldown } : { ...initial, error };
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

/** After a 429 no task is polled until `untilMs`: rate limits are per account, not per task. */
export interface RateLimitCooldown {
	/** Milliseconds since the epoch; no poll starts before. */
	readonly untilMs: number;
	/** Cooldowns since the last successful response; the exponent of the backoff. */
	readonly consecutive: number;
}

export const NO_COOLDOWN: RateLimitCooldown = { untilMs: 0, consecutive: 0 };

/**
 * Length of the first cooldown without Retry-After; each further one is twice as long, up to MAX_MS. A Retry-After is
 * heeded up to MAX_MS as well: it may be about one task, and the others finish meanwhile.
 */
const FIRST_MS = 10_000;
const MAX_MS = 60_000;

/**
 * The cooldown after a poll. A 429, or any retryable error with Retry-After, starts or extends it; a successful
 * response after its end resets it. It never keeps a task from its last poll, at the deadline.
 *
 * @param error The error of the poll; undefined after a successful response.
 */
export function nextCooldown(
	cooldown: RateLimitCooldown,
	error: ServiceError | undefined,
	nowMs: number,
): RateLimitCooldown {
	const { untilMs, consecutive } = cooldown;
	const isActive = nowMs < untilMs;
	if (error === undefined) return isActive ? cooldown : NO_COOLDOWN;

	const { status, retryable, retryAfterMs } = error.details;
	if (status !== 429 && (retryable !== true || retryAfterMs === undefined)) return cooldown;
	// Concurrent polls get the same 429: it counts once.
	const backoffMs = isActive ? 0 : FIRST_MS * 2 ** consecutive;
	return {
		untilMs: Math.max(untilMs, nowMs + Math.min(MAX_MS, retryAfterMs ?? backoffMs)),
		consecutive: isActive ? consecutive : consecutive + 1,
	};
}
