import type { Row, Step, TableSchema } from '../engine/dataTable';
import { form, toggle } from '../form/form';

/**
 * The task ledger: every video that was asked for in a project, in one table that a person can open. A row with status
 * `sent` and no task ID is a request without an answer: the task may exist. `finished_at` is empty until the node
 * that waits has the final result.
 */
export const TASK_TABLE = {
	name: 'agent_video_tasks',
	ledger: 'kept',
	columns: {
		task_id: 'string',
		// n8n shows about five columns without scrolling: these a person reads first.
		/** See `State`. */
		status: 'string',
		sent_at: 'date',
		prompt: 'string',
		video_url: 'string',
		error: 'string',
		finished_at: 'date',
		/** When Wait for Video has first handed out the video. */
		delivered_at: 'date',
		file_name: 'string',
		model: 'string',
		duration: 'number',
		size: 'string',
		audio: 'boolean',
		adjustments: 'string',
		details: 'string',
		estimated_cost: 'number',
		idempotency_key: 'string',
		collected_at: 'date',
		/** Of the credential, see `accountOf`. */
		account: 'string',
		workflow_id: 'string',
		workflow_name: 'string',
		/** Of a sub-workflow the execution that called it. */
		execution_id: 'string',
		node: 'string',
		item: 'number',
		// What finds a call again: its execution with all retries, the call, and the write that its row came with.
		origin: 'string',
		call: 'string',
		token: 'string',
	},
	write: 'token',
} as const satisfies TableSchema;

/** The same table for a node that waits: it pays for nothing, and goes on with the table that is there. */
export const RESULT_TABLE: TableSchema = { ...TASK_TABLE, ledger: undefined };

/** The same for one that looks for what its own workflow has paid for: it may be in another table. */
export const OWN_TABLE: TableSchema = { ...TASK_TABLE, ledger: 'checked' };

/** What a person does about rows with the status `sent`. */
export const TO_ANSWER = 'enter the task_id of each video that exists, and delete the other rows';

/** The task ID of a row; empty for none. A person may have pasted it with white space. */
export function taskIdOf({ task_id: taskId }: Row): string {
	return typeof taskId === 'string' ? taskId.trim() : '';
}

/** The step that removes this white space: the result of a task is written into the rows with its ID. */
export function trimTaskIds(rows: readonly Row[]): Step {
	const untrimmed = rows.filter((row) => row['task_id'] && row['task_id'] !== taskIdOf(row));
	return { update: untrimmed.map((row) => ({ id: row['id'], task_id: taskIdOf(row) })) };
}

/** The time now as a column has it. By `Date.now`, which tests replace. */
export const nowIso = () => new Date(Date.now()).toISOString();

/** Number of the newest rows that stay. */
const KEPT = 40_000;
/** A limit of a month counts the rows of these days. */
const KEPT_MS = 32 * 24 * 60 * 60 * 1000;
/** New rows after which old ones are removed again. */
const EVERY = 1_000;

/** The ID up to which this process has removed old rows, by the ID of the workflow. */
const removedUpTo = new Map<string, number>();

/**
 * The step that removes old rows whose video is finished, by their IDs as well as their time: a clock may be wrong. Rows with a key stay:
 * they promise that no second video is created.
 *
 * @param newest ID of a new row.
 */
export function expiry(workflow: string, newest: number, nowMs: number): readonly Step[] {
	const upTo = newest - KEPT;
	if (upTo - (removedUpTo.get(workflow) ?? 0) < EVERY) return [];
	removedUpTo.set(workflow, upTo);
	const all = [
		['id', 'lt', upTo],
		['sent_at', 'lt', new Date(nowMs - KEPT_MS).toISOString()],
		['finished_at', 'isNotEmpty'],
		['idempotency_key', 'isEmpty'],
	] as const;
	return [{ remove: { all } }];
}

/** Whether a node writes the ledger of tasks. */
export const taskLedgerField = toggle('Task Ledger', {
	help: 'Whether to record the tasks and their results in the data table agent_video_tasks of this project, where a retry of the execution finds them',
	default: true,
});

/** The option as a run reads it: for its first item, and it applies to all. */
export const { taskLedger } = form({ taskLedger: taskLedgerField }, 'options.').fields;
