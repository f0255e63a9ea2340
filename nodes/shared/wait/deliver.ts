import type { IBinaryKeyData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { settled, valueOf, type Settled } from '../../client/concurrency';
import { InputError, isCanceled, ServiceError, type Advice } from '../../client/errors';
import { shorten, withoutUndefined } from '../../client/json';
import { counted, shown } from '../../client/values';
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
	{ taskIds, wanted, polls, error: pollError, withoutTask, failsNode, ...rule }: PolledItems,
): Promise<readonly Delivered[]> {
	// Where the workflow continues on errors, nobody needs advice on how to go on.
	const advice = [rule.advice, ...(context.continueOnFail() ? [] : [rule.toGoOn])];
	const pollOf = new Map(polls.map((poll) => [poll.taskId, poll]));
	const fresh = new Map<string, TaskReport>();
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
			return await downloadFiles(context, files!, result, failsNode, fresh);
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
	for (const { taskId, isUnverified } of files) if (isUnverified) errors.set(taskId, UNVERIFIED);
	const latest = polls.map((poll) => {
		const report = fresh.get(poll.taskId);
		return report ? { ...poll, report } : poll;
	});
	await recordResults(context, latest, (taskId) => ({
		isComplete: !incomplete.has(taskId) && errors.get(taskId) !== UNVERIFIED,
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
	const unverified = [...errors.values()].filter((error) => error === UNVERIFIED).length;
	if (unverified > 0)
		hint(context, `${counted(unverified, 'video')} not verified. ${UNVERIFIED}`);
	const lost = tasksWith('failed', undefined);
	progress.finish(polls, lost.has('') ? ', and items without a task ID' : '', lost);
	return items.map((item, index) => {
		return { item, ending: endings[index], error: deliveries.get(index)?.error };
	});
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
	fresh: Map<string, TaskReport>,
): Promise<Delivery> {
	const binary: IBinaryKeyData = {};
	let result = polled;
	const { task_id } = polled;

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
		const report = 'value' in asked ? asked.value : undefined;
		if (!report || !hasVideo(report) || urlOf(report, 'video') === urlOf(result, 'video'))
			throw error;
		fresh.set(task_id, report);
		result = { ...result, ...ofService(report) };
		return await fetchFile('video');
	}

	const video = await settled(fetchVideo());
	if ('error' in video) {
		const error = video.error as Error;
		const ending = failsNode || isCanceled(error) ? undefined : 'failed';
		// It keeps the URL of the file.
		const reason = { reason: 'download', error_message: errorLine(error) };
		return { ending, result: { ...result, ...reason }, error };
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
	const hasFiles = Object.keys(binary).length > 0;
	const isUnverified = facts?.verified === false;
	return { ending: 'completed', result, isUnverified, ...(hasFiles && { binary }) };
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
