import type { IBinaryKeyData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isCancelled, ServiceError } from '../client/errors';
import { checkTaskId } from '../client/video/queryTask';
import type { TaskPoll } from '../client/video/poll/task';
import { pollResult, type PollResult } from '../client/video/poll/result';
import { counted } from '../client/video/poll/summary';
import { mapItems } from '../shared/run/mapItems';
import { forTools } from '../shared/run/toolResult';
import { describeTasks, failedDownload, failedVideos } from './failures';
import { downloadFiles } from './files';
import type { WaitMode } from './mode';
import { onOutputs } from './outputs';
import type { Progress } from './progress';

/** Files downloaded at once. */
const DOWNLOADS = 3;

/** A wait that is over. */
export interface Finished {
	/** The task of each item. */
	readonly taskIds: readonly string[];
	readonly polls: readonly TaskPoll[];
	/** What every item fails with, where the wait could not be ended. */
	readonly error?: unknown;
}

/**
 * The results of all items, with their files, on their outputs. As a tool they all leave through the first one, the
 * only one that an agent reads.
 */
export async function deliver(
	context: IExecuteFunctions,
	mode: WaitMode,
	{ taskIds, polls, error: waitError }: Finished,
	progress: Progress,
): Promise<INodeExecutionData[][]> {
	const waitOf = new Map(polls.map((each) => [each.taskId, each]));
	const failsNode = context.getNodeParameter('options.onFailed', 0, 'output') === 'fail';
	const allFailed = context.continueOnFail() || !failsNode ? undefined : failedVideos(polls);
	const completed = new Set<number>();

	async function one(item: number): Promise<INodeExecutionData> {
		if (waitError !== undefined) throw withTask(waitError, taskIds[item]);
		if (allFailed !== undefined) throw allFailed;

		const wait = waitOf.get(checkTaskId(taskIds[item]!))!;
		const result = pollResult(wait);
		if (result.reason !== undefined) {
			if (failsNode) throw failedVideos([wait])!;
			return toItem(context, item, result);
		}
		const { binary, error } = await downloadFiles(context, item, result);
		if (error === undefined) {
			completed.add(item);
			return toItem(context, item, result, binary);
		}
		if (failsNode || isCancelled(error)) throw error;
		return toItem(context, item, failedDownload(result, error), binary);
	}

	const describeDone = () => describeTasks(taskIds, polls);
	const items = await mapItems(context, { concurrency: DOWNLOADS, describeDone }, one);
	const failed = items.filter((_item, index) => !completed.has(index));

	progress.end(polls, failed.length === 0 ? '' : `, ${counted(failed.length)} without a result`);
	context.addExecutionHints({
		message: `${counted(completed.size)} completed, ${failed.length} failed`,
		type: failed.length === 0 ? 'info' : 'warning',
		location: 'outputPane',
	});
	if (mode === 'tool') return onOutputs({ stillGenerating: items });
	return onOutputs({ completed: items.filter((_item, index) => completed.has(index)), failed });
}

/** The error of the whole wait for one of its items, which must not lose its task. */
function withTask(error: unknown, taskId = ''): unknown {
	if (!(error instanceof ServiceError) || taskId === '') return error;
	return error.with({ subject: { task_id: taskId } });
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
