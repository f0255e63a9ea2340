import { readResult, settled } from '../../client/concurrency';
import type { AskedCall } from './call';
import { pauseMs } from './claim';
import { PAGE, type Condition, type Row } from '../engine/dataTable';
import type { LedgerRun } from './ledgerRun';
import { stateOf } from './paidCall';
import { notKept } from './refusals';
import { claimAll, claimsOf, takeKeys, WAIT_MS } from './reserveKeys';
import { taskIdOf } from './taskTable';

/** A limit that counts the rows of the ledger. */
export interface Limit {
	/** Which rows count. */
	readonly rows: readonly Condition[];
	/**
	 * @param spent How many videos, the sum of their estimated costs, and how many of them have none.
	 * @throws InputError where these items exceed the limit, beside what has been spent.
	 */
	readonly check: (
		spent: Readonly<Record<'videos' | 'cost' | 'unpriced', number>>,
		items: readonly number[],
	) => void;
	/** The items that are only checked. */
	readonly dryRuns: readonly number[];
}

/**
 * Sums up the rows of a limit, with one page of them in memory. A call counts once: while its row is replaced, the new one
 * has a higher ID.
 *
 * @param own The calls of this run, which do not count.
 * @returns `spent`: what is paid for or reserved. `all`: with what others want to reserve at this moment. `isBehind`: whether
 *   one of these has claimed before this run. `isComplete`: whether all own calls have a row.
 */
async function sumUp<T>(
	{ onLedger, clock }: LedgerRun<T>,
	{ rows }: Limit,
	own: ReadonlySet<unknown> = new Set(),
) {
	const nowMs = clock.now();
	const none = { videos: 0, cost: 0, unpriced: 0 };
	const [spent, all] = [{ ...none }, { ...none }];
	const unanswered = new Set<unknown>();
	let [isBehind, found] = [false, 0];
	function add(part: readonly Row[]): void {
		for (const row of part) {
			const { call, estimated_cost: cost } = row;
			const state = stateOf(row, nowMs);
			if (own.has(call)) found++;
			if (own.has(call) || unanswered.has(call) || state === 'none') continue;
			if (taskIdOf(row) === '') unanswered.add(call);
			isBehind ||= state === 'claimed' && found === 0;
			for (const sum of state === 'claimed' ? [all] : [all, spent]) {
				sum.videos += 1;
				if (typeof cost === 'number') sum.cost += cost;
				else sum.unpriced += 1;
			}
		}
	}
	for (let [after, hasMore] = [0, true]; hasMore;) {
		const page = { all: [...rows, ['id', 'gt', after] as const] };
		const part = await onLedger([{ find: page, limit: PAGE }]);
		add(part);
		hasMore = part.length === PAGE;
		after = Number(part.at(-1)?.['id']);
	}
	return { spent, all, isBehind, isComplete: found >= own.size };
}

/**
 * Reserves the keys of the calls that are not known, and the places within a limit of those that are left to send.
 *
 * @returns The calls to send. The outcomes of the others are known.
 * @throws InputError of the limit, or where the ledger cannot be used. All claims are withdrawn then.
 */
export async function reserveCalls<T>(
	run: LedgerRun<T>,
	limit: Limit | undefined,
): Promise<readonly AskedCall[]> {
	const { asked, clock, known, origin } = run;
	const unknown = () => asked.filter(({ item }) => !known.has(item));
	const deadlineMs = clock.now() + WAIT_MS;
	if (limit !== undefined && limit.dryRuns.length > 0) {
		const sums = await settled(sumUp(run, limit));
		if ('error' in sums) throw notKept('Limit Period', sums.error);
		limit.check(sums.value.spent, limit.dryRuns);
	}
	const calls = unknown();
	const hasKeys = calls.some(({ key }) => key !== '');
	if (calls.length === 0 || (limit === undefined && !hasKeys)) return calls;
	const option = hasKeys ? 'Idempotency Key' : 'Limit Period';
	if (origin === undefined) throw notKept(option, new Error('Task Ledger is off'));
	for (;;) {
		run.hold();
		const toSend = await takeKeys(run, unknown(), limit !== undefined);
		const isFree = toSend.length === 0 || limit === undefined;
		if (isFree || (await reserveWithin(run, toSend, limit, deadlineMs)))
			return toSend.map((each) =>
				each.key !== '' || limit ? { ...each, replaces: [each.claim] } : each,
			);
	}
}

/**
 * Reserves a place within a limit for all calls of a run, so that executions at the same time do not exceed it together.
 * Each inserts its claims before it reads: of two at least one sees the other. Where not all of them fit, those that came
 * later withdraw.
 *
 * @param calls Those with a key have a claim already.
 * @returns Whether it has; otherwise the claims are withdrawn for others that came before.
 */
async function reserveWithin<T>(
	run: LedgerRun<T>,
	calls: readonly AskedCall[],
	limit: Limit,
	deadlineMs: number,
): Promise<boolean> {
	const { clock, onLedger, isHeld } = run;
	const items = calls.map(({ item }) => item);
	const own = new Set<unknown>(calls.map(({ call }) => call));
	const claims = claimsOf(calls);

	try {
		const withoutKey = calls.filter(({ key }) => key === '');
		await onLedger([claimAll(withoutKey, clock.now())]);
		while (isHeld()) {
			const sums = await sumUp(run, limit, own);
			if (!sums.isComplete) throw new Error('it does not return the rows that were written');
			limit.check(sums.spent, items);
			const fits = readResult(() => {
				limit.check(sums.all, items);
			});
			if ('value' in fits) {
				await onLedger([{ set: { status: 'reserved' }, where: claims }]);
				return true;
			}
			if (clock.now() > deadlineMs) throw new Error('other executions are reserving videos');
			if (sums.isBehind) break;
			await clock.sleep(pauseMs(clock));
		}
		await onLedger([{ remove: claims }]);
		await clock.sleep(pauseMs(clock));
		return false;
	} catch (error) {
		await onLedger([{ remove: claims }]).catch(() => undefined);
		throw notKept('Limit Period', error);
	}
}
