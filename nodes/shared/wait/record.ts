import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { withoutUndefined } from '../../client/json';
import { counted } from '../../client/values';
import { pollResult } from '../../client/video/poll/result';
import { hasVideo, taskState, type TaskReport } from '../../client/video/taskState';
import { isUnknown, type TaskPoll } from '../../client/video/poll/task';
import { oneOf, onTable, type Row } from '../engine/dataTable';
import { taskLedger } from '../ledger/ledgerOption';
import { TASK_TABLE } from '../ledger/taskTable';
import { accountOf, isOfHost, isOwn } from '../run/credential';
import { hint, mentionOnce } from '../run/nodeContext';
import { errorLine } from '../run/nodeErrors';

/** The service rejects the ID itself (spec 7.2). Any other error may come from a proxy, a wrong base URL or the account. */
const REJECTED_ID = 400;

/**
 * What became of the video of an item: a task without an outcome is still generating, the item of an earlier run is gone.
 * Undefined for an error of the item.
 */
export type Ending = 'completed' | 'failed' | 'generating' | 'gone' | undefined;

/** The output of an item, and what became of its video. */
export interface Delivered {
	readonly item: INodeExecutionData;
	readonly ending: Ending;
	/** Why the video could not be downloaded; without an ending the error of the item. */
	readonly error?: Error | undefined;
	/** What the service said when it was asked for another URL. */
	readonly report?: TaskReport | undefined;
	/** Whether there is a file of which something may be missing. */
	readonly isUnverified?: boolean;
}

/** What is said of a video that is not proven to be whole. */
export const UNVERIFIED =
	'Neither the file nor its host says where it ends, so it may be cut. The task stays open';

/** Services forget their tasks, and keep the files longer. */
const FORGOTTEN =
	'delivered before, which the service does not have any more: as the task ledger knows them';

/**
 * The rows of polled tasks in the task ledger. A table that cannot be used changes nothing in the output, and tasks that are
 * not in it change nothing.
 */
export async function openRecords(context: IExecuteFunctions, polls: readonly TaskPoll[]) {
	const read = async () => (taskLedger.read(context, 0) ? await rowsOf(context, polls) : []);
	const tell = ({ message }: Error) => {
		mentionOnce(context, `The results are not in the task ledger. ${message}`);
		return [];
	};
	const rows = await read().catch(tell);
	const lost = rows.filter(({ row, poll }) => row['finished_at'] && poll.outcome !== 'completed');
	const known = new Map<TaskPoll, TaskPoll>();
	for (const { row, poll, account } of lost) {
		const [status, video_url] = [String(row['status']), String(row['video_url'])];
		const report = { task_id: poll.taskId, status, video_url };
		if (isOwn(row, account) && hasVideo(report) && taskState(report) === 'completed')
			known.set(poll, { ...poll, outcome: 'completed', report });
	}
	if (known.size > 0) hint(context, `${counted(known.size, 'video')} ${FORGOTTEN}`);
	return {
		/** The polls. A video that was delivered once is still completed, whatever the service says of its task now. */
		polls: polls.map((poll) => known.get(poll) ?? poll),
		/**
		 * Writes the results, all at once. Without `finished_at` a task stays open, so that it can be collected: after a
		 * timeout or a failed download.
		 */
		write: async (ofTask: ReadonlyMap<string, readonly Delivered[]>): Promise<void> => {
			const update = rows
				.filter((each) => !lost.includes(each))
				.map(({ row, poll, account }) => ({
					id: row['id'],
					...resultRow(poll, ofTask.get(poll.taskId)!),
					...(!isUnknown(poll) && { account }),
				}));
			await onTable(context, TASK_TABLE, { update }).catch(tell);
		},
	};
}

/**
 * The rows of tasks with an outcome. Those of another API key at the same host are of this account, too, if the service has
 * answered; to another account it says that the task does not exist.
 */
async function rowsOf(context: IExecuteFunctions, polls: readonly TaskPoll[]) {
	const finished = polls.filter(({ outcome }) => outcome !== undefined);
	const byTask = new Map<unknown, TaskPoll>(finished.map((poll) => [poll.taskId, poll]));
	const account = await accountOf(context);
	const find = oneOf('task_id', [...byTask.keys()]);
	const found = await onTable(context, TASK_TABLE, { find });
	const isOfAccount = (row: Row) => row['account'] === account;
	const own = new Set(found.filter(isOfAccount).map((row) => row['task_id']));
	return found.flatMap((row) => {
		const poll = byTask.get(row['task_id'])!;
		const isAnswered = !isUnknown(poll) && isOfHost(row, account);
		const isTaken = isOwn(row, account) || !own.has(row['task_id']);
		return isOfAccount(row) || (isAnswered && isTaken) ? [{ row, poll, account }] : [];
	});
}

/** What the ledger has of a task, which may be that of several items. */
function resultRow(poll: TaskPoll, deliveries: readonly Delivered[]): Row {
	const { report } = deliveries.findLast((each) => each.report) ?? poll;
	const latest = pollResult(report ? { ...poll, report } : poll);
	const { task_id, status, video_url, reason, error_message } = latest;
	const isRejected = reason === 'refused' && poll.lastError?.details.status === REJECTED_ID;
	const isUnverified = deliveries.some((each) => each.isUnverified);
	const isHere = deliveries.every(({ ending }) => ending === 'completed' || ending === 'gone');
	const isComplete = isHere && !isUnverified;
	const isFinal = reason === undefined ? isComplete : reason === 'failed' || isRejected;
	// Whatever its status: the key of a video that failed is free.
	const isWithoutVideo = reason === 'failed' && taskState(latest) !== 'failed';
	const { error } = deliveries.find((each) => each.error) ?? {};
	const problem = isUnverified ? UNVERIFIED : error && errorLine(error);
	const names = deliveries.map(({ item }) => Object.values(item.binary ?? {})[0]?.fileName);
	return withoutUndefined({
		task_id,
		status: isRejected ? 'refused' : isWithoutVideo ? 'failed' : status || undefined,
		video_url,
		// Also removes the error of an earlier wait.
		error: (reason === undefined ? problem : (error_message ?? reason)) ?? null,
		file_name: names.findLast(Boolean),
		finished_at: isFinal ? new Date().toISOString() : undefined,
	});
}
