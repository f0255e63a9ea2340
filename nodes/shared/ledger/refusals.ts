import { InputError, isCanceled } from '../../client/errors';
import { oneLine } from '../../client/values';
import type { Call, CallKind, LedgerKind } from './call';
import { TableError, type Row } from '../engine/dataTable';

/** The option for which calls are reserved in the ledger. */
export type ReservedFor = 'Idempotency Key' | 'Limit Period';

/** @param remedy What to do; nothing was sent. */
function keyError(problem: string, remedy: string): InputError {
	return new InputError('Idempotency Key', problem, `Nothing was sent. ${remedy}`);
}

/** The workflow was moved away from its ledger: nobody can tell what it has paid for. */
export function movedError(error: unknown): InputError | undefined {
	if (!(error instanceof TableError && error.reason === 'moved')) return undefined;
	return new InputError('Task Ledger', 'was left behind', `Nothing was sent. ${error.message}`);
}

/**
 * The ledger cannot be used, without which an option holds nothing. An error that says something else stays as it is.
 *
 * @param hasSent Whether calls before this one were sent.
 */
export function notKept(option: ReservedFor, error: unknown, hasSent = false): Error {
	if (error instanceof InputError || isCanceled(error)) return error as Error;
	const problem = `cannot be kept: ${(error as Error).message}`;
	const hint = hasSent
		? 'This item was not sent, others of this run were. Make the data table available, then retry this execution, which knows their tasks'
		: `Nothing was sent. Make the data table available, or go on without ${option}`;
	return movedError(error) ?? new InputError(option, problem, hint);
}

/** The ledger cannot be read in a retry, which might pay twice then. */
export function unreadable(error: unknown): InputError {
	const problem = `cannot be read, so this retry does not know what the earlier try paid for: ${(error as Error).message}`;
	const hint =
		'Nothing was sent. Make the data table available and retry, or turn off the option Task Ledger';
	return movedError(error) ?? new InputError('Task Ledger', problem, hint);
}

/** The key is that of a call with other values. */
export function keyConflict({ key, about }: Call, earlier: Call): InputError {
	return keyError(
		`${oneLine(key)} was used for ${earlier.about}, and this item has ${about}, or other fields that differ`,
		'To get the existing video, set Idempotency Key Conflict to Use Existing Video. For a new video use another key, or set it to Create Another Video',
	);
}

/** Another execution has, or had, the key. */
export function keyInUse(): InputError {
	return keyError(
		'is in use: another execution reserved it and has no answer yet',
		'Retry in a few minutes: a reservation ends a minute after its execution, and a call without an answer is reported after three',
	);
}

/** The key is that of a call of another account. */
export function keyOfOther<T>({ table }: LedgerKind<T>, { id }: Row): InputError {
	return keyError(
		`was used with another API key or Base URL: row ${String(id)} of the data table ${table.name}`,
		'Use another Idempotency Key. If only the API key of the account has changed, clear the column account of the row',
	);
}

/** The earlier try has made another call at the position of an item. */
export function otherItem<T>({ field }: CallKind<T>, { about }: Call, earlier: Call): InputError {
	const was = about === earlier.about ? 'the same with other fields' : earlier.about;
	return new InputError(
		field,
		`is ${about} in this item, and was ${was} in the earlier try of the execution, which has paid for it`,
		'Nothing was sent, as a retry knows an item by its values, or by an equal input item at its position. For what the items contain now, execute the workflow again instead of retrying',
	);
}

/** Another retry makes the call at this moment. */
export function alreadyRetried(): InputError {
	return new InputError(
		'Another retry',
		'of this execution is making the same call',
		'Nothing was sent by this one. Retry again only if the other one fails',
	);
}
