import type { IExecuteFunctions } from 'n8n-workflow';

import { NO_COOLDOWN, type RateLimitCooldown } from '../client/video/poll/cooldown';
import { startPoll, type TaskPoll } from '../client/video/poll/task';
import type { PollState } from '../client/video/poll/pollTasks';
import { nodeState, type NodeState } from '../shared/run/nodeState';

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
	const state = pollState(context);
	const { polls, pause } = state.get() ?? { polls: {}, pause: NO_COOLDOWN };
	const others = Object.entries(polls).filter(([taskId]) => !taskIds.includes(taskId));
	if (others.length === 0) state.clear();
	else state.set({ pause, polls: Object.fromEntries(others) });
	return { polls: taskIds.map((taskId) => polls[taskId] ?? startPoll(taskId, nowMs)), pause };
}

/** Keeps the polls for the next step: n8n saves them with the execution. */
export function keepPolls(context: IExecuteFunctions, { polls, pause }: PollState): void {
	const state = pollState(context);
	const others = state.get()?.polls;
	const own = Object.fromEntries(polls.map((wait) => [wait.taskId, wait]));
	state.set({ pause, polls: { ...others, ...own } });
}

function pollState(context: IExecuteFunctions): NodeState<Kept> {
	return nodeState(context, 'waiting');
}
