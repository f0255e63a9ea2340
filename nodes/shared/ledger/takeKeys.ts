import { InputError, isCanceled } from '../../client/errors';
import { isOwn } from '../run/account';
import type { Settled } from '../run/settled';
import type { CallKind } from './callKind';
import type { Row, Step } from './dataTable';
import { toKnown } from './earlierCalls';
import type { AskedPaid, LedgerRun } from './ledgerRun';
import type { Origin } from './origin';
import { outcomeOf, type Paid } from './recall';
import { reserveKeys } from './reserveKeys';

/** What was found out about the idempotency keys of a run. */
export interface TakenKeys<T> {
	/** By key: of the calls with one key, the first is sent. */
	readonly leaders: ReadonlyMap<string, AskedPaid>;
	/** By item: the outcomes of leaders that another execution has sent, and errors. */
	readonly known: ReadonlyMap<number, Settled<Paid<T>>>;
}

/**
 * Reserves the idempotency keys of calls for this run.
 *
 * @throws InputError where no key can be reserved, and the error of a canceled execution.
 */
export async function takeKeys<T>(
	{ kind, clock, origin, account, onLedger }: LedgerRun<T>,
	calls: readonly AskedPaid[],
): Promise<TakenKeys<T>> {
	const leaders = new Map<string, AskedPaid>();
	for (const each of calls) {
		if (each.key !== '' && !leaders.has(each.key)) leaders.set(each.key, each);
	}
	const known = new Map<number, Settled<Paid<T>>>();
	if (leaders.size === 0) return { leaders, known };
	if (origin === undefined) throw keyNotKept(new Error('Task Ledger is off'));
	const reserved = await reserveKeys([...leaders.values()], clock, onLedger).catch(
		(error: unknown) => {
			throw isCanceled(error) ? error : keyNotKept(error);
		},
	);
	for (const { item, key } of leaders.values()) {
		const outcome = reserved.get(key)!;
		if (outcome === 'reserved') continue;
		if (outcome === 'timeout') known.set(item, { error: keyInUse() });
		else if (isOwn(outcome, account)) known.set(item, outcomeOf(toKnown(kind, outcome), true));
		else known.set(item, { error: keyOfOther(kind, outcome) });
	}
	return { leaders, known };
}

/** The step that prolongs all reservations of this execution. */
export function prolongation({ origin, root }: Origin, nowMs: number): Step {
	const all = [
		['origin', 'eq', origin],
		['execution_id', 'eq', root],
		['status', 'eq', 'reserved'],
	] as const;
	return { set: { sent_at: new Date(nowMs).toISOString() }, where: { all } };
}

/** @param remedy What to do; nothing was sent. */
function keyError(problem: string, remedy: string): InputError {
	return new InputError('Idempotency Key', problem, `Nothing was sent. ${remedy}`);
}

/** The ledger cannot be used, without which a key holds nothing. */
export function keyNotKept(error: unknown): InputError {
	const problem = `cannot be kept: ${(error as Error).message}`;
	return keyError(problem, 'Remove the option, or make the data table available');
}

/** Another execution has, or had, the key. */
export function keyInUse(): InputError {
	return keyError(
		'is in use: another execution reserved it and has no answer yet',
		'Run this again in a minute; a reservation whose execution was stopped ends after 15 minutes',
	);
}

function keyOfOther<T>({ table }: CallKind<T>, { id }: Row): InputError {
	return keyError(
		`was used with another API key or Base URL: row ${String(id)} of the data table ${table.name}`,
		'Use another Idempotency Key. If only the API key of the account has changed, clear the column account of the row',
	);
}
