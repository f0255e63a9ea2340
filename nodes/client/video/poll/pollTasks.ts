import { ServiceError } from '../../errors';
import type { Clock } from '../../ports';
import { agenda } from './dueQueue';
import { notePause, type Pause } from './cooldown';
import type { TaskReport } from '../queryTask';
import { noteError, noteReport, noteTimeout, type PollSchedule, type TaskWait } from './task';

/** Everything that waits: a JSON value that can be saved between two steps. */
export interface Waiting {
	readonly waits: readonly TaskWait[];
	readonly pause: Pause;
}

export interface WaitForTasksOptions {
	readonly schedule: PollSchedule;
	/** Queries under way at once, at most. */
	readonly concurrency: number;
	/** Milliseconds since the epoch: what is due later is left. Without it the wait lasts until all is finished. */
	readonly untilMs?: number;
	/** Told each time that a task has changed its status or is finished. */
	readonly onChange?: (waits: readonly TaskWait[]) => void;
}

/** Statuses that concern the key or the account, not this task: everybody who waits is affected (spec 7.2). */
const NOT_ABOUT_THE_TASK: readonly (number | undefined)[] = [401, 403];

/**
 * Waits until every task is finished or over the limit (spec 3.1), all of them side by side: whoever is due is
 * asked as soon as there is room, however slow the answers to others are.
 *
 * @param query Asks how one task stands; its ServiceErrors become part of that task's wait.
 * @returns The waits in their order, each with its outcome unless `untilMs` came first.
 * @throws ServiceError `cancelled`; `refused` when the service does not take the key; whatever else `query` throws.
 */
export async function waitForTasks(
	clock: Clock,
	{ waits: given, pause: givenPause }: Waiting,
	query: (taskId: string) => Promise<TaskReport>,
	{ schedule, concurrency, untilMs = Infinity, onChange }: WaitForTasksOptions,
): Promise<Waiting> {
	const waits = [...given];
	let pause = givenPause;
	const flights = new Map<number, Promise<void>>();
	const failures: unknown[] = [];
	const queries = agenda();
	const limits = agenda();
	let nap = { endMs: -Infinity, over: Promise.resolve() };

	const endOf = (index: number) => waits[index]!.startedAtMs + schedule.limitMs;
	const isOpen = (index: number) => waits[index]!.outcome === undefined && !flights.has(index);

	function enter(index: number): void {
		if (!isOpen(index)) return;
		queries.add(index, waits[index]!.dueAtMs);
		limits.add(index, endOf(index));
	}

	/** The open task, not being asked just now, that is due first; of those due at once, who has waited longest. */
	function earliest(): Due | undefined {
		const query = queries.first(
			(index, atMs) => isOpen(index) && waits[index]!.dueAtMs === atMs,
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

	function change(index: number, next: TaskWait): void {
		const { history, outcome } = waits[index]!;
		waits[index] = next;
		if (next.history !== history || next.outcome !== outcome) onChange?.(waits);
	}

	async function ask(index: number): Promise<void> {
		const answer = await query(waits[index]!.taskId).catch(toAnswer);
		const moment = { nowMs: clock.now(), random: clock.random(), schedule };
		const isError = answer instanceof ServiceError;
		pause = notePause(pause, isError ? answer : undefined, moment.nowMs);
		change(
			index,
			isError
				? noteError(waits[index]!, answer, moment)
				: noteReport(waits[index]!, answer, moment),
		);
	}

	/** One nap at a time, unless something falls due before its end. */
	function napUntil(atMs: number): Promise<void> {
		const nowMs = clock.now();
		if (nap.endMs <= nowMs || nap.endMs > atMs) {
			nap = { endMs: atMs, over: clock.sleep(atMs - nowMs).catch(fail) };
		}
		return nap.over;
	}

	waits.forEach((_wait, index) => {
		enter(index);
	});
	while (failures.length === 0) {
		const next = earliest();
		const hasRoom = next !== undefined && next.atMs <= untilMs && flights.size < concurrency;
		if (hasRoom && next.atMs <= clock.now()) {
			const { index } = next;
			if (next.isOver) {
				change(index, noteTimeout(waits[index]!, clock.now()));
				continue;
			}
			const flight = ask(index)
				.catch(fail)
				.finally(() => {
					flights.delete(index);
					enter(index);
				});
			flights.set(index, flight);
			continue;
		}
		const naps = hasRoom ? [napUntil(next.atMs)] : [];
		const awaited = [...flights.values(), ...naps];
		if (awaited.length === 0) break;
		await Promise.race(awaited);
	}

	await Promise.all(flights.values());
	if (failures.length > 0) throw failures[0];
	return { waits, pause };
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
