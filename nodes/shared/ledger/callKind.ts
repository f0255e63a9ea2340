import type { Condition, Row, TableSchema } from './dataTable';

/** The columns of every table of calls that a person reads first: n8n shows about five without scrolling. */
export const STATUS_COLUMNS = {
	/** `sent` while there is no answer. */
	status: 'string',
	sent_at: 'date',
} as const satisfies TableSchema['columns'];

/** The other columns of every table of calls: who made the call. */
export const CALLER_COLUMNS = {
	/** Of the credential, see `accountOf`. */
	account: 'string',
	workflow_id: 'string',
	workflow_name: 'string',
	/** Of a sub-workflow the execution that called it. */
	execution_id: 'string',
	node: 'string',
	item: 'number',
	// For recognition: the execution and its retries, the call, and the batch in which it was announced.
	origin: 'string',
	call: 'string',
	pending: 'string',
} as const satisfies TableSchema['columns'];

/** A kind of paid calls: their table, and how a result is kept in it. */
export interface CallKind<T> {
	/** With `STATUS_COLUMNS` and `CALLER_COLUMNS`. */
	readonly table: TableSchema;
	/** Which rows may go, of those that were sent this many days ago. */
	readonly expired: { readonly days: number; readonly rows: readonly Condition[] };
	/** The columns of an answer. */
	readonly toRow: (result: T) => Row;
	/** The result in a row; undefined where the row has no answer. */
	readonly toResult: (row: Row) => T | undefined;
	/** What a row asks for, in a line for errors. */
	readonly describe: (row: Row) => string;
	/** Label of the field with its text. */
	readonly field: string;
}

/** What to do with an item whose idempotency key was used with other values. */
export type KeyConflict = 'fail' | 'reuse' | 'create';

/** A call that an item asks for, with the columns that are known before it is sent. */
export interface PlannedCall {
	/** Index of the item. */
	readonly item: number;
	/** Idempotency key; empty for none. */
	readonly key: string;
	readonly onConflict: KeyConflict;
	/** What was entered. */
	readonly entered: unknown;
	/** Its files: the URL or the content of each. */
	readonly files: unknown;
	readonly row: Row;
	/** Whether to send the call again if its outcome is unknown. */
	readonly retryOutcomeUnknown: boolean;
}

/** A planned call with its ID and all its columns. */
export interface AskedPaid extends PlannedCall {
	readonly call: string;
	readonly fingerprint: string;
	readonly values: string;
	readonly place: string;
	readonly source: string;
	/** The same for all items that have one video. */
	readonly lock: string;
	readonly about: string;
}
