import { randomUUID } from 'node:crypto';

import { grouped, type Settled } from '../../client/concurrency';
import { fromSaved, toSaved, type SavedError, type ServiceError } from '../../client/errors';
import type { Row } from '../engine/dataTable';
import type { Place } from '../engine/rest';
import { stateOf } from './states';
import { taskIdOf, TASK_TABLE, TO_ANSWER } from './taskTable';

/** A kind of paid calls. */
export interface CallKind<T> {
	/** Label of the field with what it asks for. */
	readonly field: string;
	/** What a row asks for, in one line for errors. */
	readonly describe: (row: Row) => string;
	/** Throws a ServiceError for a result that the item with this index does not take, though it is paid for. */
	readonly check?: (result: T, index: number) => void;
	/** The columns of a result. Without this and the next one the call log alone keeps the calls. */
	readonly toRow?: (result: T) => Row;
	/** The result in a row; undefined where it has none. */
	readonly toResult?: (row: Row) => T | undefined;
}

/** A call that an item asks for. */
export interface PlannedCall {
	/** Index of the item in this run. */
	readonly index: number;
	/** Where the item was in the run that had it first, see `placeOfItem`. */
	readonly place: Place;
	/** What was entered, files by their content. */
	readonly entered: unknown;
	/** The columns that are known before it is sent. */
	readonly row: Row;
	/** Whether to send the call again if its outcome is unknown. */
	readonly retryOutcomeUnknown: boolean;
	/** Whether it takes the video of its key, whatever that call asked for. */
	readonly useExisting?: boolean;
}

/** A call as its rows or the log show it, whether it is asked for or was made. */
export interface PaidCall<T = unknown> {
	/** Unique ID. */
	readonly call: string;
	/** What was entered, see `hashOf`. */
	readonly hash: string;
	/** Idempotency key; empty for none. */
	readonly key: string;
	/** Its place: the index of the node's run, -1 where it tells nothing, and of the item. */
	readonly run: number;
	readonly item: number;
	/** What it asks for, in one line for errors. */
	readonly about: string;
	/** Its outcome once it is known: a result, or a failure after which the service may have done the work. */
	readonly result?: T;
	readonly failure?: SavedError;
	/** Whether it has, or had, a row. */
	readonly isStored?: boolean;
	/** Whether another run has made it, and an item got its video: by the key, or from another retry. */
	readonly isOfOther?: boolean;
}

/** A planned call of a run. Its row has all columns. */
export interface AskedCall extends PlannedCall, PaidCall<never> {
	/** The same for all calls of which one at most is sent; empty for a call that only this run can make. */
	readonly lock: string;
}

/** A result, and whether an earlier try or another execution has made the call. */
export interface Paid<T> {
	readonly result: T;
	readonly isReused: boolean;
}

/** The outcome of a known call. */
export function outcomeOf<T>(
	{ result, failure }: PaidCall<T>,
	isReused: boolean,
): Settled<Paid<T>> {
	return result === undefined ? { error: fromSaved(failure!) } : { value: { result, isReused } };
}

/**
 * The outcome of a call as its item takes it. Of a result that is not taken the call keeps the result, not the error: a person
 * may correct the form, such as a schema, by which a retry reads it again.
 */
export function takenBy<T>(
	{ check }: CallKind<T>,
	{ index, retryOutcomeUnknown: isSentAgain }: PlannedCall,
	outcome: Settled<Paid<T>>,
): Settled<Paid<T>> {
	try {
		if ('value' in outcome) check?.(outcome.value.result, index);
		return outcome;
	} catch (error) {
		const failure = toFailure(error as ServiceError, isSentAgain);
		return { error: fromSaved(failure, { outcomeUnknown: true }) };
	}
}

/** A unique ID of a call, and what is compared, in one column: a table with fewer columns is written faster. */
export function callId({
	run,
	hash,
	own,
	called,
}: Omit<ReturnType<typeof partsOf>, 'item'>): string {
	return callOf([run, hash, randomUUID(), own].join(' '), called);
}

/** The ID of a call that another execution of a sub-workflow takes over. */
export function callOf(call: string, called: string): string {
	return call && [...call.split(' ').slice(0, 4), called].join(' ').trimEnd();
}

/**
 * What the row of a call says of it; `own` is the execution that makes it, and `called` that of the sub-workflow which has the
 * result, see `originOf`. A row that a person has added may have none.
 */
export function partsOf({ call, item }: Row) {
	const [run, hash = '', , own = '', called = ''] = String(call).split(' ');
	return { run: Number(run), hash, own, called, item: Number(item) };
}

/** What the rows of a call share. A row that a person has added is a call of its own. */
export function nameOf({ call, id }: Row): unknown {
	return call === '' ? id : (call ?? id);
}

/** The rows of each call, the oldest first. */
export function byCall(rows: readonly Row[]): ReadonlyMap<unknown, readonly Row[]> {
	return grouped(rows, nameOf);
}

/** The row that tells the state of a call: that with its task, else one that was sent, else a claim, which may be there twice. */
export function mainRowOf(rows: readonly Row[]): Row {
	const isSent = (row: Row) => stateOf(row) === 'sent';
	return rows.findLast(taskIdOf) ?? rows.findLast(isSent) ?? rows.at(-1)!;
}

/** A row as the call that it stands for. */
export function toCall({ describe }: Pick<CallKind<never>, 'describe'>, row: Row): PaidCall<never> {
	const { hash, run, item } = partsOf(row);
	const key = (row['idempotency_key'] as string | null | undefined) ?? '';
	return { call: row['call'] as string, hash, run, item, key, about: describe(row) };
}

/** The rows of a call as the call with its outcome. */
export function toKnown<T>(kind: CallKind<T>, rows: readonly Row[]): PaidCall<T> {
	const row = mainRowOf(rows);
	const result = kind.toResult!(row);
	const outcome = result === undefined ? { failure: interrupted(true) } : { result };
	return { ...toCall(kind, row), ...outcome, isStored: true };
}

/** Whether rows are those of a call that was sent. One that a person has set to failed, without a task, is made again. */
export function isMade(rows: readonly Row[]): boolean {
	const row = mainRowOf(rows);
	return taskIdOf(row) !== '' || stateOf(row) === 'sent';
}

const WARNING =
	'Its result may exist and be charged, so the call is not sent again without the option Retry If Outcome Is Unknown';

/** The failure of a call that an earlier try has sent, and whose answer nobody has. */
export function interrupted(isStored: boolean): SavedError {
	const remedy = isStored
		? `In the rows of this execution with status "sent" in the data table ${TASK_TABLE.name}, ${TO_ANSWER}. Then retry this execution`
		: 'To send it again, switch on this option and retry this execution with the currently saved workflow';
	return {
		kind: 'network',
		message: 'An earlier try was stopped after it had sent this call',
		advice: [WARNING, `Check with the service. ${remedy}`],
		details: { outcomeUnknown: true },
	};
}

/** Says that a Retry pays again for what may exist. */
export const SENDS_AGAIN =
	'Its result may exist and be charged, and Retry If Outcome Is Unknown sends the call again';

/** The failure of a call whose outcome is unknown. */
export function toFailure(error: ServiceError, isSentAgain: boolean): SavedError {
	return { ...toSaved(error), advice: [...error.advice, isSentAgain ? SENDS_AGAIN : WARNING] };
}
