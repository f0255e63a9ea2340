import { ServiceError } from '../../errors';
import type { Clock } from '../../ports';
import { dueQueue } from './dueQueue';
import { nextCooldown, type RateLimitCooldown } from './cooldown';
import type { TaskReport } from '../queryTask';
import { applyError, applyReport, applyTimeout, type PollSchedule, type TaskPoll } from './task';

/** Everything that polls: a JSON value that can be saved between two steps. */
export interface PollState {
	readonly polls: readonly TaskPoll[];
	readonly pause: RateLimitCooldown;
}

export interface PollTasksOptions {
	readonly schedule: PollSchedule;
	/** Queries under way at once, at most. */
	readonly concurrency: number;
	/** Milliseconds since the epoch: what is due later is left. Without it the wait lasts until all is finished. */
	readonly untilMs?: number;
	/** Told each time that a task has changed its status or is finished. */
	readonly onChange?: (polls: readonly TaskPoll[]) => void;
}

/** Statuses that concern the key or the account, not this task: everybody who polls is affected (spec 7.2). */
const NOT_ABOUT_THE_TASK: readonly (number | undefined)[] = [401, 403];

/**
 * Waits until every task is finished or over the limit (spec 3.1), all of them side by side: whoever is due is
 * asked as soon as there is room, however slow the answers to others are.
 *
 * @param query Asks how one task stands; its ServiceErrors become part of that task's wait.
 * @returns The polls in their order, each with its outcome unless `untilMs` came first.
 * @throws ServiceError `cancelled`; `refused` when the service does not take the key; whatever else `query` throws.
 */
export async function pollTasks(
	clock: Clock,
	{ polls: given, pause: givenPause }: PollState,
	query: (taskId: string) => Promise<TaskReport>,
	{ schedule, concurrency, untilMs = Infinity, onChange }: PollTasksOptions,
): Promise<PollState> {
	const polls = [...given];
	let pause = givenPause;
	const inFlight = new Map<number, Promise<void>>();
	const failures: unknown[] = [];
	const queries = dueQueue();
	const limits = dueQueue();
	let nap = { endMs: -Infinity, over: Promise.resolve() };

	const endOf = (index: number) => polls[index]!.startedAtMs + schedule.limitMs;
	const isOpen = (index: number) => polls[index]!.outcome === undefined && !inFlight.has(index);

	function enter(index: number): void {
		if (!isOpen(index)) return;
		queries.add(index, polls[index]!.dueAtMs);
		limits.add(index, endOf(index));
	}

	/** The open task, not being asked just now, that is due first; of those due at once, who has waited longest. */
	function earliest(): Due | undefined {
		const query = queries.first(
			(index, atMs) => isOpen(index) && polls[index]!.dueAtMs === atMs,
		);
		const limit = limits.first(isOpen);
		if (query === undefined || limit === undefined) return undefined;

		const askMs = Math.max(query.atMs, pause.untilMs);
		return limit.atMs < askMs
			? { ...limit, isOver: true }
			: { index: query.index, atMs: askMs, isOver: false };
	}

	const fail = (error: unknown) => {
		failures.push(error);
	};

	function change(index: number, next: TaskPoll): void {
		const { history, outcome } = polls[index]!;
		polls[index] = next;
		if (next.history !== history || next.outcome !== outcome) onChange?.(polls);
	}

	async function ask(index: number): Promise<void> {
		const answer = await query(polls[index]!.taskId).catch(toAnswer);
		const pollContext = { nowMs: clock.now(), random: clock.random(), schedule };
		const isError = answer instanceof ServiceError;
		pause = nextCooldown(pause, isError ? answer : undefined, pollContext.nowMs);
		change(
			index,
			isError
				? applyError(polls[index]!, answer, pollContext)
				: applyReport(polls[index]!, answer, pollContext),
		);
	}

	/** One nap at a time, unless something falls due before its end. */
	function sleepUntil(atMs: number): Promise<void> {
		const nowMs = clock.now();
		if (nap.endMs <= nowMs || nap.endMs > atMs) {
			nap = { endMs: atMs, over: clock.sleep(atMs - nowMs).catch(fail) };
		}
		return nap.over;
	}

	polls.forEach((_wait, index) => {
		enter(index);
	});
	while (failures.length === 0) {
		const next = earliest();
		const hasRoom = next !== undefined && next.atMs <= untilMs && inFlight.size < concurrency;
		if (hasRoom && next.atMs <= clock.now()) {
			const { index } = next;
			if (next.isOver) {
				change(index, applyTimeout(polls[index]!, clock.now()));
				continue;
			}
			const request = ask(index)
				.catch(fail)
				.finally(() => {
					inFlight.delete(index);
					enter(index);
				});
			inFlight.set(index, request);
			continue;
		}
		const naps = hasRoom ? [sleepUntil(next.atMs)] : [];
		const awaited = [...inFlight.values(), ...naps];
		if (awaited.length === 0) break;
		await Promise.race(awaited);
	}

	await Promise.all(inFlight.values());
	if (failures.length > 0) throw failures[0];
	return { polls, pause };
}

interface Due {
	readonly index: number;
	readonly atMs: number;
	/** Whether the limit comes first: then there is no query any more. */
	readonly isOver: boolean;
}

/** Errors about one task are part of its wait; cancelling and a refused key end all of them. */
function toAnswer(error: unknown): ServiceError {
	const isAnswer =
		error instanceof ServiceError &&
		error.kind !== 'cancelled' &&
		!NOT_ABOUT_THE_TASK.includes(error.details.status);
	if (isAnswer) return error;
	throw error;
}
