import type { IBinaryKeyData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { InputError, isCanceled, ServiceError, type Advice } from '../../client/errors';
import { shorten } from '../../client/json';
import { counted, shown } from '../../client/values';
import { pollResult, type PollResult } from '../../client/video/poll/result';
import type { TaskPoll } from '../../client/video/poll/task';
import { settled, valueOf } from '../../client/concurrency';
import { hintMissingFiles } from '../files/download';
import { mapItems } from '../run/mapItems';
import { errorLine } from '../run/nodeErrors';
import { forTools } from '../run/nodeContext';
import { downloadFiles } from './files';
import type { Progress } from './progress';
import { recordResults } from './record';
import { trace } from '../run/trace';

const CONCURRENT_DOWNLOADS = 3;
/** Limits of an error that names many tasks: characters of a reason, and tasks with their URL. */
const [MAX_REASON, MAX_URLS] = [300, 20] as const;

/** The tasks of all items, after polling. */
export interface PolledItems {
	/** The task of each item. */
	readonly taskIds: readonly string[];
	readonly polls: readonly TaskPoll[];
	/** The error that ended polling: every item fails with it whose task has no outcome. */
	readonly error?: unknown;
	/** The outputs of the items that have no task to wait for, by index. */
	readonly withoutTask?: ReadonlyMap<number, INodeExecutionData>;
}

/** What became of the video of an item. A task without an outcome is still generating. */
export type Ending = 'completed' | 'failed' | 'generating';

/** The result of an item, with its files. */
export interface DeliveredItem {
	readonly item: INodeExecutionData;
	/** Undefined for an item with an error, with *On Error: Continue*. */
	readonly ending: Ending | undefined;
}

/** What a failed video means to the node. */
export interface FailureRule {
	/** Whether it fails the node, or with *On Error: Continue* its item; otherwise it is a result. */
	readonly failsNode: boolean;
	/** How to get what is completed, for the error of a failed video. */
	readonly advice: Advice;
	/** How to go on without the failed videos; added where a failure stops the node. */
	readonly toGoOn: Advice;
}

/**
 * The results of all items, with their files. What becomes of the tasks is written into the task ledger.
 *
 * @throws NodeApiError or NodeOperationError for what stops the node.
 */
export async function deliver(
	context: IExecuteFunctions,
	{ taskIds, polls, error: pollError, withoutTask }: PolledItems,
	progress: Progress,
	rule: FailureRule,
): Promise<readonly DeliveredItem[]> {
	const { failsNode } = rule;
	// Where the workflow continues on errors, nobody needs advice on how to go on.
	const advice = [rule.advice, ...(context.continueOnFail() ? [] : [rule.toGoOn])];
	const pollOf = new Map(polls.map((poll) => [poll.taskId, poll]));
	const continues = context.continueOnFail() && !isCanceled(pollError);
	// The results that are known when polling ends with an error are not lost.
	const failedError = failsNode ? failedVideos(polls, advice) : undefined;
	const failure = continues ? undefined : ((pollError as Error | undefined) ?? failedError);
	const endingOf = new Map<number, Ending>();
	const fileNames = new Map<string, string | undefined>();
	const downloadErrors = new Map<string, string>();

	function ended(
		item: number,
		ending: Ending,
		result: PollResult,
		binary: IBinaryKeyData = {},
	): INodeExecutionData {
		endingOf.set(item, ending);
		return {
			json: forTools(context, 'video', { ...result }),
			...(Object.keys(binary).length === 0 ? {} : { binary }),
			pairedItem: { item },
		};
	}

	async function deliverItem(item: number): Promise<INodeExecutionData> {
		const given = withoutTask?.get(item);
		if (given !== undefined) {
			endingOf.set(item, 'completed');
			return given;
		}
		if (failure !== undefined) throw failure;
		const taskId = taskIds[item] ?? '';
		const polled = pollOf.get(taskId);
		if (pollError !== undefined && polled?.outcome === undefined)
			throw withTaskId(pollError, taskId);
		const poll = pollOf.get(checkTaskId(taskId))!;
		const result = pollResult(poll);
		if (poll.outcome === undefined) return ended(item, 'generating', result);
		if (result.reason !== undefined) {
			if (failsNode) throw failedVideos([poll], advice)!;
			return ended(item, 'failed', result);
		}
		const { binary, missing, error } = await downloadFiles(context, item, result);
		if (error === undefined) {
			fileNames.set(poll.taskId, Object.values(binary)[0]?.fileName);
			const files = missing.length === 0 ? {} : { missing_files: missing };
			return ended(item, 'completed', { ...result, ...files }, binary);
		}
		downloadErrors.set(poll.taskId, errorLine(error));
		if (failsNode || isCanceled(error)) throw error;
		// It keeps the URL of the file.
		const failed = { ...result, reason: 'download', error_message: errorLine(error) };
		return ended(item, 'failed', failed, binary);
	}

	const options = {
		concurrency: CONCURRENT_DOWNLOADS,
		describeCompleted: () => describeTasks(taskIds, pollOf),
	};
	const delivered = await settled(mapItems(context, () => options, deliverItem));
	// What a failing node has downloaded is dropped: it stays open in the ledger.
	if ('error' in delivered) endingOf.clear();
	const incomplete = new Set(
		taskIds.filter((_taskId, item) => endingOf.get(item) !== 'completed'),
	);
	const finished = polls.filter(({ outcome }) => outcome !== undefined);
	await recordResults(context, finished, (taskId) => ({
		isComplete: !incomplete.has(taskId),
		fileName: fileNames.get(taskId),
		error: downloadErrors.get(taskId),
	}));
	trace(context, {
		'agent_video.tasks': pollOf.size,
		'agent_video.waited_seconds':
			Math.max(0, ...polls.map(({ elapsedMs }) => elapsedMs)) / 1000,
	});
	const items = valueOf(delivered);
	hintMissingFiles(context, items, 'missing_files');
	const isLost = (_id: string, item: number) => (endingOf.get(item) ?? 'failed') === 'failed';
	const lost = new Set(taskIds.filter(isLost));
	const withoutId = lost.delete('') ? ', and items without a task ID' : '';
	const note = lost.size === 0 ? '' : `, ${counted(lost.size, 'video')} without a result`;
	progress.finish(polls, note + withoutId, note + withoutId === '' ? 'info' : 'warning');
	return items.map((item, index) => ({ item, ending: endingOf.get(index) }));
}

/**
 * Returns the task ID.
 *
 * @throws InputError when it is empty.
 */
export function checkTaskId(taskId: string): string {
	if (taskId !== '') return taskId;
	throw new InputError(
		'Task ID',
		'is empty',
		'Connect Create Video to this node, or enter the ID of a task',
	);
}

/** The error that ended polling, with the task ID of the item, so that the ID is not lost. */
function withTaskId(error: unknown, taskId: string): unknown {
	if (!(error instanceof ServiceError) || taskId === '') return error;
	return error.with({ subject: { task_id: taskId } });
}

/** The error for tasks without a video, with the reason of each; `undefined` where all tasks are completed. */
function failedVideos(
	polls: readonly TaskPoll[],
	advice: readonly Advice[],
): ServiceError | undefined {
	const failed = polls.map(pollResult).filter(({ reason }) => reason !== undefined);
	if (failed.length === 0) return undefined;
	const [first] = failed;
	return new ServiceError(
		'failed',
		polls.length === 1
			? 'The video failed'
			: `${failed.length} of ${counted(polls.length, 'video')} failed`,
		advice,
		{
			serviceMessage: failed.map(failureLine).join('; '),
			...(polls.length === 1 ? { subject: { task_id: first!.task_id } } : {}),
		},
	);
}

function failureLine({ task_id: taskId, reason, error_message: message }: PollResult): string {
	const words = shorten(shown(message ?? 'no reason given'), MAX_REASON);
	return `${taskId} (${reason}): ${words}`;
}

/** All task IDs of the run by their outcome, for the error that stops the node: IDs and videos must not be lost. */
function describeTasks(taskIds: readonly string[], pollOf: ReadonlyMap<string, TaskPoll>): string {
	const groups = new Map<string, string[]>();
	for (const taskId of new Set(taskIds.filter((each) => each !== ''))) {
		const outcome = pollOf.get(taskId)?.outcome;
		const kind = outcome?.kind ?? 'not finished';
		const group = groups.get(kind) ?? [];
		const url = outcome?.kind === 'completed' ? outcome.report.video_url : undefined;
		group.push(url === undefined || group.length >= MAX_URLS ? taskId : `${taskId} (${url})`);
		groups.set(kind, group);
	}
	return [...groups].map(([kind, ids]) => `Tasks ${kind}: ${ids.join(', ')}`).join('. ');
}
