import { randomUUID } from 'node:crypto';

import type { Settled } from '../../client/concurrency';
import { fromSaved, toSaved, type SavedError, type ServiceError } from '../../client/errors';
import type { Condition, Row, TableSchema } from '../engine/dataTable';
import type { Origin } from './origin';

/** A kind of paid calls. Without a table the call log alone keeps them. */
export interface CallKind<T> {
	readonly table?: TableSchema & { readonly finished: readonly Condition[] };
	/** After how many days the finished rows go. */
	readonly keptDays?: number;
	/** The columns of an answer. */
	readonly toRow?: (result: T) => Row;
	/** The result in a row; undefined where the row has no answer. */
	readonly toResult?: (row: Row) => T | undefined;
	/** What a row asks for, in a line for errors. */
	readonly describe: (row: Row) => string;
	/** Label of the field with its text. */
	readonly field: string;
}

/** A kind of paid calls with a ledger. */
export type LedgerKind<T> = Required<CallKind<T>>;

/** What to do with an item whose idempotency key was used with other values. */
export type KeyConflict = 'fail' | 'reuse' | 'create';

/** A call that an item asks for. */
export interface PlannedCall {
	/** Index of the item, see `placeOfItem`. */
	readonly item: number;
	readonly onConflict: KeyConflict;
	/** What was entered. */
	readonly entered: unknown;
	/** Its files: the URL or the content of each. */
	readonly files: unknown;
	/** The columns that are known before it is sent. */
	readonly row: Row;
	/** Whether to send the call again if its outcome is unknown. */
	readonly retryOutcomeUnknown: boolean;
}

/** A call as its row or the log shows it, whether it is asked for or was made. */
export interface Call<T = unknown> {
	/** Unique ID. */
	readonly call: string;
	/** Hash of the key and what was entered, as all others. */
	readonly fingerprint: string;
	/** The same without what signs URLs: it differs every time. */
	readonly values: string;
	/** Of the input item and the form, where the form reads nothing but this item. */
	readonly place: string;
	/** Of the input item and the form; only of a call that n8n has kept with the data of all nodes. */
	readonly source?: string;
	/** Idempotency key; empty for none. */
	readonly key: string;
	/** Index of the node's run; -1 where it tells nothing. */
	readonly run: number;
	/** Index of the item. */
	readonly item: number;
	/** What it asks for, in a line for errors. */
	readonly about: string;
	/** Its outcome once it is known: a result, or a failure after which the service may have done the work. */
	readonly result?: T;
	readonly failure?: SavedError;
	/** The execution that has read the call from the ledger. */
	readonly readBy?: string;
}

/** A planned call of a run. Its row has all columns. */
export interface AskedCall extends PlannedCall, Call<never> {
	readonly source: string;
	/** The same for all items that have one video. */
	readonly lock: string;
	/** ID of its reservation, by which it claims its key or its place within a limit. */
	readonly claim: string;
	/** `pending` of its reservation, if there is one. */
	readonly replaces: readonly string[];
}

/** A result, and whether an earlier try or another execution has made the call. */
export interface Paid<T> {
	readonly result: T;
	readonly isReused: boolean;
}

/** The outcome of a known call. */
export function outcomeOf<T>({ result, failure }: Call<T>, isReused: boolean): Settled<Paid<T>> {
	return result === undefined ? { error: fromSaved(failure!) } : { value: { result, isReused } };
}

/** Whether an item asks for something else than the call of its key. A row that a person has added has no values. */
export function differs(asked: Call, { values, place }: Call): boolean {
	return values !== '' && values !== asked.values && place !== asked.place;
}

/** A unique ID of a call, in one column with what is compared: a table is written the faster the fewer columns it has. */
export function callId(parts: ReturnType<typeof partsOf>): string {
	const { run, fingerprint, own, values, place } = parts;
	return [run, fingerprint, randomUUID(), own, values, place].join(' ');
}

/** What the ID of a row's call consists of; `own` is the execution that makes it, see `Origin`. */
export function partsOf({ call }: Row) {
	const [run, fingerprint = '', , own = '', values = '', place = ''] = String(call).split(' ');
	return { run: Number(run), fingerprint, own, values, place };
}

/** A row as the call that it stands for. */
export function toCall({ describe }: Pick<CallKind<never>, 'describe'>, row: Row): Call<never> {
	return {
		...partsOf(row),
		call: row['call'] as string,
		key: (row['idempotency_key'] as string | null | undefined) ?? '',
		item: row['item'] as number,
		about: describe(row),
	};
}

/**
 * A row as its call with the outcome.
 *
 * @param origin Says whether the position of the call tells which one it is.
 */
export function toKnown<T>(
	kind: LedgerKind<T>,
	row: Row,
	origin?: Pick<Origin, 'hasPosition'>,
): Call<T> {
	const result = kind.toResult(row);
	return {
		...toCall(kind, row),
		...(origin?.hasPosition === false && { run: -1 }),
		...(result === undefined ? { failure: interrupted(kind.table) } : { result }),
	};
}

const WARNING =
	'Its result may exist and be charged, so the call is not sent again without the option Retry If Outcome Is Unknown';

/** The failure of a call that an earlier try has sent, and whose answer nobody has. */
export function interrupted(table?: TableSchema): SavedError {
	const remedy = table
		? `In the rows of this execution with status "sent" in the data table ${table.name}, enter the task_id of each video that exists, and delete the other rows. Then retry this execution`
		: 'To send it again, switch on this option and retry this execution with the currently saved workflow';
	return {
		kind: 'network',
		message: 'An earlier try was stopped after it had sent this call',
		advice: [WARNING, `Check with the service. ${remedy}`],
		details: { outcomeUnknown: true },
	};
}

/** The failure of a call whose outcome is unknown. */
export function toFailure(error: ServiceError): SavedError {
	return { ...toSaved(error), advice: [...error.advice, WARNING] };
}
