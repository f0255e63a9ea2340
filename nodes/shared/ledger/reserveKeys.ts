import { slices } from '../../client/concurrency';
import type { Clock } from '../../client/ports';
import { removals } from './batchWriter';
import type { PlannedCall } from './callKind';
import { claimKeys, type ClaimRow, type Reservation } from './claim';
import { MAX_CONDITIONS, type Condition, type Row, type Step } from './dataTable';

/** A reservation that its owner has not turned into a sent call after this time is void: the owner is gone. */
export const RESERVATION_MS = 15 * 60_000;
/**
 * A call is answered or fails within Maximum Duration, by default two minutes. After this time without an answer its
 * execution counts as stopped.
 */
const ANSWER_MS = 3 * 60_000;
/** How long to wait for another execution that is creating the video of a key at this moment. */
const WAIT_MS = 90_000;

/** A call whose idempotency key is to be reserved. */
type KeyedCall = Pick<PlannedCall, 'key' | 'retryOutcomeUnknown' | 'row'> & {
	readonly call: string;
};

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
