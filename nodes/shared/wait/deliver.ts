import type { IBinaryKeyData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { settled, valueOf } from '../../client/concurrency';
import { InputError, isCanceled, ServiceError, type Advice } from '../../client/errors';
import { shorten, withoutUndefined } from '../../client/json';
import { counted, isBlank, shown } from '../../client/values';
import { pollResult, type PollResult } from '../../client/video/poll/result';
import type { TaskPoll } from '../../client/video/poll/task';
import { hasVideo, type TaskReport } from '../../client/video/taskState';
import { ofService } from '../../client/video/tasks';

import { checkHttpUrl, downloadFile, hintMissingFiles, type StoredFile } from '../files/download';
import { mapItems } from '../run/mapItems';
import { forTools, trace, hint } from '../run/nodeContext';
import { errorLine } from '../run/nodeErrors';

import type { WantedFiles } from './options';
import { askOnce, type Progress } from './poll';
import { recordResults, type Files } from './record';

const CONCURRENT_DOWNLOADS = 3;
/** Limits of an error that names many tasks: characters of a reason, and tasks with their URL. */
const [MAX_REASON, MAX_URLS] = [300, 20] as const;

/** What an item waits for. */
export interface WaitItem {
	/** Empty without a task. */
	readonly taskId: string;
	/** Undefined where its video is not to be delivered. */
	readonly files?: WantedFiles | undefined;
	/** What becomes of an item without a task to wait for, or with an error of its fields. */
	readonly given?: Delivered | undefined;
}

/** The tasks of all items after polling, and what a failed video means to the node. */
export interface PolledItems {
	/** None where polling could not begin. */
	readonly items: readonly WaitItem[];
	readonly polls: readonly TaskPoll[];
	/** The error that ended polling: every item fails with it whose task has no outcome. */
	readonly error?: unknown;
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

/** The same with what the task ledger keeps. Without an ending the error is that of the item. */
interface Delivery extends Delivered {
	/** What the service said when it was asked for another URL. */
	readonly report?: TaskReport | undefined;
	/** Whether there is a file of which something may be missing. */
	readonly isUnverified?: boolean;
}

/**
 * The results of all items, with their files. What becomes of the tasks is written into the task ledger.
 *
 * @throws NodeApiError or NodeOperationError for what stops the node.
 */
export async function deliver(
	context: IExecuteFunctions,
	progress: Progress,
	{ items: tasks, polls, error: pollError, failsNode, ...rule }: PolledItems,
): Promise<readonly Delivered[]> {
	// Where the workflow continues on errors, nobody needs advice on how to go on.
	const advice = [rule.advice, ...(context.continueOnFail() ? [] : [rule.toGoOn])];
	const taskIds = tasks.map(({ taskId }) => taskId);
	const pollOf = new Map(polls.map((poll) => [poll.taskId, poll]));
	const resultOf = new Map(polls.map((poll) => [poll.taskId, pollResult(poll)]));
	const videos = [...new Set(taskIds)].map((id) => ({ task_id: id, ...resultOf.get(id) }));
	const continues = context.continueOnFail() && !isCanceled(pollError);
	// The results that are known when polling ends with an error are not lost.
	const failed = failsNode ? failedVideos([...resultOf.values()], advice) : undefined;
	const stop = continues ? undefined : ((pollError as Error | undefined) ?? failed);

	async function deliverItem(item: number): Promise<Delivery> {
		const { taskId = '', files, given } = tasks[item] ?? {};
		if (given !== undefined) return given;
		if (stop !== undefined) throw stop;
		const poll = pollOf.get(taskId);
		if (pollError !== undefined && poll?.outcome === undefined) {
			// So that the ID is not lost.
			if (!(pollError instanceof ServiceError) || taskId === '') throw pollError as Error;
			throw pollError.with({ subject: { task_id: taskId } });
		}
		checkTaskId(taskId);
		const { outcome } = poll!;
		const result = resultOf.get(taskId)!;
		if (outcome === 'completed') return await downloadFiles(context, files!, result, failsNode);
		if (outcome !== undefined && failsNode) throw failedVideos([result], advice)!;
		return {
			item: toItem(context, result),
			ending: outcome === undefined ? 'generating' : 'failed',
		};
	}

	const deliveries: (Delivery | undefined)[] = taskIds.map(() => undefined);
	const delivered = await settled(
		mapItems(
			context,
			() => ({
				concurrency: CONCURRENT_DOWNLOADS,
				describeCompleted: () => describeTasks(videos, 'not finished'),
			}),
			async (index) => {
				const delivery = await deliverItem(index);
				deliveries[index] = delivery;
				const { item, ending, error } = delivery;
				if (error !== undefined && ending === undefined) throw error;
				return { ...item, pairedItem: { item: index } };
			},
		),
	);

	// What a failing node has downloaded is dropped: it stays open in the ledger.
	const endings = deliveries.map((each) => ('error' in delivered ? undefined : each?.ending));
	const files = filesByTask(taskIds, deliveries, endings);
	await recordResults(context, polls, (taskId) => files.get(taskId)!);
	trace(context, {
		'agent_video.tasks': pollOf.size,
		'agent_video.waited_seconds':
			Math.max(0, ...polls.map(({ elapsedMs }) => elapsedMs)) / 1000,
	});
	const items = valueOf(delivered);
	hintMissingFiles(context, items, 'missing_files');
	const unverified = [...files.values()].filter(({ error }) => error === UNVERIFIED).length;
	if (unverified > 0)
		hint(context, `${counted(unverified, 'video')} not verified. ${UNVERIFIED}`);
	const isLost = (item: number) => ['failed', undefined].includes(endings[item]);
	const lost = new Set(taskIds.filter((_taskId, item) => isLost(item)));
	progress.finish(polls, lost.has('') ? ', and items without a task ID' : '', lost);
	return items.map((item, index) => {
		return { item, ending: endings[index], error: deliveries[index]?.error };
	});
}

/** What becomes of the task of each item, of which several may have the same. */
function filesByTask(
	taskIds: readonly string[],
	deliveries: readonly (Delivery | undefined)[],
	endings: readonly Ending[],
) {
	const files = new Map<string, Files>();
	for (const [index, taskId] of taskIds.entries()) {
		const { item, error, report, isUnverified = false } = deliveries[index] ?? {};
		const others = files.get(taskId);
		const isHere = endings[index] === 'completed' || endings[index] === 'gone';
		files.set(taskId, {
			isComplete: isHere && !isUnverified && others?.isComplete !== false,
			fileName: Object.values(item?.binary ?? {})[0]?.fileName ?? others?.fileName,
			error: isUnverified ? UNVERIFIED : (others?.error ?? (error && errorLine(error))),
			report: report ?? others?.report,
		});
	}
	return files;
}

/** What is said of a video that is not proven to be whole. */
const UNVERIFIED =
	'Neither the file nor its host says where it ends, so it may be cut. The task stays open';

/** Downloads the files that the parameters of the item select. One that is missing beside the video is a part of the result. */
async function downloadFiles(
	context: IExecuteFunctions,
	{ fields, fileName, limits }: WantedFiles,
	polled: PollResult,
	failsNode: boolean,
): Promise<Delivery> {
	const binary: IBinaryKeyData = {};
	const { task_id } = polled;
	let result = polled;
	let report: TaskReport | undefined;

	async function fetchFile(file: 'video' | 'thumbnail'): Promise<StoredFile | undefined> {
		const [url, field] = [urlOf(result, file), fields[file]];
		checkUrl(url);
		if (field === undefined) return undefined;
		const stored = await downloadFile(context, {
			url,
			name: fileName || task_id,
			expected: file === 'video' ? 'video' : 'image',
			limits,
			subject: { task_id, [`${file}_url`]: url },
			advice: 'The video is completed: open its URL, or run Wait for Video with this task ID',
		});
		binary[field] = stored.data;
		return stored;
	}

	/** A URL may have expired: the service is asked once for another one. */
	async function fetchVideo() {
		const first = await settled(fetchFile('video'));
		if ('value' in first) return first.value;
		const { error } = first;
		if (!(error instanceof ServiceError) || isCanceled(error)) throw error;
		const asked = await settled(askOnce(context, task_id));
		const found = 'value' in asked ? asked.value : undefined;
		if (!found || !hasVideo(found) || urlOf(found, 'video') === urlOf(result, 'video'))
			throw error;
		report = found;
		result = { ...result, ...ofService(found) };
		return await fetchFile('video');
	}

	const video = await settled(fetchVideo());
	if ('error' in video) {
		const error = video.error as Error;
		const ending = failsNode || isCanceled(error) ? undefined : 'failed';
		// It keeps the URL of the file.
		const reason = { reason: 'download', error_message: errorLine(error) };
		return { item: toItem(context, { ...result, ...reason }), ending, error, report };
	}
	const facts = video.value?.facts;
	if (facts) result = { ...result, file: withoutUndefined({ ...facts }) };

	const url = urlOf(result, 'thumbnail');
	const isWanted = fields.thumbnail !== undefined && url !== '';
	const thumbnail = isWanted ? await settled(fetchFile('thumbnail')) : undefined;
	if (thumbnail && 'error' in thumbnail) {
		const error_message = errorLine(thumbnail.error as Error);
		if (isCanceled(thumbnail.error)) throw thumbnail.error;
		result = { ...result, missing_files: [{ file: 'thumbnail', url, error_message }] };
	}
	const item = toItem(context, result, binary);
	return { item, ending: 'completed', report, isUnverified: facts?.verified === false };
}

function toItem(
	context: IExecuteFunctions,
	result: PollResult,
	binary: IBinaryKeyData = {},
): INodeExecutionData {
	const json = forTools(context, 'video', { ...result });
	return Object.keys(binary).length === 0 ? { json } : { json, binary };
}

function urlOf(
	report: Pick<PollResult, 'video_url' | 'thumbnail_url'>,
	file: 'video' | 'thumbnail',
) {
	return shown(report[`${file}_url`] ?? '').trim();
}

/** @throws ServiceError for a URL that is missing or is none, or so long that it was cut. */
function checkUrl(url: string): void {
	const advice = 'Run Wait for Video with this task ID';
	const problem = url === '' ? 'no video_url' : url.endsWith('…') ? 'a URL that is too long' : '';
	if (problem !== '')
		throw new ServiceError('protocol', `The service returned ${problem}`, advice);
	checkHttpUrl(url, advice);
}

/**
 * Returns the task ID.
 *
 * @throws InputError when it is empty.
 */
export function checkTaskId(taskId: string): string {
	if (taskId !== '') return taskId;
	const hint = 'Create Video outputs it as task_id: connect it, or enter the ID of a task';
	throw new InputError('Task ID', 'is empty', hint);
}

/** What an error says of a video: IDs and videos must not be lost with it. It is lost if it has a `reason`. */
export interface Video {
	readonly task_id: string;
	readonly video_url?: unknown;
	readonly reason?: unknown;
	readonly error_message?: unknown;
}

/** The error for the lost videos among these, with the reason of each; `undefined` where none is lost. */
export function failedVideos(
	videos: readonly Video[],
	advice: readonly Advice[],
): ServiceError | undefined {
	const lost = videos.filter(({ reason }) => reason !== undefined);
	const [first] = lost;
	if (first === undefined) return undefined;
	const lines = lost.map(({ task_id, reason, error_message = 'no reason given' }) => {
		const why = shorten(shown(error_message), MAX_REASON);
		return `${task_id || 'without a task'} (${shown(reason)}): ${why}`;
	});
	const isOne = videos.length === 1;
	return new ServiceError(
		'failed',
		isOne ? 'The video failed' : `${lost.length} of ${counted(videos.length, 'video')} failed`,
		advice,
		{
			serviceMessage: lines.join('; '),
			...(isOne && { subject: { task_id: first.task_id } }),
		},
	);
}

/**
 * The IDs of all tasks by what became of them, for the error that stops the node; the first of each kind with their URL.
 *
 * @param generating What is said of those that have no video yet.
 */
export function describeTasks(videos: readonly Video[], generating: string): string {
	const groups = new Map(
		['completed', generating, 'failed'].map((kind) => [kind, [] as string[]]),
	);
	for (const video of videos) {
		const { task_id, reason, video_url: url } = video;
		const isDone = reason === 'download' || (reason === undefined && hasVideo(video));
		const ids = groups.get(
			isDone ? 'completed' : reason === undefined ? generating : 'failed',
		)!;
		const where = isBlank(url) || ids.length >= MAX_URLS ? '' : ` (${shown(url)})`;
		if (task_id !== '') ids.push(`${task_id}${where}`);
	}
	return [...groups]
		.filter(([, ids]) => ids.length > 0)
		.map(([kind, ids]) => `Tasks ${kind}: ${ids.join(', ')}`)
		.join('. ');
}
