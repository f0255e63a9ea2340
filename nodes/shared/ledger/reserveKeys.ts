import type { Settled } from '../../client/concurrency';
import { isOwn } from '../run/credential';
import { differs, outcomeOf, partsOf, toKnown, type AskedCall, type Paid } from './call';
import { claimKeys, type ClaimRow, type ClaimTable } from './claim';
import { oneOf, type Filter, type Row, type Step } from '../engine/dataTable';
import type { LedgerRun } from './ledgerRun';
import { attemptOf, hasKeyOf, meaningOf } from './paidCall';
import { keyConflict, keyInUse, keyOfOther, notKept } from './refusals';

/** How long to wait for another execution that is sending the call of a key at this moment. */
export const WAIT_MS = 90_000;

/** The reservations of calls. */
export function claimsOf(calls: readonly Pick<AskedCall, 'claim'>[]): Filter {
	const claims = calls.map(({ claim }) => claim);
	return oneOf('pending', claims);
}

/** The step that claims the keys of calls, or their places within a limit. */
export function claimAll(calls: readonly Pick<AskedCall, 'row' | 'claim'>[], nowMs: number): Step {
	const common = { status: 'claimed', sent_at: new Date(nowMs).toISOString() };
	return { insert: calls.map(({ row, claim }) => ({ ...row, ...common, pending: claim })) };
}

/** Whether a row is one of the key of a call; one with other values is not, where these make another video. */
function isOfCall(row: Row, { row: own, onConflict, values }: AskedCall): boolean {
	return hasKeyOf(row, own) && (onConflict !== 'create' || partsOf(row).values === values);
}

/** The row as a claim; none for a reservation or a call that is not to be waited for. */
function toClaim(row: Row, nowMs: number, { retryOutcomeUnknown }: AskedCall): ClaimRow[] {
	const meaning = meaningOf(row, nowMs);
	const isIgnored = meaning === 'report' && retryOutcomeUnknown;
	if (meaning === 'free' || meaning === 'again' || isIgnored) return [];
	const held = row['status'] === 'claimed' ? 'claimed' : 'reserved';
	const state = meaning === 'wait' ? held : 'settled';
	return [{ id: row['id'] as number, claim: String(row['pending']), state, row }];
}

/**
 * Reserves the idempotency keys of calls, so that one call at most is sent for each of them: in all executions of the workflow,
 * and on all workers that use the same database. n8n's tables have no unique constraint; `claimKeys` says how it is held.
 * Known then are the outcomes of calls whose key another execution has, and errors.
 *
 * @param isLimited Whether the rows stay `claimed`, until they are also within a limit.
 * @returns The calls that are left to send; of those with one key the first, with how many videos its key has had.
 * @throws InputError where no key can be reserved, and the error of a canceled execution.
 */
export async function takeKeys<T>(
	run: Pick<LedgerRun<T>, 'kind' | 'clock' | 'account' | 'known' | 'onLedger'>,
	calls: readonly AskedCall[],
	isLimited: boolean,
): Promise<readonly AskedCall[]> {
	const { kind, clock, account, known, onLedger } = run;
	const leaders = new Map<string, AskedCall>();
	for (const each of calls) {
		if (each.key !== '' && !leaders.has(each.lock)) leaders.set(each.lock, each);
	}
	/** How many videos of the key have failed. */
	const failures = new Map<AskedCall, number>();
	const table: ClaimTable<AskedCall> = {
		async find(all) {
			const keys = all.map(({ key }) => key);
			const rows = await onLedger([{ find: oneOf('idempotency_key', keys) }]);
			return all.map((call) => {
				const nowMs = clock.now();
				const ofKey = rows.filter((row) => isOfCall(row, call));
				const failed = ofKey.filter((row) => meaningOf(row, nowMs) === 'again');
				failures.set(call, Math.max(0, ...failed.map(attemptOf)));
				return ofKey.flatMap((row) => toClaim(row, nowMs, call));
			});
		},
		claim: async (all) => await onLedger([claimAll(all, clock.now())]),
		async reserve(all) {
			const set = { status: 'reserved', sent_at: new Date(clock.now()).toISOString() };
			if (!isLimited) await onLedger([{ set, where: claimsOf(all) }]);
		},
		withdraw: async (all) => await onLedger([{ remove: claimsOf(all) }]),
	};
	const outcomes = await claimKeys(table, [...leaders.values()], clock, WAIT_MS).catch(
		(error: unknown) => {
			throw notKept('Idempotency Key', error);
		},
	);
	function outcomeFor(each: AskedCall, leader: AskedCall): Settled<Paid<T>> | undefined {
		const outcome = outcomes.get(leader)!;
		if (outcome === 'timeout') return { error: keyInUse() };
		const earlier = outcome === 'reserved' ? undefined : toKnown(kind, outcome);
		if (earlier !== undefined && !isOwn(outcome as Row, account))
			return { error: keyOfOther(kind, outcome as Row) };
		const first = earlier ?? leader;
		if (each.onConflict === 'fail' && differs(each, first))
			return { error: keyConflict(each, first) };
		return earlier && outcomeOf(earlier, true);
	}
	return calls.flatMap((each) => {
		const leader = leaders.get(each.lock);
		if (leader === undefined) return each;
		const outcome = outcomeFor(each, leader);
		if (outcome !== undefined) known.set(each.item, outcome);
		if (outcome !== undefined || each !== leader) return [];
		return { ...each, row: { ...each.row, attempt: failures.get(each)! + 1 } };
	});
}
