import { type Settled, slices } from '../../client/concurrency';
import { InputError, isCanceled } from '../../client/errors';
import type { Clock } from '../../client/ports';
import { isOwn } from '../run/credential';
import { removals } from './batchWriter';
import type { CallKind } from './callKind';
import { claimKeys, type ClaimRow, type Reservation } from './claim';
import { MAX_CONDITIONS, type Condition, type Row, type Step } from './dataTable';
import { toKnown } from './earlierCalls';
import type { AskedPaid, LedgerRun } from './ledgerRun';
import type { Origin } from './origin';
import { outcomeOf, type Paid } from './recall';

/** A reservation that its owner has not turned into a sent call after this time is void: the owner is gone. */
export const RESERVATION_MS = 15 * 60_000;
/**
 * A call is answered or fails within its timeout, by default two minutes. After this time without an answer its
 * execution counts as stopped.
 */
const ANSWER_MS = 3 * 60_000;
/** How long to wait for another execution that is sending the call of a key at this moment. */
const WAIT_MS = 90_000;

/** A call whose idempotency key is to be reserved. */
type KeyedCall = Pick<AskedPaid, 'key' | 'retryOutcomeUnknown' | 'row' | 'call'>;

/** The content of the column `pending` of a reservation. */
export function reservationOf(call: string): string {
	return `key ${call}`;
}

/**
 * Reserves idempotency keys, so that one call at most is sent for each of them: in this project, in all executions and on
 * all workers that use the same database. n8n's tables have no unique constraint; `claimKeys` says how it is held.
 *
 * @param calls One call per key.
 * @returns By key. A row without a result is a call that was sent and never answered.
 * @throws The errors of `run`.
 */
export async function reserveKeys(
	calls: readonly KeyedCall[],
	clock: Clock,
	run: (steps: readonly Step[]) => Promise<readonly Row[]>,
): Promise<ReadonlyMap<string, Reservation>> {
	const now = () => new Date(clock.now()).toISOString();
	/** The rows of all parts, as a filter takes only so many conditions. */
	async function inParts<T>(all: readonly T[], toStep: (part: readonly T[]) => Step) {
		const rows: Row[] = [];
		for (const part of slices(all, MAX_CONDITIONS)) rows.push(...(await run([toStep(part)])));
		return rows;
	}
	const ofClaims = (all: readonly { readonly claim: string }[]) =>
		all.map(({ claim }): Condition => ['pending', 'eq', claim]);

	const outcomes = await claimKeys(
		{
			find: async (all) => {
				const rows = await inParts(all, (part) => ({
					find: { any: part.map(({ key }) => ['idempotency_key', 'eq', key]) },
				}));
				return all.map(({ key, retryOutcomeUnknown }) =>
					rows
						.filter((row) => row['idempotency_key'] === key)
						.flatMap((row) => toClaim(row, clock.now(), retryOutcomeUnknown)),
				);
			},
			claim: async (all) =>
				await inParts(all, (part) => ({
					insert: part.map(({ row, claim }) => ({
						...row,
						status: 'claimed',
						pending: claim,
						sent_at: now(),
					})),
				})),
			reserve: async (all) =>
				await inParts(all, (part) => ({
					set: { status: 'reserved', sent_at: now() },
					where: { any: ofClaims(part) },
				})),
			withdraw: async (all) => await run(removals(ofClaims(all))),
		},
		calls.map((call) => ({ ...call, claim: reservationOf(call.call) })),
		clock,
		WAIT_MS,
	);
	return new Map([...outcomes].map(([{ key }, outcome]) => [key, outcome]));
}

/** The row as a claim; none for a reservation or a call that is not to be waited for. */
function toClaim(row: Row, nowMs: number, ignoresUnanswered: boolean): ClaimRow[] {
	const ageMs = nowMs - Date.parse(row['sent_at'] as string);
	const status = row['status'] as string;
	const to = (state: ClaimRow['state']) => [
		{ id: row['id'] as number, claim: (row['pending'] as string | null) ?? '', state, row },
	];
	if (status === 'claimed' || status === 'reserved') {
		// Without a time, which a person may have cleared, it would never end.
		return ageMs <= RESERVATION_MS ? to(status) : [];
	}
	if (status !== 'sent' || (row['task_id'] ?? '') !== '') return to('settled');
	if (ageMs <= ANSWER_MS) return to('reserved');
	return ignoresUnanswered ? [] : to('settled');
}

/**
 * Reserves the idempotency keys of calls for this run.
 *
 * @returns `toSend`: the calls that are left to send; of those with one key the first. `known`: by item, the outcomes of
 *   calls whose key another execution has, and errors.
 * @throws InputError where no key can be reserved, and the error of a canceled execution.
 */
export async function takeKeys<T>(
	{ kind, clock, origin, account, onLedger }: LedgerRun<T>,
	calls: readonly AskedPaid[],
) {
	const leaders = new Map<string, AskedPaid>();
	for (const each of calls) {
		if (each.key !== '' && !leaders.has(each.key)) leaders.set(each.key, each);
	}
	const known = new Map<number, Settled<Paid<T>>>();
	if (leaders.size === 0) return { toSend: calls, known };
	if (origin === undefined) throw keyNotKept(new Error('Task Ledger is off'));
	const reserved = await reserveKeys([...leaders.values()], clock, onLedger).catch(
		(error: unknown) => {
			throw isCanceled(error) ? error : keyNotKept(error);
		},
	);
	for (const { item, key } of calls) {
		const outcome = reserved.get(key) ?? 'reserved';
		if (outcome === 'reserved') continue;
		if (outcome === 'timeout') known.set(item, { error: keyInUse() });
		else if (isOwn(outcome, account)) known.set(item, outcomeOf(toKnown(kind, outcome), true));
		else known.set(item, { error: keyOfOther(kind, outcome) });
	}
	const isFirst = (each: AskedPaid) => (leaders.get(each.key) ?? each) === each;
	return { toSend: calls.filter((each) => !known.has(each.item) && isFirst(each)), known };
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
