import type { Settled } from '../../client/concurrency';
import { InputError, isCanceled } from '../../client/errors';
import type { Clock } from '../../client/ports';
import { oneLine } from '../../client/values';
import { isOwn } from '../run/credential';
import { differs, outcomeOf, partsOf, toKnown } from './call';
import type { AskedPaid, CallKind, Paid } from './call';
import { claimKeys, type ClaimRow } from './claim';
import { forRows, removals, TableError, type Condition, type Row, type Step } from './dataTable';
import type { LedgerRun } from './ledgerRun';
import { attemptOf, hasKeyOf, meaningOf } from './paidCall';

/** How long to wait for another execution that is sending the call of a key at this moment. */
export const WAIT_MS = 90_000;

/** A call whose idempotency key is to be reserved. */
type KeyedCall = Pick<
	AskedPaid,
	'key' | 'lock' | 'onConflict' | 'values' | 'retryOutcomeUnknown' | 'row' | 'call'
>;

/** The content of the column `pending` of a reservation. */
export function reservationOf(call: string): string {
	return `key ${call}`;
}

/** The row with which a call claims its key, or its place within a limit. */
export function claimRow({ row, call }: Pick<AskedPaid, 'row' | 'call'>, nowMs: number): Row {
	const sent_at = new Date(nowMs).toISOString();
	return { ...row, status: 'claimed', pending: reservationOf(call), sent_at };
}

/**
 * Reserves idempotency keys, so that one call at most is sent for each of them: in all executions of the workflow, and on
 * all workers that use the same database. n8n's tables have no unique constraint; `claimKeys` says how it is held.
 *
 * @param calls One call per key.
 * @param isLimited Whether the rows stay `claimed`, until they are also within a limit.
 * @returns By lock: the outcomes, in which a row without a result is a call that was sent and never answered; and how many
 *   videos of the key have failed.
 * @throws The errors of `run`.
 */
export async function reserveKeys(
	calls: readonly KeyedCall[],
	clock: Clock,
	run: (steps: readonly Step[]) => Promise<readonly Row[]>,
	isLimited = false,
) {
	const failures = new Map<string, number>();
	const ofClaims = (all: readonly { readonly claim: string }[]) =>
		all.map(({ claim }): Condition => ['pending', 'eq', claim]);

	const outcomes = await claimKeys(
		{
			find: async (all) => {
				const ofKeys = all.map(({ key }): Condition => ['idempotency_key', 'eq', key]);
				const rows: Row[] = [];
				for (const step of forRows(ofKeys, (find) => ({ find })))
					rows.push(...(await run([step])));
				return all.map((call) => {
					const known = rows.filter((row) => isOfCall(row, call));
					const attempts = known
						.filter((row) => meaningOf(row, clock.now()) === 'again')
						.map(attemptOf);
					failures.set(call.lock, Math.max(0, ...attempts));
					return known.flatMap((row) =>
						toClaim(row, clock.now(), call.retryOutcomeUnknown),
					);
				});
			},
			claim: async (all) =>
				await run([{ insert: all.map((each) => claimRow(each, clock.now())) }]),
			async reserve(all) {
				const set = { status: 'reserved', sent_at: new Date(clock.now()).toISOString() };
				if (!isLimited) await run(forRows(ofClaims(all), (where) => ({ set, where })));
			},
			withdraw: async (all) => await run(removals(ofClaims(all))),
		},
		calls.map((call) => ({ ...call, claim: reservationOf(call.call) })),
		clock,
		WAIT_MS,
	);
	return {
		outcomes: new Map([...outcomes].map(([{ lock }, outcome]) => [lock, outcome])),
		failures,
	};
}

/** Whether a row is one of the key of a call; one with other values is not, where these make another video. */
function isOfCall(row: Row, { row: own, onConflict, values }: KeyedCall): boolean {
	return hasKeyOf(row, own) && (onConflict !== 'create' || partsOf(row).values === values);
}

/** The row as a claim; none for a reservation or a call that is not to be waited for. */
function toClaim(row: Row, nowMs: number, ignoresUnanswered: boolean): ClaimRow[] {
	const meaning = meaningOf(row, nowMs);
	const isIgnored = meaning === 'report' && ignoresUnanswered;
	if (meaning === 'free' || meaning === 'again' || isIgnored) return [];
	const held = row['status'] === 'claimed' ? 'claimed' : 'reserved';
	const state = meaning === 'wait' ? held : 'settled';
	return [
		{ id: row['id'] as number, claim: (row['pending'] as string | null) ?? '', state, row },
	];
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
	isLimited: boolean,
) {
	const leaders = new Map<string, AskedPaid>();
	for (const each of calls) {
		if (each.key !== '' && !leaders.has(each.lock)) leaders.set(each.lock, each);
	}
	const known = new Map<number, Settled<Paid<T>>>();
	if (leaders.size === 0) return { toSend: calls, known };
	if (origin === undefined) throw notKept('Idempotency Key', new Error('Task Ledger is off'));
	const { outcomes, failures } = await reserveKeys(
		[...leaders.values()],
		clock,
		onLedger,
		isLimited,
	).catch((error: unknown) => {
		throw isCanceled(error) ? error : notKept('Idempotency Key', error);
	});
	function outcomeFor(each: AskedPaid, leader: AskedPaid): Settled<Paid<T>> | undefined {
		const outcome = outcomes.get(each.lock)!;
		if (outcome === 'timeout') return { error: keyInUse() };
		const earlier = outcome === 'reserved' ? undefined : toKnown(kind, outcome);
		if (earlier !== undefined && !isOwn(outcome as Row, account))
			return { error: keyOfOther(kind, outcome as Row) };
		const first = earlier ?? leader;
		if (each.onConflict === 'fail' && differs(each, first))
			return { error: keyConflict(each, first) };
		return earlier && outcomeOf(earlier, true);
	}
	const toSend = calls.flatMap((each) => {
		const leader = leaders.get(each.lock);
		if (leader === undefined) return each;
		const outcome = outcomeFor(each, leader);
		if (outcome !== undefined) known.set(each.item, outcome);
		if (outcome !== undefined || each !== leader) return [];
		return { ...each, row: { ...each.row, attempt: failures.get(each.lock)! + 1 } };
	});
	return { toSend, known };
}

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
 * The ledger cannot be used, without which an option holds nothing.
 *
 * @param hasSent Whether calls before this one were sent.
 */
export function notKept(
	option: 'Idempotency Key' | 'Limit Period',
	error: unknown,
	hasSent = false,
): InputError {
	const problem = `cannot be kept: ${(error as Error).message}`;
	const hint = hasSent
		? 'This item was not sent, others of this run were. Make the data table available, then retry this execution, which knows their tasks'
		: `Nothing was sent. Make the data table available, or go on without ${option}`;
	return movedError(error) ?? new InputError(option, problem, hint);
}

/** The key is that of a call with other values. */
export function keyConflict({ key, about }: AskedPaid, earlier: { readonly about: string }) {
	return keyError(
		`${oneLine(key)} was used for ${earlier.about}, and this item has ${about}, or other fields that differ`,
		'To get the existing video, set Idempotency Key Conflict to Use Existing Video. For a new video use another key, or set it to Create Another Video',
	);
}

/** Another execution has, or had, the key. */
export function keyInUse(): InputError {
	return keyError(
		'is in use: another execution reserved it and has no answer yet',
		'Run this again in a few minutes: a reservation ends a minute after its execution, and a call without an answer is reported after three',
	);
}

function keyOfOther<T>({ table }: CallKind<T>, { id }: Row): InputError {
	return keyError(
		`was used with another API key or Base URL: row ${String(id)} of the data table ${table.name}`,
		'Use another Idempotency Key. If only the API key of the account has changed, clear the column account of the row',
	);
}
