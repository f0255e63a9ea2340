import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { withoutUndefined } from '../../client/json';
import { pollResult } from '../../client/video/poll/result';
import type { TaskReport } from '../../client/video/taskState';
import { isUnknown, type TaskPoll } from '../../client/video/poll/task';
import { oneOf, onTable, type Row } from '../ledger/dataTable';
import { ledgerOptions } from '../ledger/ledgerOption';
import { TASK_TABLE } from '../ledger/taskTable';
import { accountOf, isOfHost, isOwn } from '../run/credential';
import { mentionOnce } from '../run/nodeContext';
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

/**
 * Writes the results of tasks into the task ledger, all at once. Without `finished_at` a task stays open, so that it can
 * be collected: after a timeout or a failed download. Tasks that are not in the table change nothing, and a write that
 * fails changes nothing in the output.
 */
export async function recordResults(
	context: IExecuteFunctions,
	polls: readonly TaskPoll[],
	ofTask: ReadonlyMap<string, readonly Delivered[]>,
): Promise<void> {
	if (!ledgerOptions.taskLedger.read(context, 0)) return;
	const finished = polls.filter(({ outcome }) => outcome !== undefined);
	try {
		const account = await accountOf(context);
		const rows = await rowsOf(context, finished, account);
		const update = rows.map(({ row, poll }) => ({
			id: row['id'],
			...resultRow(poll, ofTask.get(poll.taskId)!),
			...(!isUnknown(poll) && { account }),
		}));
		await onTable(context, TASK_TABLE, { update });
	} catch (error) {
		const { message } = error as Error;
		mentionOnce(context, `The results are not in the task ledger. ${message}`);
	}
}

/**
 * The rows of tasks. Those of another API key at the same host are of this account, too, if the service has answered; to
 * another account it says that the task does not exist.
 */
async function rowsOf(context: IExecuteFunctions, polls: readonly TaskPoll[], account: string) {
	const byTask = new Map<unknown, TaskPoll>(polls.map((poll) => [poll.taskId, poll]));
	const find = oneOf('task_id', [...byTask.keys()]);
	const found = await onTable(context, TASK_TABLE, { find });
	const isOfAccount = (row: Row) => row['account'] === account;
	const own = new Set(found.filter(isOfAccount).map((row) => row['task_id']));
	return found.flatMap((row) => {
		const poll = byTask.get(row['task_id'])!;
		// What was delivered stays so: services forget their tasks.
		if (row['finished_at'] && poll.outcome !== 'completed') return [];
		const isAnswered = !isUnknown(poll) && isOfHost(row, account);
		const isTaken = isOwn(row, account) || !own.has(row['task_id']);
		return isOfAccount(row) || (isAnswered && isTaken) ? [{ row, poll }] : [];
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
	const { error } = deliveries.find((each) => each.error) ?? {};
	const problem = isUnverified ? UNVERIFIED : error && errorLine(error);
	const names = deliveries.map(({ item }) => Object.values(item.binary ?? {})[0]?.fileName);
	return withoutUndefined({
		task_id,
		status: isRejected ? 'refused' : status || undefined,
		video_url,
		// Also removes the error of an earlier wait.
		error: (reason === undefined ? problem : (error_message ?? reason)) ?? null,
		file_name: names.findLast(Boolean),
		finished_at: isFinal ? new Date().toISOString() : undefined,
	});
}
