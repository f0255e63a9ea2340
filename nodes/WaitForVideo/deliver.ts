import type { IBinaryKeyData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isCanceled, ServiceError } from '../client/errors';
import { countVideos, pollResult, type PollResult } from '../client/video/poll/result';
import type { TaskPoll } from '../client/video/poll/task';
import { checkTaskId } from '../client/video/queryTask';
import { mapItems } from '../shared/run/mapItems';
import { errorLine } from '../shared/run/nodeErrors';
import { forTools } from '../shared/run/toolResult';
import { downloadFiles } from './files';
import { readFailsNode } from './options';
import { onOutputs, type WaitMode } from './outputs';
import type { Progress } from './progress';

const CONCURRENT_DOWNLOADS = 3;

/** The tasks of all items, after polling. */
export interface PolledItems {
	/** The task of each item. */
	readonly taskIds: readonly string[];
	readonly polls: readonly TaskPoll[];
	/** The error that ended polling: every item fails with it. */
	readonly error?: unknown;
}

/**
 * The results of all items, with their files, by output. As a tool all of them use the first output, the only one that
 * an agent reads.
 */
export async function deliver(
	context: IExecuteFunctions,
	mode: WaitMode,
	{ taskIds, polls, error: pollError }: PolledItems,
	progress: Progress,
): Promise<INodeExecutionData[][]> {
	const pollOf = new Map(polls.map((poll) => [poll.taskId, poll]));
	const failsNode = readFailsNode(context);
	const failure = context.continueOnFail() || !failsNode ? undefined : failedVideos(polls);
	const completed = new Set<number>();

	async function deliverItem(item: number): Promise<INodeExecutionData> {
		if (pollError !== undefined) throw withTaskId(pollError, taskIds[item]);
		if (failure !== undefined) throw failure;

		const poll = pollOf.get(checkTaskId(taskIds[item]!))!;
		const result = pollResult(poll);
		if (result.reason !== undefined) {
			if (failsNode) throw failedVideos([poll])!;
			return toItem(context, item, result);
		}
		const { binary, error } = await downloadFiles(context, item, result);
		if (error === undefined) {
			completed.add(item);
			return toItem(context, item, result, binary);
		}
		if (failsNode || isCanceled(error)) throw error;
		return toItem(context, item, failedDownload(result, error), binary);
	}

	const describeCompleted = () => describeTasks(taskIds, polls);
	const options = { concurrency: CONCURRENT_DOWNLOADS, describeCompleted };
	const items = await mapItems(context, () => options, deliverItem);
	const failed = items.filter((_item, index) => !completed.has(index));

	progress.finish(
		polls,
		failed.length === 0 ? '' : `, ${countVideos(failed.length)} without a result`,
	);
	context.addExecutionHints({
		message: `${countVideos(completed.size)} completed, ${failed.length} failed`,
		type: failed.length === 0 ? 'info' : 'warning',
		location: 'outputPane',
	});
	if (mode === 'tool') return onOutputs({ stillGenerating: items });
	return onOutputs({ completed: items.filter((_item, index) => completed.has(index)), failed });
}

function toItem(
	context: IExecuteFunctions,
	item: number,
	result: PollResult,
	binary: IBinaryKeyData = {},
): INodeExecutionData {
	return {
		json: forTools(context, 'video', { ...result }),
		...(Object.keys(binary).length === 0 ? {} : { binary }),
		pairedItem: { item },
	};
}

/** The error that ended polling, with the task ID of the item, so that the ID is not lost. */
function withTaskId(error: unknown, taskId = ''): unknown {
	if (!(error instanceof ServiceError) || taskId === '') return error;
	return error.with({ subject: { task_id: taskId } });
}

/** The error for tasks without a video, with the reason of each; `undefined` where all tasks are completed. */
function failedVideos(polls: readonly TaskPoll[]): ServiceError | undefined {
	const failed = polls.map(pollResult).filter(({ reason }) => reason !== undefined);
	if (failed.length === 0) return undefined;
	const [first] = failed;
	return new ServiceError(
		'failed',
		polls.length === 1
			? 'The video failed'
			: `${failed.length} of ${countVideos(polls.length)} failed`,
		'Completed videos are not lost: run this node again with their task IDs. Status polls are free of charge',
		{
			serviceMessage: failed.map(failureLine).join('; '),
			...(polls.length === 1 ? { subject: { task_id: first!.task_id } } : {}),
		},
	);
}

function failureLine({ task_id: taskId, reason, error_message: message }: PollResult): string {
	return `${taskId} (${reason}): ${message ?? 'no reason given'}`;
}

/** The result of a completed task whose file could not be downloaded; it keeps the URL of the file. */
function failedDownload(result: PollResult, error: Error): PollResult {
	return { ...result, reason: 'download', error_message: errorLine(error) };
}

/** All task IDs of the run by their outcome, for the error that stops the node: the IDs must not be lost. */
function describeTasks(taskIds: readonly string[], polls: readonly TaskPoll[]): string {
	const groups = new Map<string, string[]>();
	for (const taskId of new Set(taskIds.filter((each) => each !== ''))) {
		const kind = polls.find((poll) => poll.taskId === taskId)?.outcome?.kind ?? 'not finished';
		groups.set(kind, [...(groups.get(kind) ?? []), taskId]);
	}
	return [...groups].map(([kind, ids]) => `Tasks ${kind}: ${ids.join(', ')}`).join('. ');
}
