import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { withDeadline } from '../client/http/deadline';
import { pollTasks } from '../client/video/poll/pollTasks';
import type { TaskPoll } from '../client/video/poll/task';
import { checkTaskId, queryTask } from '../client/video/queryTask';
import { isLive, withChatStream } from '../shared/chat/chatStream';
import { n8nClock, n8nService } from '../shared/run/host';
import { ignoreAlwaysOutputData } from '../shared/run/engine';
import { readText } from '../shared/run/parameters';
import { deliver, type PolledItems } from './deliver';
import { readPolling } from './options';
import { checkConnections, onOutputs, readWaitMode, type WaitMode } from './outputs';
import { pollProgress, type Progress } from './progress';
import { nextResumeMs } from './resume';
import { loadPolls, savePolls } from './state';

/** The service answers status polls immediately: without data for this long, the connection counts as lost. */
const IDLE_TIMEOUT_MS = 30_000;
/** Total timeout of a status poll: a response that trickles in must not delay the deadline of the task. */
const QUERY_TIMEOUT_MS = 60_000;

/** One run of Wait for Video: all polls of its tasks, or in suspend mode one step of them. */
export async function runWait(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	if (!isLive(context)) return await run(context, () => undefined);
	return await withChatStream(context, 0, async (sendText) => await run(context, sendText));
}

async function run(
	context: IExecuteFunctions,
	sendText: (text: string) => void,
): Promise<INodeExecutionData[][]> {
	const mode = readWaitMode(context);
	// Its empty item would leave through Still Generating, which leads back to the node.
	if (mode !== 'tool') ignoreAlwaysOutputData(context);
	const progress = pollProgress(context, sendText);
	const { isSuspended, ...polled } = await pollItems(context, mode, progress);
	if (isSuspended) return onOutputs({ stillGenerating: context.getInputData() });
	return await deliver(context, mode, polled, progress);
}

/** Polls the tasks of all items. An error is part of the result, so that the task IDs are not lost with it. */
async function pollItems(
	context: IExecuteFunctions,
	mode: WaitMode,
	progress: Progress,
): Promise<PolledItems & { readonly isSuspended: boolean }> {
	let taskIds: readonly string[] = [];
	try {
		checkConnections(context, mode);
		taskIds = readTaskIds(context);
		return { taskIds, ...(await pollStep(context, mode, taskIds, progress)) };
	} catch (error) {
		return { taskIds, polls: [], isSuspended: false, error };
	}
}

function readTaskIds(context: IExecuteFunctions): readonly string[] {
	const taskIds = context
		.getInputData()
		.map((_item, index) => readText(context, 'taskId', index).trim());
	// An empty ID stops the node before the first poll. With On Error: Continue it fails its own item only.
	if (!context.continueOnFail()) taskIds.forEach(checkTaskId);
	return taskIds;
}

/** Polls the tasks until all are finished, or in suspend mode once; a task of several items is polled once for all. */
async function pollStep(
	context: IExecuteFunctions,
	mode: WaitMode,
	taskIds: readonly string[],
	progress: Progress,
): Promise<{ readonly polls: readonly TaskPoll[]; readonly isSuspended: boolean }> {
	const { http } = await n8nService(context);
	const clock = n8nClock(context);
	const { schedule, concurrency } = readPolling(context);
	const uniqueIds = [...new Set(taskIds)].filter((taskId) => taskId !== '');
	const state = await pollTasks(
		clock,
		loadPolls(context, uniqueIds, clock.now()),
		async (taskId) =>
			await queryTask(withDeadline(http, clock, QUERY_TIMEOUT_MS), taskId, IDLE_TIMEOUT_MS),
		{
			schedule,
			concurrency,
			onChange: progress.update,
			...(mode === 'suspend' ? { untilMs: clock.now() } : {}),
		},
	);
	const isSuspended = state.polls.some(({ outcome }) => outcome === undefined);
	if (isSuspended) {
		const resumeMs = nextResumeMs(state, clock.now(), schedule.timeoutMs);
		const seconds = Math.round((resumeMs - clock.now()) / 1000);
		progress.finish(state.polls, `, next poll in ${seconds} s`);
		savePolls(context, state);
		await context.putExecutionToWait(new Date(resumeMs));
	}
	return { polls: state.polls, isSuspended };
}
