import { InputError, isCanceled, ServiceError } from '../../client/errors';
import { oneLine } from '../../client/values';
import { TableError, type Row } from '../engine/dataTable';
import type { AskedCall, PaidCall, CallKind } from './call';
import { TASK_TABLE } from './taskTable';

// A visitor reads the message of an error: what others have made, and where its rows are, stands in the hint.

/** The option for which calls need the ledger. */
type NeededFor = 'Idempotency Key' | 'Limit Period' | 'Task Ledger';

const rowOf = ({ id }: Row) => `row ${String(id)} of the data table ${TASK_TABLE.name}`;

/** The errors that each Retry repeats until a person has changed something. */
const lasting = new WeakSet<InputError>();
/** Whether each Retry repeats the error until a person has changed something. */
export const isLasting = (error: unknown) => error instanceof InputError && lasting.has(error);

function lastingError(field: string, problem: string, hint: string): InputError {
	const error = new InputError(field, problem, hint);
	lasting.add(error);
	return error;
}

/** @param remedy What to do; nothing was sent. */
const keyError = (problem: string, remedy: string) =>
	lastingError('Idempotency Key', problem, `Nothing was sent. ${remedy}`);

/** The workflow was moved away from its ledger: nobody can tell what it has paid for. */
export function movedError(error: unknown): InputError | undefined {
	if (!(error instanceof TableError && error.reason === 'moved')) return undefined;
	return new InputError('Task Ledger', 'was left behind', `Nothing was sent. ${error.message}`);
}

/**
 * The ledger cannot be used, without which an option holds nothing. An error that says something else stays as it is.
 *
 * @param hasSent Whether calls before this one were sent, as `make` says then.
 */
export function notKept(option: NeededFor, error: unknown, hasSent = false): Error {
	if (error instanceof InputError || isCanceled(error)) return error as Error;
	const problem = `cannot be kept: ${(error as Error).message}`;
	const todo = hasSent ? 'then retry this execution' : `or go on without ${option}`;
	const hint = `Nothing was sent. Make the data table available, ${todo}`;
	return movedError(error) ?? new InputError(option, problem, hint);
}

/** The ledger cannot be read in a retry, which might pay twice then. */
export function unreadable(error: unknown): InputError {
	const problem = `cannot be read, so this retry does not know what the earlier try paid for: ${(error as Error).message}`;
	const hint =
		'Nothing was sent. Make the data table available and retry, or turn off the option Task Ledger';
	return movedError(error) ?? new InputError('Task Ledger', problem, hint);
}

/** The error where the key is that of a call with other values, whose video the item does not take. */
export function keyConflict(
	{ key, hash, about, useExisting }: AskedCall,
	earlier: PaidCall,
): InputError | undefined {
	// A row that a person has added has no hash.
	if (useExisting === true || earlier.hash === '' || earlier.hash === hash) return undefined;
	return keyError(
		`${oneLine(key)} was used with other values`,
		`It was used for ${earlier.about}, and this item has ${about}, or other fields that differ. To get the existing video, switch on Use Existing Video. For a new video use another key`,
	);
}

/** Another execution has the key, and no answer; or it had the key and was stopped. Without a key it is another retry. */
export function keyInUse(row: Row): InputError {
	const [field, problem] = row['idempotency_key']
		? ['Idempotency Key', 'is in use']
		: ['Another retry', 'of this execution makes the same call'];
	return new InputError(
		field,
		`${problem}: an execution has no answer yet`,
		`Nothing was sent. Retry in a few minutes. If execution ${String(row['execution_id'])} has ended, its video may exist: look for it at the service. Enter its task_id in ${rowOf(row)}, or delete the row`,
	);
}

/** The key is that of a call of another account. */
export function keyOfOther(row: Row): InputError {
	return keyError(
		'was used with another API key or Base URL',
		`Use another Idempotency Key. If only the API key of the account has changed, clear the column account of ${rowOf(row)}`,
	);
}

/** The earlier try has made another call at the place of an item. */
export function otherItem<T>(
	{ field }: CallKind<T>,
	{ about }: PaidCall,
	earlier: PaidCall,
): InputError {
	const has = earlier.result === undefined ? 'may have' : 'has';
	const was = about === earlier.about ? 'the same with other fields' : earlier.about;
	return lastingError(
		field,
		`is ${about} in this item, and was ${was} in the earlier try of the execution, which ${has} paid for it`,
		'Nothing was sent, as a retry knows an item by what it asks for. For what the items contain now, execute the workflow again instead of retrying',
	);
}

/** A retry takes the saved workflow, in which the node has another name than in the runs that are kept. */
export const renamedNode = (before: string) =>
	lastingError(
		'The name of this node',
		`was "${before}" when it ran before, and n8n counts its runs by it`,
		`Nothing was sent. Rename the node back to "${before}", and retry`,
	);

/** The service has answered with a task that another creation has. A row that was not read has no ID. */
export function taskOfOther<T>(
	{ describe }: CallKind<T>,
	taskId: string,
	calls: readonly [own: Row, other: Row],
): ServiceError {
	const named = calls.map(
		(row) => describe(row) + (row['id'] ? ` in row ${String(row['id'])}` : ''),
	);
	return new ServiceError(
		'protocol',
		`The service answered with the task ${taskId} to two creations`,
		`Look at the rows of both in the data table ${TASK_TABLE.name}: ${named.join(', and ')}. In that with the status "sent", enter the task_id of its own video, or delete it if there is none. The cause may be a proxy that answers from its cache`,
		{ outcomeUnknown: true },
	);
}
