import type { IBinaryData, IBinaryKeyData, INodeExecutionData } from 'n8n-workflow';

import { grouped, settled, valueOf } from '../../client/concurrency';
import { InputError, isCanceled, ServiceError } from '../../client/errors';
import { withoutContent } from '../../client/fileTypes';
import { startDeadline } from '../../client/http/failures';
import { withoutUndefined } from '../../client/json';
import { shown } from '../../client/values';
import {
	pollResult,
	withoutFiles,
	withWords,
	type PollResult,
} from '../../client/video/pollResult';
import type { TaskPoll } from '../../client/video/pollTasks';
import { hasVideo, ofService, type TaskReport } from '../../client/video/tasks';

import { checkHttpUrl, downloadFile, DOWNLOAD_LIMIT_MS, hintMissingFiles } from '../files/download';
import { mapItems } from '../run/mapItems';
import { forTools } from '../run/nodeContext';
import { errorLine, toNodeError } from '../run/nodeErrors';
import type { Run } from '../run/run';

import { adviceFor, describeVideos, whyLost } from './lostVideos';
import { askOnce, type Progress, type WantedFiles } from './poll';
import { openRecords, type Delivered } from './record';

const CONCURRENT_DOWNLOADS = 3;
const TO_GET_IT = 'The video is completed: open its URL, or run Wait for Video with this task ID';

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
interface PolledItems {
	/** None where polling could not begin. */
	readonly items: readonly WaitItem[];
	readonly polls: readonly TaskPoll[];
	/** The error that ended polling: every item fails with it whose task has no outcome. */
	readonly error?: unknown;
	/** Whether a failed video is the error of its item; otherwise it is a result. */
	readonly failsItems: boolean;
	/** Whether a failed video stops the node: then nothing is delivered, and all stays open in the ledger. */
	readonly dropsAll: boolean;
}

/**
 * The results of all items, with their files. What becomes of the tasks is written into the task ledger.
 *
 * @throws NodeApiError or NodeOperationError for what stops the node.
 */
export async function deliver(
	run: Run,
	progress: Progress,
	{ items: tasks, polls: polled, error: pollError, failsItems, dropsAll }: PolledItems,
): Promise<readonly Delivered[]> {
	const taskIds = tasks.map(({ taskId }) => taskId);
	const { polls, write, promptOf } = await openRecords(run, polled);
	const known = new Map(
		polls.map((poll) => [poll.taskId, { ...poll, result: pollResult(poll) }]),
	);
	const videos = [...known].map(([name, { result }]) => ({ name, ...result }));
	const continues = run.continuesOnFail() && !isCanceled(pollError);
	// The results that are known when polling ends with an error are not lost.
	const stop = continues ? undefined : withRemedy(run, pollError);
	const isFailed = ({ ending }: Pick<Delivered, 'ending'>) => ending === 'failed';
	const hasFailed =
		tasks.some(({ given }) => given && isFailed(given)) ||
		[...known.values()].some(({ result }) => result.reason !== undefined);

	async function deliverItem(item: number): Promise<Delivered> {
		const { taskId = '', files, given } = tasks[item] ?? {};
		if (given !== undefined) return failsItems && isFailed(given) ? asError(given) : given;
		if (stop !== undefined) throw stop;
		const { outcome, result, report } = known.get(taskId) ?? {};
		if (pollError !== undefined && outcome === undefined) {
			// So that the ID is not lost.
			if (!(pollError instanceof ServiceError) || taskId === '') throw pollError as Error;
			throw pollError.with({ subject: { task_id: taskId } });
		}
		if (outcome === 'completed' && !(dropsAll && hasFailed))
			return await downloadFiles(run, files!, result!, report!, failsItems);
		const isLost = outcome !== undefined && outcome !== 'completed';
		if (isLost && failsItems)
			throw new ServiceError('failed', 'The video failed', adviceFor([result!]), {
				serviceMessage: whyLost(result!),
				subject: { task_id: taskId },
			});
		return { item: toItem(run, result!), ending: isLost ? 'failed' : 'generating' };
	}

	const deliveries = taskIds.map((): Delivered => ({ item: { json: {} }, ending: undefined }));
	const delivered = await settled(
		mapItems(
			run,
			() => ({
				concurrency: CONCURRENT_DOWNLOADS,
				describeCompleted: () => describeVideos(videos),
			}),
			async (index) => {
				const delivery = await deliverItem(index);
				const { item, ending, error } = delivery;
				const prompt = ending === 'failed' ? promptOf(taskIds[index]!) : undefined;
				if (prompt !== undefined && !run.isTool) item.json = { prompt, ...item.json };
				deliveries[index] = delivery;
				if (error !== undefined && ending === undefined) throw error;
				return { ...item, pairedItem: { item: index } };
			},
		),
	);

	// What a failing node has downloaded is dropped: it stays open in the ledger.
	const isDropped = 'error' in delivered || (dropsAll && deliveries.some(isFailed));
	const ofTask = grouped(
		deliveries.map((each) => (isDropped ? { ...each, ending: undefined } : each)),
		(_each, item) => taskIds[item]!,
	);
	await write(ofTask);
	run.trace({
		'agent_video.tasks': known.size,
		'agent_video.waited_seconds':
			Math.max(0, ...polls.map(({ elapsedMs }) => elapsedMs)) / 1000,
	});
	const items = valueOf(delivered);
	hintMissingFiles(run, items, 'missing_files');
	const isLost = ({ ending }: Delivered) => ending === undefined || ending === 'failed';
	const lost = new Set([...ofTask.keys()].filter((taskId) => ofTask.get(taskId)!.some(isLost)));
	progress.finish(polls, lost.has('') ? ', and items without a task ID' : '', lost);
	return items.map((item, index) => ({ ending: undefined, ...deliveries[index], item }));
}

/** A creation that failed, in the one shape that n8n sends to the error output; `ending` is that of other errors. */
function asError({ item }: Delivered): Delivered {
	const { error, message, details } = item.json;
	return { item: { json: { error, message, details } }, ending: undefined };
}

/** What ends polling, as the error of no item, with what a Retry costs. A canceled execution has none. */
function withRemedy(run: Run, error: unknown): Error | undefined {
	if (error === undefined || isCanceled(error)) return error as Error | undefined;
	if (!(error instanceof ServiceError)) return toNodeError(run, error, undefined);
	const message = `${error.message}. Retry polls again, free of charge`;
	return toNodeError(run, error.with({}, { message }), undefined);
}

/** Downloads the files that the parameters of the item select. One that is missing beside the video is a part of the result. */
async function downloadFiles(
	run: Run,
	{ fields, fileName, maximumFileSize }: WantedFiles,
	polled: PollResult,
	polledReport: TaskReport,
	failsItem: boolean,
): Promise<Delivered> {
	const binary: IBinaryKeyData = {};
	const { task_id } = polled;
	// Where nothing is stored, a data: URL is the file.
	const isKept = fields.video === undefined && !run.isTool;
	let result = isKept ? { ...polled, video_url: polledReport.video_url! } : polled;
	let urls = polledReport;
	let report: TaskReport | undefined;

	async function fetchFile(
		file: 'video' | 'thumbnail',
		deadline = startDeadline(run.clock, DOWNLOAD_LIMIT_MS),
	): Promise<IBinaryData | undefined> {
		const [url, field] = [urlOf(urls, file), fields[file]];
		checkUrl(url);
		if (field === undefined) return undefined;
		const stored = await downloadFile(run, {
			url,
			name: fileName || task_id,
			expected: file === 'video' ? 'video' : 'image',
			maximumFileSize,
			limitMs: deadline.leftMs(),
			subject: { task_id, [`${file}_url`]: withoutContent(url) },
			advice: [TO_GET_IT],
		});
		binary[field] = stored;
		return stored;
	}

	/** A URL may have expired: the service is asked once for another one. One limit holds for both. */
	async function fetchVideo() {
		const deadline = startDeadline(run.clock, DOWNLOAD_LIMIT_MS);
		const first = await settled(fetchFile('video', deadline));
		if ('value' in first) return first.value;
		const { error } = first;
		// An InputError stands for what was not sent, and this video is paid for.
		if (error instanceof InputError)
			throw new ServiceError(
				'protocol',
				`The video is too large. ${error.message}. ${error.hint}`,
				TO_GET_IT,
				{ subject: { task_id, video_url: withoutContent(urlOf(urls, 'video')) } },
			);
		if (!(error instanceof ServiceError) || ['canceled', 'deadline'].includes(error.kind))
			throw error;
		const found = await askOnce(run, task_id).catch(() => undefined);
		if (!found || !hasVideo(found) || urlOf(found, 'video') === urlOf(urls, 'video'))
			throw error;
		urls = report = found;
		result = { ...result, ...withoutFiles(ofService(found)) };
		return await fetchFile('video', deadline);
	}

	const video = await settled(fetchVideo());
	if ('error' in video) {
		const error = video.error as Error;
		const ending = failsItem || isCanceled(error) ? undefined : 'failed';
		// It keeps the URL of the file.
		const lost = withWords({ ...result, reason: 'download' }, errorLine(error));
		return { item: toItem(run, lost), ending, error, report };
	}
	const { bytes, mimeType } = video.value ?? {};
	if (mimeType) result = { ...result, file: withoutUndefined({ bytes, type: mimeType }) };

	const url = urlOf(urls, 'thumbnail');
	const isWanted = fields.thumbnail !== undefined && url !== '';
	const thumbnail = isWanted ? await settled(fetchFile('thumbnail')) : undefined;
	if (thumbnail && 'error' in thumbnail) {
		const error_message = errorLine(thumbnail.error as Error);
		if (isCanceled(thumbnail.error)) throw thumbnail.error;
		result = {
			...result,
			missing_files: [{ file: 'thumbnail', url: withoutContent(url), error_message }],
		};
	}
	const item = toItem(run, result, binary);
	return { item, ending: 'completed', report };
}

function toItem(
	{ isTool }: Run,
	result: PollResult,
	binary: IBinaryKeyData = {},
): INodeExecutionData {
	const json = forTools(isTool, 'video', { ...result });
	return Object.keys(binary).length === 0 ? { json } : { json, binary };
}

function urlOf(report: TaskReport, file: 'video' | 'thumbnail') {
	return shown(report[`${file}_url`] ?? '').trim();
}

/** @throws ServiceError for a URL that is missing or is none, or so long that it was cut. */
function checkUrl(url: string): void {
	const advice = 'Run Wait for Video with this task ID';
	const problem = url === '' ? 'no video_url' : url.endsWith('…') ? 'a URL that is too long' : '';
	if (problem !== '')
		throw new ServiceError('protocol', `The service returned ${problem}`, advice);
	if (!/^data:video\/|^data:image\//i.test(url)) checkHttpUrl(url, advice);
}
