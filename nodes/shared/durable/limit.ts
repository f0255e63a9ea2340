import { keyedMutex, readResult, valueOf } from '../../client/concurrency';
import type { InputError } from '../../client/errors';
import { oneOf, PAGE, TableError, type Condition, type Find, type Row } from '../engine/dataTable';
import { isMade, nameOf, type AskedCall } from './call';
import type { CallRun } from './callRun';
import { underWay } from './earlierCalls';
import { notKept } from './errors';
import { stateOf } from './states';
import { TO_ANSWER } from './taskTable';

/** The number of videos, the sum of their estimated costs, and the numbers of those without one, and without an answer. */
type Spent = Readonly<Record<'videos' | 'cost' | 'unpriced' | 'unanswered', number>>;

/** Says that requests without an answer count, and what to do. */
export const unansweredHint = (count: number) =>
	`Rows with status "sent" in this limit: ${count}. When their execution has ended, ${TO_ANSWER}`;

/** A limit of what is spent in an execution or a period. */
export interface Limit {
	/** When the period began, as ISO 8601; undefined for the execution. */
	readonly since: () => string | undefined;
	/** @throws InputError where it cannot be told what has been spent. */
	readonly verify: (spent: Spent) => void;
	/** The error where these items, with what has been spent, exceed the limit. */
	readonly excessOf: (spent: Spent, items: readonly number[]) => InputError | undefined;
	/** Whether the items that fit are sent, where not all of them do. */
	readonly takesWhatFits: boolean;
	/** The items that are only checked, before anything is sent. */
	readonly dryRuns: readonly number[];
}

const runExclusive = keyedMutex();
/**
 * Rows that are read again, so that none is missed whose ID is lower than one that was read: PostgreSQL may commit it later, if
 * not after so many others. SQLite gives an ID again, but none that a row stands behind which no node removes.
 */
const OVERLAP = 50;

/**
 * Opens a limit: what has been spent is counted in the ledger, which is read as a whole once, and then for what is new. The calls
 * without a row are in the state of the node, for a table that is missing or full.
 */
export function openLimit<T>(run: CallRun<T>, limit: Limit) {
	const { origin, onLedger, workflowId: workflow } = run;
	const state = run.state<Record<string, Row>>('withoutRow');
	/** The latest row of each call. */
	const counted = new Map<unknown, Row>();
	/** The rows up to this ID are counted. Those behind it may be new, or claims that have become calls since. */
	let upTo = 0;
	/** The lowest ID of a claim behind it, over all pages of a read. */
	let firstClaim = Infinity;
	let isKept = origin !== undefined;
	const isOfPeriod = limit.since() !== undefined;
	const mutexKey = `${workflow} ${isOfPeriod ? '' : origin?.origin}`;
	const ofWorkflow = ['workflow_id', 'eq', workflow] as const;
	const scope = (): readonly Condition[] =>
		isOfPeriod
			? [ofWorkflow, ['sent_at', 'gte', limit.since()!]]
			: [['origin', 'eq', origin!.origin]];
	const isUnderWay = (row: Row) => ['sent', 'claimed'].includes(stateOf(row));

	/** Counts rows, the oldest first. */
	function take(rows: readonly Row[]): void {
		for (const row of rows) counted.set(nameOf(row), countedOf(row));
		const ended = rows.filter((row) => !isUnderWay(row));
		const claim = rows.find((row) => stateOf(row) === 'claimed');
		firstClaim = Math.min(firstClaim, Number(claim?.['id'] ?? Infinity));
		const last = Number(ended.at(-OVERLAP)?.['id'] ?? 0);
		upTo = Math.max(upTo, Math.min(last, firstClaim - 1));
	}

	/** Counts all rows of the period, and those under way whatever their time: a batch over midnight counts on both days. */
	async function readAll(): Promise<void> {
		counted.clear();
		[upTo, firstClaim] = [0, Infinity];
		const all = isOfPeriod
			? [[ofWorkflow, ['status', 'eq', 'sent'] as const], scope()]
			: [scope()];
		for (const each of all)
			for (let [after, hasMore] = [0, true]; hasMore;) {
				const find = { all: [...each, ['id', 'gt', after] as const] };
				const rows = await onLedger({ find, limit: PAGE });
				hasMore = rows.length === PAGE;
				after = Number(rows.at(-1)?.['id']);
				take(rows);
			}
	}

	/** What has been spent, but for some calls. */
	function spentBut(own: ReadonlySet<unknown>): Spent {
		const sinceMs = Date.parse(limit.since() ?? '');
		const calls = new Map([...Object.entries(state.get() ?? {}), ...counted]);
		const spent = [...calls].flatMap(([call, row]) => {
			const isBefore = Date.parse(String(row['sent_at'])) < sinceMs;
			const isSpent = isMade([row]) && (!isBefore || isUnderWay(row));
			return isSpent && !own.has(call) ? [row['estimated_cost']] : [];
		});
		const costs = spent.filter((cost) => typeof cost === 'number');
		const cost = costs.reduce((sum, each) => sum + each, 0);
		const isUnanswered = ([call, row]: readonly [unknown, Row]) =>
			stateOf(row) === 'sent' && !own.has(call) && !underWay.has(call);
		return {
			videos: spent.length,
			cost,
			unpriced: spent.length - costs.length,
			unanswered: [...counted].filter(isUnanswered).length,
		};
	}

	/**
	 * @returns The items that fit.
	 * @throws InputError where they do not fit, unless the limit takes what fits.
	 */
	function fittingOf(
		items: readonly number[],
		own: ReadonlySet<unknown>,
		dryRuns: readonly number[] = [],
	): readonly number[] {
		const spent = spentBut(own);
		// A retry that has everything already spends nothing.
		if (items.length + dryRuns.length > 0) limit.verify(spent);
		const fits = (some: readonly number[]) => limit.excessOf(spent, some) === undefined;
		// In their order: a cheaper one may fit where one before it does not.
		const fitting = limit.takesWhatFits
			? items.reduce<readonly number[]>(
					(before, item) => (fits([...before, item]) ? [...before, item] : before),
					[],
				)
			: items;
		const excess = limit.excessOf(spent, dryRuns) ?? limit.excessOf(spent, fitting);
		if (excess !== undefined) throw excess;
		if (fitting.length < items.length && spent.unanswered > 0)
			run.mention(unansweredHint(spent.unanswered));
		return fitting;
	}

	/** Counts from the beginning. */
	async function recount(): Promise<void> {
		if (isOfPeriod && !isKept) throw notKept('Limit Period', new Error('Task Ledger is off'));
		if (!isKept) return;
		await readAll().catch((error: unknown) => {
			const isNone = error instanceof TableError && error.reason === 'unsupported';
			if (!isNone || isOfPeriod)
				throw notKept(isOfPeriod ? 'Limit Period' : 'Task Ledger', error);
			isKept = false;
		});
	}

	function keep(rows: readonly Row[]): void {
		const kept = state.get() ?? state.set({});
		for (const row of rows) kept[String(row['call'])] = countedOf(row);
	}

	return {
		/** Whether it needs the row of each call. */
		isOfPeriod,
		/** Counts calls that have no row: they may be paid. */
		keep,
		/** A call is not sent, or has certainly failed. */
		giveBack({ call }: AskedCall): void {
			counted.delete(call);
			Reflect.deleteProperty(state.get() ?? {}, call);
		},
		/**
		 * Checks items before any of them is claimed or announced.
		 *
		 * @returns The items that fit.
		 * @throws InputError where they do not fit, unless the limit takes what fits.
		 */
		async within(items: readonly number[]): Promise<readonly number[]> {
			return await runExclusive(mutexKey, async () => {
				await recount();
				return fittingOf(items, new Set(), limit.takesWhatFits ? [] : limit.dryRuns);
			});
		},
		/**
		 * Announces calls, and counts then: of two executions at the same moment one at least sees the calls of the other. Those that
		 * do not fit are withdrawn. Before that everything is counted again: calls of others may have failed.
		 *
		 * @param announce Writes the calls; returns the rows of the filter.
		 * @returns The items that may be sent.
		 * @throws InputError as `within`.
		 */
		async announce(
			calls: readonly AskedCall[],
			announce: (find?: Find) => Promise<readonly Row[]>,
		): Promise<readonly number[]> {
			const own = new Set(calls.map(({ call }) => call));
			const items = calls.map(({ index }) => index);
			return await runExclusive(mutexKey, async () => {
				const find = { all: [...(isKept ? scope() : []), ['id', 'gt', upTo] as const] };
				const rows = await announce(isKept ? { find } : undefined);
				firstClaim = Infinity;
				take(rows);
				let fitting = readResult(() => fittingOf(items, own));
				if ('error' in fitting || fitting.value.length < items.length) {
					await recount();
					fitting = readResult(() => fittingOf(items, own));
				}
				const fits = 'value' in fitting ? fitting.value : [];
				const stored = new Set(rows.map(({ call }) => call));
				const sent = calls.filter(
					({ index, call }) => fits.includes(index) && !stored.has(call),
				);
				keep(sent.map(({ row }) => ({ ...row, status: 'sent' })));
				const refused = calls.filter(({ index }) => !fits.includes(index));
				const remove = oneOf(
					'call',
					refused.map(({ call }) => call),
				);
				if (origin) await onLedger({ remove }).catch(run.tell);
				return valueOf(fitting);
			});
		},
	};
}

/** The columns that are counted: a ledger may have very many rows. */
function countedOf({ id, sent_at, estimated_cost, status, task_id }: Row): Row {
	return { id, sent_at, estimated_cost, status, task_id };
}
