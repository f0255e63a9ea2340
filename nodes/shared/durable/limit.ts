import { keyedMutex } from '../../client/concurrency';
import type { InputError } from '../../client/errors';
import { TableError, PAGE, type Condition, type Row } from '../engine/dataTable';
import { nodeState } from '../run/nodeContext';
import { isMade, nameOf } from './call';
import type { CallRun } from './callRun';
import { notKept } from './errors';
import { stateOf } from './states';

/** The number of videos, the sum of their estimated costs, and the number of those without one. */
export type Spent = Readonly<Record<'videos' | 'cost' | 'unpriced', number>>;

/** A limit of what is spent in an execution or a period. */
export interface Limit {
	/** When the period began, as ISO 8601; undefined for the execution. */
	readonly since: () => string | undefined;
	/** What these items would spend. */
	readonly sumOf: (items: readonly number[]) => Spent;
	/** @throws InputError where it cannot be told what has been spent. */
	readonly verify: (spent: Spent) => void;
	/** The error where these items, with what has been spent, exceed the limit. */
	readonly excessOf: (spent: Spent, items: readonly number[]) => InputError | undefined;
	/** Whether the items that fit are sent, where not all of them do. */
	readonly takesWhatFits: boolean;
	/** The items that are only checked. */
	readonly dryRuns: readonly number[];
}

const runExclusive = keyedMutex();
const NONE: Spent = { videos: 0, cost: 0, unpriced: 0 };

function combined(one: Spent, other: Spent, by: (one: number, other: number) => number): Spent {
	const [videos, cost] = [by(one.videos, other.videos), by(one.cost, other.cost)];
	return { videos, cost, unpriced: by(one.unpriced, other.unpriced) };
}

const plus = (one: Spent, other: Spent) => combined(one, other, (a, b) => a + b);
const minus = (one: Spent, other: Spent) => combined(one, other, (a, b) => a - b);

/**
 * Opens a limit: what has been spent is counted in the ledger. Of an execution the node counts itself as well, for a table that
 * is missing or takes no rows; a killed try has left rows only.
 */
export function openLimit<T>({ context, origin, isRetry, onLedger }: CallRun<T>, limit: Limit) {
	const workflow = context.getWorkflow().id ?? '';
	const state = nodeState<Spent>(context, 'spent');
	const added = new Set<number>();
	/** The calls before the first one under way: their rows are not read again. */
	const counted = new Map<unknown, Row>();
	/** The highest ID of these rows. */
	let upTo = 0;
	let isKept = origin !== undefined;
	const isOfPeriod = limit.since() !== undefined;
	const mutexKey = `${workflow} ${isOfPeriod ? '' : origin?.origin}`;

	async function readAll(all: readonly Condition[], into: Map<unknown, Row>): Promise<void> {
		for (let [after, hasMore] = [upTo, true]; hasMore;) {
			const page = { all: [...all, ['id', 'gt', after] as const] };
			const rows = await onLedger({ find: page, limit: PAGE });
			for (const row of rows) {
				const { id, sent_at, estimated_cost, status, task_id } = row;
				into.set(nameOf(row), { id, sent_at, estimated_cost, status, task_id });
			}
			hasMore = rows.length === PAGE;
			after = Number(rows.at(-1)?.['id']);
		}
	}

	/** The rows of the period, and those under way whatever their time: a batch over midnight counts on both days. */
	async function spentRows(): Promise<Spent> {
		const since = limit.since();
		const recent = new Map<unknown, Row>();
		const ofWorkflow = ['workflow_id', 'eq', workflow] as const;
		if (since === undefined) await readAll([['origin', 'eq', origin!.origin]], recent);
		else if (upTo > 0) await readAll([ofWorkflow], recent);
		else {
			await readAll([ofWorkflow, ['status', 'eq', 'sent']], recent);
			await readAll([ofWorkflow, ['sent_at', 'gte', since]], recent);
		}
		const isUnderWay = (row: Row) => ['sent', 'claimed'].includes(stateOf(row));
		const rows = [...recent].sort(
			([, { id: one }], [, { id: other }]) => Number(one) - Number(other),
		);
		const first = rows.findIndex(([, row]) => isUnderWay(row));
		for (const [call, row] of first < 0 ? rows : rows.slice(0, first)) {
			counted.set(call, row);
			upTo = Number(row['id']);
		}
		let spent = NONE;
		for (const row of new Map([...counted, ...recent]).values()) {
			const { sent_at: sentAt, estimated_cost: cost } = row;
			const isBefore = since !== undefined && Date.parse(String(sentAt)) < Date.parse(since);
			if (!isMade([row]) || (isBefore && !isUnderWay(row))) continue;
			const price = typeof cost === 'number' ? { cost } : { unpriced: 1 };
			spent = plus(spent, { ...NONE, videos: 1, ...price });
		}
		return spent;
	}

	async function spentSoFar(): Promise<Spent> {
		const own = isOfPeriod ? NONE : (state.get() ?? NONE);
		if (isKept)
			try {
				const rows = await spentRows();
				// Before a retry a person may have removed some.
				return isRetry ? rows : combined(rows, own, Math.max);
			} catch (error) {
				const isNone = error instanceof TableError && error.reason === 'unsupported';
				if (!isNone || isOfPeriod) throw notKept('Limit Period', error);
				isKept = false;
			}
		if (isOfPeriod) throw notKept('Limit Period', new Error('Task Ledger is off'));
		return own;
	}

	return {
		/** Whether it needs the row of each call. */
		isOfPeriod,
		add(item: number): void {
			if (!added.has(item)) state.set(plus(state.get() ?? NONE, limit.sumOf([item])));
			added.add(item);
		},
		/** An item is not sent, or has certainly failed. */
		giveBack(item: number): void {
			if (added.delete(item)) state.set(minus(state.get()!, limit.sumOf([item])));
		},
		/**
		 * Checks items, and runs what sends them before the next check of this n8n.
		 *
		 * @returns The items that fit.
		 * @throws InputError where they do not fit, unless the limit takes what fits.
		 */
		async within(
			items: readonly number[],
			send: (fitting: readonly number[]) => Promise<void> = async () => undefined,
		): Promise<readonly number[]> {
			return await runExclusive(mutexKey, async () => {
				const spent = await spentSoFar();
				limit.verify(spent);
				const fitting = limit.takesWhatFits ? fittingOf(limit, spent, items) : items;
				const excess =
					limit.excessOf(spent, limit.dryRuns) ?? limit.excessOf(spent, fitting);
				if (excess !== undefined) throw excess;
				await send(fitting);
				return fitting;
			});
		},
	};
}

/** The items that fit, in their order: a cheaper one may fit where one before it does not. */
function fittingOf(limit: Limit, spent: Spent, items: readonly number[]): readonly number[] {
	return items.reduce<readonly number[]>((fitting, item) => {
		const more = [...fitting, item];
		return limit.excessOf(spent, more) === undefined ? more : fitting;
	}, []);
}
