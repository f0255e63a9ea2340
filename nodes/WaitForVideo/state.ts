import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { NO_COOLDOWN, type RateLimitCooldown } from '../client/video/poll/cooldown';
import { startPoll, type TaskPoll } from '../client/video/poll/task';
import type { PollState } from '../client/video/poll/pollTasks';

const KEY = 'waiting';

interface Kept {
	readonly pause: RateLimitCooldown;
	readonly polls: Readonly<Record<string, TaskPoll>>;
}

/**
 * The polls for these tasks, as an earlier step of this execution has left them; new ones for the others. They are
 * taken out: only a step that suspends puts them back, so that the next batch of a loop finds nothing of this one.
 */
export function takePolls(
	context: IExecuteFunctions,
	taskIds: readonly string[],
	nowMs: number,
): PollState {
	const store = context.getContext('node');
	const { polls = {}, pause = NO_COOLDOWN } = (store[KEY] ?? {}) as Partial<Kept>;
	const others = Object.entries(polls).filter(([taskId]) => !taskIds.includes(taskId));
	write(store, others.length === 0 ? undefined : { pause, polls: Object.fromEntries(others) });
	return { polls: taskIds.map((taskId) => polls[taskId] ?? startPoll(taskId, nowMs)), pause };
}

/** Keeps the polls for the next step: n8n saves them with the execution. */
export function keepPolls(context: IExecuteFunctions, { polls, pause }: PollState): void {
	const store = context.getContext('node');
	const others = (store[KEY] as Kept | undefined)?.polls ?? {};
	const own = Object.fromEntries(polls.map((wait) => [wait.taskId, wait]));
	write(store, { pause, polls: { ...others, ...own } });
}

function write(store: IDataObject, kept: Kept | undefined): void {
	store[KEY] = kept;
}
