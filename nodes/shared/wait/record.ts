import type { IExecuteFunctions } from 'n8n-workflow';

import { slices } from '../../client/concurrency';
import { withoutUndefined } from '../../client/json';
import { pollResult } from '../../client/video/poll/result';
import type { TaskPoll } from '../../client/video/poll/task';
import { MAX_CONDITIONS, onTable, type Row } from '../ledger/dataTable';
import { ledgerOptions } from '../ledger/ledgerOption';
import { TASK_TABLE } from '../ledger/taskTable';
import { accountOf, isOwn } from '../run/credential';
import { mentionOnce } from '../run/hints';

/** The service rejects the ID itself (spec 7.2). Any other error may come from a proxy, a wrong base URL or the account. */
const REJECTED_ID = 400;

/** An update takes about 20 ms per row. More rows than this are replaced, which takes about 2 ms per row. */
const MAX_UPDATES = 20;

/** What became of the files of a completed task. */
interface Files {
	/** Whether every item of the task has what was asked for. */
	readonly isComplete: boolean;
	readonly fileName: string | undefined;
	/** Why a file could not be downloaded. */
	readonly error: string | undefined;
}

/**
 * Writes the results of tasks into the task ledger, all at once. Without `finished_at` a task stays open, so that it can
 * be collected: after a timeout or a failed download. Tasks that are not in the table change nothing, and a write that
 * fails changes nothing in the output.
 */
export async function recordResults(
	context: IExecuteFunctions,
	polls: readonly TaskPoll[],
	filesOf: (taskId: string) => Files,
): Promise<void> {
	if (!ledgerOptions.taskLedger.read(context, 0)) return;
	const finished = polls.filter(({ outcome }) => outcome !== undefined);
	const rows = finished.map((poll) => resultRow(poll, filesOf(poll.taskId)));
	try {
		const account = await accountOf(context);
		for (const part of slices(rows, MAX_CONDITIONS)) await writeRows(context, part, account);
	} catch (error) {
		const { message } = error as Error;
		mentionOnce(context, `The results are not in the task ledger. ${message}`);
	}
}

/** Writes the results into the rows of this account: to another one, the service may say that the task does not exist. */
async function writeRows(context: IExecuteFunctions, results: readonly Row[], account: string) {
	const byTask = new Map(results.map((row) => [row['task_id'], row]));
	const any = results.map((row) => ['task_id', 'eq', row['task_id'] as string] as const);
	const found = await onTable(context, TASK_TABLE, { find: { any } });
	const old = found.filter((row) => isOwn(row, account));
	if (old.length === 0) return;
	const update = old.map(({ id, task_id }) => ({ ...byTask.get(task_id), id }));
	const isOld = old.map(({ id }) => ['id', 'eq', id as number] as const);
	// The new rows come first: whatever ends this halfway, no task is lost.
	const insert = old.map((row, index) => ({ ...row, ...update[index] }));
	const replace = [{ insert }, { remove: { any: isOld } }] as const;
	await onTable(context, TASK_TABLE, ...(old.length > MAX_UPDATES ? replace : [{ update }]));
}

function resultRow(poll: TaskPoll, { isComplete, fileName, error }: Files): Row {
	const { outcome } = poll;
	const { task_id, status, video_url, reason, error_message } = pollResult(poll);
	const refusal = outcome && 'error' in outcome ? outcome.error.details.status : undefined;
	const isRejected = refusal === REJECTED_ID;
	const isFinal = reason === undefined ? isComplete : reason === 'failed' || isRejected;
	return withoutUndefined({
		task_id,
		status: isRejected ? 'refused' : status || undefined,
		video_url,
		// Also removes the error of an earlier wait.
		error: (reason === undefined ? error : (error_message ?? reason)) ?? null,
		file_name: fileName,
		finished_at: isFinal ? new Date().toISOString() : undefined,
	});
}
