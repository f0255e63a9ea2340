import type { IExecuteFunctions } from 'n8n-workflow';

import { withDeadline } from '../../client/http/retry';
import { pollTasks } from '../../client/video/poll/pollTasks';
import { queryTask } from '../../client/video/queryTask';
import { n8nClock } from '../run/clock';
import { n8nService } from '../run/host';
import { pollOptions, readPolling } from './options';
import type { Progress } from './progress';
import { loadPolls } from './state';

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
