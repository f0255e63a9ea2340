import type { IExecuteFunctions } from 'n8n-workflow';

import { withDeadline } from '../../client/http/retry';
import { type PollState, pollTasks } from '../../client/video/poll/pollTasks';
import { queryTask } from '../../client/video/tasks';
import { n8nClock } from '../run/clock';
import { n8nService } from '../run/host';
import { pollOptions, readPolling } from './options';
import type { Progress } from './progress';
import { NO_COOLDOWN, startPoll, type TaskPoll } from '../../client/video/poll/task';
import { nodeState } from '../run/nodeState';

/** The service answers status polls immediately: without data for this long, the connection counts as lost. */
const IDLE_TIMEOUT_MS = 30_000;
/** Total timeout of a status poll: a response that trickles in must not delay the deadline of the task. */
const QUERY_TIMEOUT_MS = 60_000;

/**
 * Polls tasks (spec 3.1), a task of several items once for all; continues what `savePolls` has saved.
 *
 * @param taskIds The task of each item; empty for none.
 * @param scope How long the run polls: until all tasks are finished; a step, after which the unfinished ones are polled
 *   again; or once, when each is due.
 * @param concurrency Maximum number of status polls at the same time.
 * @returns The polling state after the run, and the error that ended it, if any.
 */
export async function poll(
	context: IExecuteFunctions,
	taskIds: readonly string[],
	progress: Progress,
	scope: 'all' | 'step' | 'once',
	concurrency = pollOptions.concurrency.read(context, 0),
) {
	const { http } = await n8nService(context);
	const clock = n8nClock(context);
	const uniqueIds = [...new Set(taskIds)].filter((taskId) => taskId !== '');
	const nowMs = clock.now();
	const initial = loadPolls(context, uniqueIds, nowMs);
	// In a loop, an earlier run of this execution may have polled a task just now: each is polled when it is due.
	const dueMs = Math.max(initial.cooldown.untilMs, ...initial.polls.map((each) => each.dueAtMs));
	const untilMs = { all: Infinity, step: nowMs, once: Math.max(nowMs, dueMs) }[scope];
	return await pollTasks(
		clock,
		initial,
		async (taskId) => {
			progress.remind();
			const timed = withDeadline(http, clock, QUERY_TIMEOUT_MS);
			return await queryTask(timed, taskId, IDLE_TIMEOUT_MS);
		},
		{
			...readPolling(context),
			concurrency,
			onChange: progress.update,
			isLast: scope === 'once',
			untilMs,
		},
	);
}

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
