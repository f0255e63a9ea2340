import { mapConcurrent } from '../concurrency';
import { ServiceError } from '../errors';
import type { Clock } from '../ports';
import type { TaskReport } from './task';
import { noteError, noteReport, startWait, type PollSchedule, type TaskWait } from './wait';

export interface WaitForTasksOptions {
	readonly schedule: PollSchedule;
	/** Queries under way at once, at most. */
	readonly concurrency: number;
}

/**
 * Waits until every task is finished or over the limit (spec 3.1), all of them side by side.
 *
 * @param query Asks how one task stands; its ServiceErrors become part of that task's wait.
 * @returns The waits, in the order of `taskIds`, each with its outcome.
 * @throws ServiceError `cancelled`, whatever else `query` throws, and whatever `clock.sleep` throws on cancelling.
 */
export async function waitForTasks(
	clock: Clock,
	taskIds: readonly string[],
	query: (taskId: string) => Promise<TaskReport>,
	{ schedule, concurrency }: WaitForTasksOptions,
): Promise<TaskWait[]> {
	const waits = taskIds.map((taskId) => startWait(taskId, clock.now()));

	async function ask(index: number): Promise<void> {
		const wait = waits[index]!;
		const outcome = await query(wait.taskId).catch(toOutcome);
		waits[index] =
			outcome instanceof ServiceError
				? noteError(wait, outcome, clock.now(), schedule)
				: noteReport(wait, outcome, clock.now(), schedule);
	}

	for (;;) {
		const open = [...waits.keys()].filter((index) => waits[index]!.outcome === undefined);
		if (open.length === 0) return waits;

		const dueAtMs = Math.min(...open.map((index) => waits[index]!.dueAtMs));
		await clock.sleep(Math.max(0, dueAtMs - clock.now()));
		const due = open.filter((index) => waits[index]!.dueAtMs <= clock.now());
		await mapConcurrent(due, concurrency, ask);
	}
}

/** Errors of the service are part of the wait; everything else, cancelling too, ends it. */
function toOutcome(error: unknown): ServiceError {
	if (error instanceof ServiceError && error.kind !== 'cancelled') return error;
	throw error;
}
