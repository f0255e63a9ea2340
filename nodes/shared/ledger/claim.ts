import { settled, valueOf } from '../../client/concurrency';
import type { Clock } from '../../client/ports';
import type { Row } from '../engine/dataTable';

/**
 * A row of a key in a table that has no unique constraint. A claim starts as `claimed`, becomes `reserved` once its owner
 * has seen that there is no other, and the row of the outcome is `settled`.
 */
export interface ClaimRow {
	/** Grows with every insert; a row with a lower one may become visible later. */
	readonly id: number;
	/** Unique ID of the claim. */
	readonly claim: string;
	readonly state: 'claimed' | 'reserved' | 'settled';
	readonly row: Row;
}

/** What the owner of a claim does next. */
type Decision = { readonly settled: Row } | 'claim' | 'reserve' | 'withdraw' | 'wait';

/**
 * Decides who works for a key, so that at most one claim of a key becomes `reserved`.
 *
 * Each claim is inserted before its owner reads, so of two claims at least one owner sees the other. It yields to a lower
 * ID, and to a reserved claim. For a higher ID it waits: that owner may have read before this claim was visible.
 *
 * @param rows All rows of the key, oldest first, without claims whose owner is gone.
 * @param claim ID of the own claim, whether or not it is among the rows.
 */
export function decide(rows: readonly ClaimRow[], claim: string): Decision {
	const settled = rows.filter(({ state }) => state === 'settled').at(-1);
	if (settled !== undefined) return { settled: settled.row };

	const mine = rows.find((row) => row.claim === claim);
	const others = rows.filter((row) => row.claim !== claim);
	if (mine === undefined) return others.length === 0 ? 'claim' : 'wait';
	if (others.length === 0) return 'reserve';
	return others.some(({ id, state }) => state === 'reserved' || id < mine.id)
		? 'withdraw'
		: 'wait';
}

/** What was found out about a key: nobody else has it, others still have it after the time to wait, or its settled row. */
export type Reservation = 'reserved' | 'timeout' | Row;

/** The rows of keys. Each method rejects when the table cannot be used. */
export interface ClaimTable<K> {
	/** All rows of each key, oldest first, without claims whose owner is gone. */
	readonly find: (keys: readonly K[]) => Promise<readonly (readonly ClaimRow[])[]>;
	/** Inserts the own claims as `claimed`. */
	readonly claim: (keys: readonly K[]) => Promise<unknown>;
	/** Marks the own claims as `reserved`. */
	readonly reserve: (keys: readonly K[]) => Promise<unknown>;
	/** Removes the own claims. */
	readonly withdraw: (keys: readonly K[]) => Promise<unknown>;
}

/** Bounds of the random pause between two reads. */
const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 1_000;

/** The pause before the claims of others are looked at again. */
export function pauseMs(clock: Clock): number {
	return MIN_PAUSE_MS + (MAX_PAUSE_MS - MIN_PAUSE_MS) * clock.random();
}

/**
 * Waits until each key is settled, or reserves it for the caller. The caller then inserts a settled row, or withdraws.
 *
 * @param keys The keys, each with the ID of the own claim.
 * @param waitMs How long to wait for the claims of others at most.
 * @throws The rejections of the table, and of `clock.sleep` when the execution is canceled. The own claims are withdrawn.
 */
export async function claimKeys<K extends Pick<ClaimRow, 'claim'>>(
	table: ClaimTable<K>,
	keys: readonly K[],
	clock: Clock,
	waitMs: number,
): Promise<ReadonlyMap<K, Reservation>> {
	const deadlineMs = clock.now() + waitMs;
	const outcomes = new Map<K, Reservation>();
	/** The keys with an own claim. */
	const held = new Set<K>();

	/** Takes the next step for all open keys; returns whether a claim has to be looked at. */
	async function takeStep(open: readonly K[]): Promise<boolean> {
		const rows = await table.find(open);
		const todo = { claim: [] as K[], reserve: [] as K[], withdraw: [] as K[], wait: [] as K[] };
		open.forEach((key, index) => {
			const decision = decide(rows[index]!, key.claim);
			if (typeof decision === 'object') outcomes.set(key, decision.settled);
			else todo[decision].push(key);
		});
		if (todo.claim.some((key) => held.has(key)))
			throw new Error('it does not return the claim that was written');
		todo.claim.forEach((key) => held.add(key));
		for (const step of ['claim', 'reserve', 'withdraw'] as const)
			if (todo[step].length > 0) await table[step](todo[step]);
		todo.reserve.forEach((key) => outcomes.set(key, 'reserved'));
		todo.withdraw.forEach((key) => held.delete(key));
		return todo.claim.length > 0;
	}

	async function takeSteps(): Promise<void> {
		for (let open = keys; open.length > 0;) {
			const isClaimed = await takeStep(open);
			open = keys.filter((key) => !outcomes.has(key));
			if (isClaimed || open.length === 0) continue;
			const leftMs = deadlineMs - clock.now();
			if (leftMs <= 0) {
				open.forEach((key) => outcomes.set(key, 'timeout'));
				return;
			}
			await clock.sleep(Math.min(leftMs, pauseMs(clock)));
		}
	}

	const ended = await settled(takeSteps());
	const left = [...held].filter((key) => 'error' in ended || outcomes.get(key) !== 'reserved');
	// A claim that stays behind, as after a kill, only blocks the key until it expires.
	if (left.length > 0) await table.withdraw(left).catch(() => undefined);
	valueOf(ended);
	return outcomes;
}
