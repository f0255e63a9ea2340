import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { withDeadline } from '../client/http/deadline';
import { checkTaskId, queryTask } from '../client/video/queryTask';
import type { TaskPoll } from '../client/video/poll/task';
import { pollTasks } from '../client/video/poll/pollTasks';
import { isLive, withChatStream } from '../shared/chat/chatStream';
import { n8nClock, n8nService } from '../shared/run/host';
import { readText } from '../shared/run/parameters';
import { readPolling } from './options';
import { deliver } from './deliver';
import { readWaitMode, type WaitMode } from './mode';
import { checkWires, onOutputs } from './outputs';
import { waitProgress, type Progress } from './progress';
import { keepPolls, takePolls } from './state';
import { nextResumeMs } from './resume';

/** A query is answered at once; half a minute of idle timeout means that it is lost. */
const IDLE_TIMEOUT_MS = 30_000;
/** An answer that takes longer, byte by byte, would hold up the wait beyond its own limit. */
const QUERY_LIMIT_MS = 60_000;

interface Waited {
	readonly polls: readonly TaskPoll[];
	/** False when the execution goes on later. */
	readonly isOver: boolean;
	/** What every item fails with. */
	readonly error?: unknown;
}

/** One run of Wait for Video: all of the wait, or in suspend mode a step of it. */
export async function runWait(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	if (!isLive(context)) return await run(context, () => undefined);
	return await withChatStream(context, 0, async (sendText) => await run(context, sendText));
}

async function run(
	context: IExecuteFunctions,
	sendText: (text: string) => void,
): Promise<INodeExecutionData[][]> {
	const mode = readWaitMode(context);
	const progress = waitProgress(context, sendText);
	const taskIds: string[] = [];
	const waited = await wait(context, mode, taskIds, progress).catch((error: unknown): Waited => ({
		isOver: true,
		polls: [],
		error,
	}));
	if (!waited.isOver) return onOutputs({ stillGenerating: context.getInputData() });
	return await deliver(context, mode, { ...waited, taskIds }, progress);
}

function readTaskIds(context: IExecuteFunctions): string[] {
	const taskIds = context
		.getInputData()
		.map((_item, index) => readText(context, 'taskId', index).trim());
	// An empty one stops the node before the first query, unless the others are to go on.
	if (!context.continueOnFail()) taskIds.forEach(checkTaskId);
	return taskIds;
}

/**
 * Waits for the tasks, or for one step of them; a task that stands in several items is asked for once.
 *
 * @param taskIds Gets the task of each item.
 */
async function wait(
	context: IExecuteFunctions,
	mode: WaitMode,
	taskIds: string[],
	progress: Progress,
): Promise<Waited> {
	checkWires(context, mode);
	taskIds.push(...readTaskIds(context));
	const { http } = await n8nService(context);
	const clock = n8nClock(context);
	const { schedule, concurrency } = readPolling(context);
	const different = [...new Set(taskIds)].filter((taskId) => taskId !== '');
	const waiting = await pollTasks(
		clock,
		takePolls(context, different, clock.now()),
		async (taskId) =>
			await queryTask(withDeadline(http, clock, QUERY_LIMIT_MS), taskId, IDLE_TIMEOUT_MS),
		{
			schedule,
			concurrency,
			onChange: progress.note,
			...(mode === 'suspend' ? { untilMs: clock.now() } : {}),
		},
	);
	const isOver = waiting.polls.every(({ outcome }) => outcome !== undefined);
	if (!isOver) {
		const untilMs = nextResumeMs(waiting, clock.now(), schedule.limitMs);
		const seconds = Math.round((untilMs - clock.now()) / 1000);
		progress.end(waiting.polls, `, asking again in ${seconds} s`);
		keepPolls(context, waiting);
		await context.putExecutionToWait(new Date(untilMs));
	}
	return { polls: waiting.polls, isOver };
}
