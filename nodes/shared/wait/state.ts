import type { IExecuteFunctions } from 'n8n-workflow';

import { NO_COOLDOWN } from '../../client/video/poll/cooldown';
import type { PollState } from '../../client/video/poll/pollTasks';
import { startPoll, type TaskPoll } from '../../client/video/poll/task';
import { nodeState } from '../run/nodeState';

const pollState = (context: IExecuteFunctions) => nodeState<PollState>(context, 'polling');

/**
 * The polling state of these tasks: as an earlier step of this execution, or its run before in a loop, saved it, or new.
 * Loading removes the saved state, and only unfinished tasks are saved again: the next batch of a loop starts without it.
 */
export function loadPolls(
	context: IExecuteFunctions,
	taskIds: readonly string[],
	nowMs: number,
): PollState {
	const state = pollState(context);
	const { polls, cooldown } = state.get() ?? { polls: [], cooldown: NO_COOLDOWN };
	// Maps and lists: an object has fields of its own, such as `constructor`, and a task ID may be any text.
	const saved = new Map(polls.map((poll) => [poll.taskId, poll]));
	const own = taskIds.map((taskId) =>
		resumed(saved.get(taskId) ?? startPoll(taskId, nowMs), nowMs),
	);
	for (const taskId of taskIds) saved.delete(taskId);
	if (saved.size === 0) state.clear();
	else state.set({ cooldown, polls: [...saved.values()] });
	return { polls: own, cooldown };
}

/** The state of a task now: if the wait began in the future, the clock was set back since, and would put off every poll. */
function resumed(poll: TaskPoll, nowMs: number): TaskPoll {
	if (poll.startedAtMs <= nowMs) return poll;
	return { ...poll, startedAtMs: nowMs - poll.elapsedMs, dueAtMs: nowMs };
}

/** Saves the polling state for the next step or run: n8n stores it with the execution. */
export function savePolls(context: IExecuteFunctions, { polls, cooldown }: PollState): void {
	const state = pollState(context);
	state.set({ cooldown, polls: [...(state.get()?.polls ?? []), ...polls] });
}
