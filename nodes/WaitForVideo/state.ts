import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { NO_COOLDOWN, type RateLimitCooldown } from '../client/video/poll/cooldown';
import type { PollState } from '../client/video/poll/pollTasks';
import { startPoll, type TaskPoll } from '../client/video/poll/task';

const KEY = 'polling';

interface SavedState {
	readonly cooldown: RateLimitCooldown;
	readonly polls: Readonly<Record<string, TaskPoll>>;
}

/**
 * The polling state of these tasks: as an earlier step of this execution saved it, or new. Loading removes the saved
 * state, and only a step that suspends saves it again: the next batch of a loop starts without it.
 */
export function loadPolls(
	context: IExecuteFunctions,
	taskIds: readonly string[],
	nowMs: number,
): PollState {
	const store = context.getContext('node');
	const { polls = {}, cooldown = NO_COOLDOWN } = (store[KEY] ?? {}) as Partial<SavedState>;
	const others = Object.entries(polls).filter(([taskId]) => !taskIds.includes(taskId));
	write(store, others.length === 0 ? undefined : { cooldown, polls: Object.fromEntries(others) });
	return { polls: taskIds.map((taskId) => polls[taskId] ?? startPoll(taskId, nowMs)), cooldown };
}

/** Saves the polling state for the next step: n8n stores it with the execution. */
export function savePolls(context: IExecuteFunctions, { polls, cooldown }: PollState): void {
	const store = context.getContext('node');
	const others = (store[KEY] as SavedState | undefined)?.polls ?? {};
	const own = Object.fromEntries(polls.map((poll) => [poll.taskId, poll]));
	write(store, { cooldown, polls: { ...others, ...own } });
}

function write(store: IDataObject, state: SavedState | undefined): void {
	store[KEY] = state as unknown as IDataObject;
}
