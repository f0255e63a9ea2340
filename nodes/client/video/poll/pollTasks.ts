import { ServiceError } from '../../errors';
import type { Clock } from '../../ports';
import { dueQueue } from './dueQueue';
import { nextCooldown, type RateLimitCooldown } from './cooldown';
import type { TaskReport } from '../queryTask';
import type { PollSchedule } from './schedule';
import { applyError, applyReport, applyTimeout, type TaskPoll } from './task';

/** Polling state of all tasks: a JSON value that can be saved between two runs. */
export interface PollState {
	readonly polls: readonly TaskPoll[];
	readonly cooldown: RateLimitCooldown;
}

export interface PollTasksOptions {
	readonly schedule: PollSchedule;
	/** Maximum number of concurrent status polls. */
	readonly concurrency: number;
	/** Milliseconds since the epoch: polls due later are not made. Without it polling lasts until all tasks are finished. */
	readonly untilMs?: number;
	/** Called each time that a task changes its status or gets its outcome. */
	readonly onChange?: (polls: readonly TaskPoll[]) => void;
}

/** Statuses about the key or the account, not about one task (spec 7.2): they end polling for all tasks. */
const ACCOUNT_STATUSES: readonly (number | undefined)[] = [401, 403];

/**
 * Polls tasks concurrently until each is finished or past its deadline (spec 3.1). A due task is polled as soon as a
 * concurrency slot is free; slow responses never delay other tasks.
 *
 * @param queryStatus Queries the status of one task; a ServiceError that it throws becomes part of that task's state.
 * @returns The tasks in their order, each with its outcome unless `untilMs` came first.
 * @throws ServiceError `canceled`; `http` when the service rejects the key; any other error of `queryStatus`.
 */
export async function pollTasks(
	clock: Clock,
	initial: PollState,
	queryStatus: (taskId: string) => Promise<TaskReport>,
	{ schedule, concurrency, untilMs = Infinity, onChange }: PollTasksOptions,
): Promise<PollState> {
	const polls = [...initial.polls];
	let { cooldown } = initial;
	const inFlight = new Map<number, Promise<void>>();
	const failures: unknown[] = [];
	const pollQueue = dueQueue();
	const deadlineQueue = dueQueue();
	let sleep = { endMs: -Infinity, done: Promise.resolve() };

	const deadlineOf = (index: number) => polls[index]!.startedAtMs + schedule.timeoutMs;
	const isIdle = (index: number) => polls[index]!.outcome === undefined && !inFlight.has(index);

	function enqueue(index: number): void {
		if (!isIdle(index)) return;
		pollQueue.add(index, polls[index]!.dueAtMs);
		deadlineQueue.add(index, deadlineOf(index));
	}

	/** The next event among unfinished tasks without a query in flight: a poll, or a deadline that comes first. */
	function nextEvent(): NextEvent | undefined {
		const poll = pollQueue.peek(
			(index, dueAtMs) => isIdle(index) && polls[index]!.dueAtMs === dueAtMs,
		);
		const deadline = deadlineQueue.peek(isIdle);
		if (poll === undefined || deadline === undefined) return undefined;

		const pollAtMs = Math.max(poll.dueAtMs, cooldown.untilMs);
		return deadline.dueAtMs < pollAtMs
			? { index: deadline.index, atMs: deadline.dueAtMs, isTimeout: true }
			: { index: poll.index, atMs: pollAtMs, isTimeout: false };
	}

	const fail = (error: unknown) => {
		failures.push(error);
	};

	function update(index: number, next: TaskPoll): void {
		const { history, outcome } = polls[index]!;
		polls[index] = next;
		if (next.history !== history || next.outcome !== outcome) onChange?.(polls);
	}

	async function poll(index: number): Promise<void> {
		const answer = await queryStatus(polls[index]!.taskId).catch(taskErrorOf);
		const context = { nowMs: clock.now(), random: clock.random(), schedule };
		const error = answer instanceof ServiceError ? answer : undefined;
		cooldown = nextCooldown(cooldown, error, context.nowMs);
		update(
			index,
			answer instanceof ServiceError
				? applyError(polls[index]!, answer, context)
				: applyReport(polls[index]!, answer, context),
		);
	}

	/** Reuses the running sleep, unless it ends too late. */
	function sleepUntil(atMs: number): Promise<void> {
		const nowMs = clock.now();
		if (sleep.endMs <= nowMs || sleep.endMs > atMs) {
			sleep = { endMs: atMs, done: clock.sleep(atMs - nowMs).catch(fail) };
		}
		return sleep.done;
	}

	for (const index of polls.keys()) enqueue(index);
	while (failures.length === 0) {
		const next = nextEvent();
		const canStart = next !== undefined && next.atMs <= untilMs && inFlight.size < concurrency;
		if (canStart && next.atMs <= clock.now()) {
			const { index } = next;
			if (next.isTimeout) {
				update(index, applyTimeout(polls[index]!, clock.now()));
				continue;
			}
			const request = poll(index)
				.catch(fail)
				.finally(() => {
					inFlight.delete(index);
					enqueue(index);
				});
			inFlight.set(index, request);
			continue;
		}
		const pending = [...inFlight.values(), ...(canStart ? [sleepUntil(next.atMs)] : [])];
		if (pending.length === 0) break;
		await Promise.race(pending);
	}

	await Promise.all(inFlight.values());
	if (failures.length > 0) throw failures[0];
	return { polls, cooldown };
}

interface NextEvent {
	readonly index: number;
	readonly atMs: number;
	/** Whether the task reaches its deadline before it may be polled again. */
	readonly isTimeout: boolean;
}

/** Returns an error about one task as a value; rethrows one that ends polling: cancellation, a rejected key, a bug. */
function taskErrorOf(error: unknown): ServiceError {
	const isAboutTask =
		error instanceof ServiceError &&
		error.kind !== 'canceled' &&
		!ACCOUNT_STATUSES.includes(error.details.status);
	if (isAboutTask) return error;
	throw error;
}
