import type { IExecuteFunctions } from 'n8n-workflow';

import { NO_COOLDOWN, type RateLimitCooldown } from '../client/video/poll/cooldown';
import type { PollState } from '../client/video/poll/pollTasks';
import { startPoll, type TaskPoll } from '../client/video/poll/task';
import { nodeState, type NodeState } from '../shared/run/nodeState';

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
	const state = pollState(context);
	const { polls, cooldown } = state.get() ?? { polls: {}, cooldown: NO_COOLDOWN };
	const others = Object.entries(polls).filter(([taskId]) => !taskIds.includes(taskId));
	if (others.length === 0) state.clear();
	else state.set({ cooldown, polls: Object.fromEntries(others) });
	return { polls: taskIds.map((taskId) => polls[taskId] ?? startPoll(taskId, nowMs)), cooldown };
}

/** Saves the polling state for the next step: n8n stores it with the execution. */
export function savePolls(context: IExecuteFunctions, { polls, cooldown }: PollState): void {
	const state = pollState(context);
	const others = state.get()?.polls;
	const own = Object.fromEntries(polls.map((poll) => [poll.taskId, poll]));
	state.set({ cooldown, polls: { ...others, ...own } });
}

function pollState(context: IExecuteFunctions): NodeState<SavedState> {
	return nodeState(context, 'polling');
}
