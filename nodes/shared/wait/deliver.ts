import type { IBinaryKeyData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { settled, valueOf, type Settled } from '../../client/concurrency';
import { InputError, isCanceled, ServiceError, type Advice } from '../../client/errors';
import { shorten, type JsonObject } from '../../client/json';
import { counted, shown } from '../../client/values';
import { pollResult, type PollResult } from '../../client/video/poll/result';
import type { TaskPoll } from '../../client/video/poll/task';

import { downloadFile, hintMissingFiles } from '../files/download';
import { mapItems } from '../run/mapItems';
import { forTools, trace } from '../run/nodeContext';
import { errorLine } from '../run/nodeErrors';

import type { WantedFiles } from './options';
import type { Progress } from './poll';
import { recordResults } from './record';

const CONCURRENT_DOWNLOADS = 3;
/** Limits of an error that names many tasks: characters of a reason, and tasks with their URL. */
const [MAX_REASON, MAX_URLS] = [300, 20] as const;

/** The tasks of all items after polling, and what a failed video means to the node. */
export interface PolledItems {
	/** The task of each item. */
	readonly taskIds: readonly string[];
	readonly polls: readonly TaskPoll[];
	/** The error that ended polling: every item fails with it whose task has no outcome. */
	readonly error?: unknown;
	/** What the form of an item says about its files, or the error of its fields. */
	readonly wanted: readonly Settled<WantedFiles | undefined>[];
	/** The items that have no task to wait for, by index, and what becomes of them. */
	readonly withoutTask?: ReadonlyMap<number, Delivered>;
	/** Whether a failed video fails the node, or with *On Error: Continue* its item; otherwise it is a result. */
	readonly failsNode: boolean;
	/** How to get what is completed, for the error of a failed video. */
	readonly advice: Advice;
	/** How to go on without the failed videos; added where a failure stops the node. */
	readonly toGoOn: Advice;
}

/**
 * What became of the video of an item: a task without an outcome is still generating, the item of an earlier run is gone.
 * Undefined for an error of the item.
 */
export type Ending = 'completed' | 'failed' | 'generating' | 'gone' | undefined;

/** The output of an item, and what became of its video. */
export interface Delivered {
	readonly item: INodeExecutionData;
	readonly ending: Ending;
	/** Why the video could not be downloaded. */
	readonly error?: Error | undefined;
}

interface Delivery {
	readonly ending: Ending;
	readonly result?: PollResult;
	readonly binary?: IBinaryKeyData;
	/** Why the video could not be downloaded. Without an ending it is the error of the item. */
	readonly error?: Error | undefined;
}

/**
 * The results of all items, with their files. What becomes of the tasks is written into the task ledger.
 *
 * @throws NodeApiError or NodeOperationError for what stops the node.
 */
export async function deliver(
	context: IExecuteFunctions,
	progress: Progress,
	{ taskIds, wanted, polls, error: pollError, withoutTask, failsNode, ...rule }: PolledItems,
): Promise<readonly Delivered[]> {
	// Where the workflow continues on errors, nobody needs advice on how to go on.
	const advice = [rule.advice, ...(context.continueOnFail() ? [] : [rule.toGoOn])];
	const pollOf = new Map(polls.map((poll) => [poll.taskId, poll]));
	const continues = context.continueOnFail() && !isCanceled(pollError);
	// The results that are known when polling ends with an error are not lost.
	const failed = failsNode ? failedVideos(polls, advice) : undefined;
	const stop = continues ? undefined : ((pollError as Error | undefined) ?? failed);

	async function deliverItem(item: number): Promise<Delivery> {
		if (stop !== undefined) throw stop;
		const files = wanted[item] && valueOf(wanted[item]);
		const taskId = taskIds[item] ?? '';
		const poll = pollOf.get(taskId);
		if (pollError !== undefined && poll?.outcome === undefined) {
			// So that the ID is not lost.
			if (!(pollError instanceof ServiceError) || taskId === '') throw pollError as Error;
			throw pollError.with({ subject: { task_id: taskId } });
		}
		checkTaskId(taskId);
		const { outcome } = poll!;
		const result = pollResult(poll!);
		if (outcome === undefined) return { ending: 'generating', result };
		if (outcome.kind === 'completed')
			return await downloadFiles(context, files!, result, failsNode);
		if (failsNode) throw failedVideos([poll!], advice)!;
		return { ending: 'failed', result };
	}

	const deliveries = new Map<number, Delivery>();
	const options = {
		concurrency: CONCURRENT_DOWNLOADS,
		describeCompleted: () => describeTasks(taskIds, pollOf),
	};
	const delivered = await settled(
		mapItems(
			context,
			() => options,
			async (item) => {
				const given = withoutTask?.get(item);
				const delivery: Delivery = given ?? (await deliverItem(item));
				deliveries.set(item, delivery);
				const { ending, result, binary, error } = delivery;
				if (error !== undefined && ending === undefined) throw error;
				const json = forTools(context, 'video', { ...result });
				const output = given?.item ?? { json, ...(binary && { binary }) };
				return { ...output, pairedItem: { item } };
			},
		),
	);

	// What a failing node has downloaded is dropped: it stays open in the ledger.
	const endings = taskIds.map((_taskId, item) =>
		'error' in delivered ? undefined : deliveries.get(item)?.ending,
	);
	const tasksWith = (...some: readonly Ending[]) =>
		new Set(taskIds.filter((_taskId, item) => some.includes(endings[item])));
	const incomplete = tasksWith('failed', 'generating', undefined);
	const files = [...deliveries].map(([item, each]) => ({ ...each, taskId: taskIds[item]! }));
	const fileNames = new Map(
		files.map(({ taskId, binary = {} }) => [taskId, Object.values(binary)[0]?.fileName]),
	);
	const errors = new Map(
		files.flatMap(({ taskId, error }) => (error ? [[taskId, errorLine(error)] as const] : [])),
	);
	await recordResults(context, polls, (taskId) => ({
		isComplete: !incomplete.has(taskId),
		fileName: fileNames.get(taskId),
		error: errors.get(taskId),
	}));
	trace(context, {
		'agent_video.tasks': pollOf.size,
		'agent_video.waited_seconds':
			Math.max(0, ...polls.map(({ elapsedMs }) => elapsedMs)) / 1000,
	});
	const items = valueOf(delivered);
	hintMissingFiles(context, items, 'missing_files');
	const lost = tasksWith('failed', undefined);
	progress.finish(polls, lost.has('') ? ', and items without a task ID' : '', lost);
	return items.map((item, index) => {
		return { item, ending: endings[index], error: deliveries.get(index)?.error };
	});
}

/** Downloads the files that the parameters of the item select. One that is missing beside the video is a part of the result. */
async function downloadFiles(
	context: IExecuteFunctions,
	{ fields, fileName, limits }: WantedFiles,
	result: PollResult,
	failsNode: boolean,
): Promise<Delivery> {
	const binary: IBinaryKeyData = {};
	const missing: JsonObject[] = [];
	for (const file of ['video', 'thumbnail'] as const) {
		const url = shown(result[`${file}_url`] ?? '').trim();
		const isVideo = file === 'video';
		const field = fields[file];
		if (!isVideo && (field === undefined || url === '')) continue;
		try {
			checkUrl(url);
			if (field === undefined) continue;
			binary[field] = await downloadFile(context, {
				url,
				name: fileName || result.task_id,
				expected: isVideo ? 'video' : 'image',
				limits,
				subject: { task_id: result.task_id, [`${file}_url`]: url },
				advice: 'The video is completed: open its URL, or run Wait for Video with this task ID',
			});
		} catch (caught) {
			const error = caught as Error;
			const error_message = errorLine(error);
			missing.push({ file, url, error_message });
			if (!isVideo && !isCanceled(error)) continue;
			const ending = failsNode || isCanceled(error) ? undefined : 'failed';
			// It keeps the URL of the file.
			return { ending, result: { ...result, reason: 'download', error_message }, error };
		}
	}
	const all = missing.length === 0 ? result : { ...result, missing_files: missing };
	const hasFiles = Object.keys(binary).length > 0;
	return { ending: 'completed', result: all, ...(hasFiles && { binary }) };
}

/** @throws ServiceError for a URL that is missing, or so long that it was cut. */
function checkUrl(url: string): void {
	if (url !== '' && !url.endsWith('…')) return;
	const problem = url === '' ? 'no video_url' : 'a URL that is too long';
	const advice = 'Run Wait for Video with this task ID';
	throw new ServiceError('protocol', `The service returned ${problem}`, advice);
}

/**
 * Returns the task ID.
 *
 * @throws InputError when it is empty.
 */
export function checkTaskId(taskId: string): string {
	if (taskId !== '') return taskId;
	const hint = 'Connect Create Video to this node, or enter the ID of a task';
	throw new InputError('Task ID', 'is empty', hint);
}

/** The error for tasks without a video, with the reason of each; `undefined` where all tasks are completed. */
function failedVideos(
	polls: readonly TaskPoll[],
	advice: readonly Advice[],
): ServiceError | undefined {
	const failed = polls.map(pollResult).filter(({ reason }) => reason !== undefined);
	const [first] = failed;
	if (first === undefined) return undefined;
	const lines = failed.map(({ task_id, reason, error_message = 'no reason given' }) => {
		return `${task_id} (${reason}): ${shorten(shown(error_message), MAX_REASON)}`;
	});
	const isOne = polls.length === 1;
	return new ServiceError(
		'failed',
		isOne ? 'The video failed' : `${failed.length} of ${counted(polls.length, 'video')} failed`,
		advice,
		{
			serviceMessage: lines.join('; '),
			...(isOne && { subject: { task_id: first.task_id } }),
		},
	);
}

/** All task IDs of the run by their outcome, for the error that stops the node: IDs and videos must not be lost. */
function describeTasks(taskIds: readonly string[], pollOf: ReadonlyMap<string, TaskPoll>): string {
	const groups = new Map<string, string[]>();
	for (const taskId of new Set(taskIds.filter((each) => each !== ''))) {
		const { outcome, report } = pollOf.get(taskId) ?? {};
		const kind = outcome?.kind ?? 'not finished';
		const group = groups.get(kind) ?? [];
		const url = outcome?.kind === 'completed' ? report?.video_url : undefined;
		group.push(url === undefined || group.length >= MAX_URLS ? taskId : `${taskId} (${url})`);
		groups.set(kind, group);
	}
	return [...groups].map(([kind, ids]) => `Tasks ${kind}: ${ids.join(', ')}`).join('. ');
}
