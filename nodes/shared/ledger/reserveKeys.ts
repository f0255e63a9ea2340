import type { Settled } from '../../client/concurrency';
import { isCanceled } from '../../client/errors';
import type { Clock } from '../../client/ports';
import { isOwn } from '../run/credential';
import { differs, outcomeOf, partsOf, toKnown, type AskedCall, type Paid } from './call';
import { claimKeys, type ClaimRow } from './claim';
import { oneOf, type Filter, type Row, type Step } from './dataTable';
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

/**
 * Reserves idempotency keys, so that one call at most is sent for each of them: in all executions of the workflow, and on
 * all workers that use the same database. n8n's tables have no unique constraint; `claimKeys` says how it is held.
 *
 * @param calls One call per key.
 * @param isLimited Whether the rows stay `claimed`, until they are also within a limit.
 * @returns By call: the outcomes, in which a row without a result is a call that was sent and never answered; and how many
 *   videos of the key have failed.
 * @throws The errors of `run`.
 */
export async function reserveKeys(
	calls: readonly AskedCall[],
	clock: Clock,
	run: (steps: readonly Step[]) => Promise<readonly Row[]>,
	isLimited = false,
) {
	const failures = new Map<AskedCall, number>();
	const outcomes = await claimKeys(
		{
			find: async (all) => {
				const keys = all.map(({ key }) => key);
				const rows = await run([{ find: oneOf('idempotency_key', keys) }]);
				return all.map((call) => {
					const nowMs = clock.now();
					const known = rows.filter((row) => isOfCall(row, call));
					const failed = known.filter((row) => meaningOf(row, nowMs) === 'again');
					failures.set(call, Math.max(0, ...failed.map(attemptOf)));
					return known.flatMap((row) => toClaim(row, nowMs, call));
				});
			},
			claim: async (all) => await run([claimAll(all, clock.now())]),
			async reserve(all) {
				const set = { status: 'reserved', sent_at: new Date(clock.now()).toISOString() };
				if (!isLimited) await run([{ set, where: claimsOf(all) }]);
			},
			withdraw: async (all) => await run([{ remove: claimsOf(all) }]),
		},
		calls,
		clock,
		WAIT_MS,
	);
	return { outcomes, failures };
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
	return [
		{ id: row['id'] as number, claim: (row['pending'] as string | null) ?? '', state, row },
	];
}

/**
 * Reserves the idempotency keys of calls for this run. Known then are the outcomes of calls whose key another execution has,
 * and errors.
 *
 * @returns The calls that are left to send; of those with one key the first.
 * @throws InputError where no key can be reserved, and the error of a canceled execution.
 */
export async function takeKeys<T>(
	{ kind, clock, account, known, onLedger }: LedgerRun<T>,
	calls: readonly AskedCall[],
	isLimited: boolean,
): Promise<readonly AskedCall[]> {
	const leaders = new Map<string, AskedCall>();
	for (const each of calls) {
		if (each.key !== '' && !leaders.has(each.lock)) leaders.set(each.lock, each);
	}
	const { outcomes, failures } = await reserveKeys(
		[...leaders.values()],
		clock,
		onLedger,
		isLimited,
	).catch((error: unknown) => {
		throw isCanceled(error) ? error : notKept('Idempotency Key', error);
	});
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
