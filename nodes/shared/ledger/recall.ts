import type { IExecuteFunctions } from 'n8n-workflow';

import { keyedMutex } from '../../client/concurrency';
import { nodeState } from '../run/nodeContext';
import { openedRun } from '../run/run';
import { differs, outcomeOf, partsOf, toKnown, type Call } from './call';
import type { CallLog } from './callLog';
import { oneOf, TableError, type Row } from '../engine/dataTable';
import type { LedgerRun } from './ledgerRun';
import type { Origin } from './origin';
import { isReservation } from './paidCall';
import { recognize } from './recognize';
import { keyConflict, otherItem, unreadable } from './refusals';
import { trimTaskIds } from './taskTable';

const runExclusive = keyedMutex();

/**
 * Finds the calls that earlier tries have made for the items of this run, and takes over their rows. Their outcomes are
 * known then.
 *
 * @returns `fromLedger`: the items whose calls only the ledger has: n8n has lost the state of the node, as after a kill, or
 *   a tool made them. `rows`: the IDs of all rows of earlier tries.
 * @throws InputError when the table cannot be read in a retry.
 */
export async function recall<T>(run: LedgerRun<T>) {
	// An agent or a sub-workflow may run the node several times at once.
	return await runExclusive(run.isRetry ? run.origin!.origin : '', async () => await find(run));
}

async function find<T>(run: LedgerRun<T>) {
	const { context, kind, index, isTool, asked, known, log, origin, isRetry } = run;
	const found = isRetry ? await findEarlier(run, origin!) : [];
	// Calls of the runs before are not repeated.
	const fromRun = isRetry && !isTool ? firstRun(context, index) : 0;
	const rows = found.filter((row) => partsOf(row).run >= fromRun);
	const inLedger = rows
		.filter((row) => !isReservation(row))
		.map((row) => ({ ...toKnown(kind, row, origin), readBy: origin!.root }));
	const logged = new Set(log.known().map(({ call }) => call));
	const all = merged(log, inLedger, origin?.root);
	// In a sub-workflow whose caller is retried, the calls of a tool are not all repeated.
	const earlier = recognize(asked, all, isTool && origin?.hasPosition !== false);
	const taken = new Set(earlier.values());
	/** The calls without a key that no item has, by their position. */
	const passed = new Map<number, Call<T>>();
	for (const call of isTool ? [] : all)
		if (call.run === index && call.key === '' && !taken.has(call)) passed.set(call.item, call);
	const fromLedger = new Set<number>();
	const used = new Set<unknown>();
	const again = new Set<unknown>();
	let others = 0;
	for (const each of asked) {
		const { item, key, onConflict } = each;
		const call = earlier.get(item);
		const other = passed.get(item);
		if (call === undefined) {
			if (other) known.set(item, { error: otherItem(kind, each, other) });
			continue;
		}
		if (key !== '' && onConflict !== 'reuse' && differs(each, call)) {
			if (onConflict === 'fail') known.set(item, { error: keyConflict(each, call) });
			continue;
		}
		used.add(call.call);
		if (!logged.has(call.call)) fromLedger.add(item);
		if (call.result === undefined && each.retryOutcomeUnknown) {
			// It gives up its row without an answer.
			again.add(call.call);
			log.drop(call);
			continue;
		}
		if (call.fingerprint !== each.fingerprint) others += 1;
		known.set(item, outcomeOf(call, isRetry));
		// For Retry On Fail within this execution: by then the row is one of this execution.
		log.keep({ ...call, run: index, item });
	}
	if (origin !== undefined) await takeOver(run, origin, rows, used, again).catch(run.tell);
	if (others > 0) {
		const items = others === 1 ? '1 item has' : `${others} items have`;
		openedRun(context).hint(
			`A retry pays for nothing twice: ${items} the result of the earlier try, which had other values. For the values of now, execute the workflow again instead of retrying.`,
		);
	}
	return { fromLedger, rows: new Set(found.map(({ id }) => id)) };
}

/**
 * The rows of the other tries of this execution that none of its runs has taken over.
 *
 * @throws InputError when the table cannot be read: a retry that does not know them might pay twice. An n8n that cannot
 *   have any rows has none.
 */
async function findEarlier<T>({ onLedger }: LedgerRun<T>, origin: Origin): Promise<readonly Row[]> {
	const all = [
		['origin', 'eq', origin.origin],
		['execution_id', 'neq', origin.root],
	] as const;
	const rows = await onLedger([{ find: { all } }]).catch((error: unknown): readonly Row[] => {
		if (error instanceof TableError && ['unsupported', 'foreign'].includes(error.reason))
			return [];
		throw unreadable(error);
	});
	return rows.filter((row) => isRepeated(row, origin));
}

/** Whether a retry repeats the call of a row, of those of the other tries of its execution. */
export function isRepeated(row: Row, { isAlone, own }: Origin): boolean {
	return !isAlone || partsOf(row).own === own;
}

/** The first run of this node in this execution: a retry keeps the runs that succeeded before. */
function firstRun(context: IExecuteFunctions, run: number): number {
	const state = nodeState<{ execution: string; run: number }>(context, 'firstRun');
	const execution = context.getExecutionId();
	const stored = state.get();
	return stored?.execution === execution ? stored.run : state.set({ execution, run }).run;
}

/**
 * All known calls once, with the result if there is one: a kill may leave the row of the call beside that of its answer.
 *
 * @param root The execution that has read the rows. A failure that an earlier one has read is outdated: a person may have
 *   deleted the row since.
 */
export function merged<T>(
	log: CallLog<T>,
	rows: readonly Call<T>[],
	root: string | undefined,
): readonly Call<T>[] {
	const calls = new Map<string, Call<T>>();
	const isOutdated = ({ failure, readBy = root }: Call<T>) =>
		failure !== undefined && root !== undefined && readBy !== root;
	const logged = log.known().filter((call) => !isOutdated(call));
	for (const each of [...rows, ...logged]) {
		const row = calls.get(each.call);
		if (row?.result === undefined) calls.set(each.call, { ...row, ...each });
	}
	return [...calls.values()];
}

/**
 * Makes the calls that a run has recognized those of this execution, so that no other run of it takes them as well. All
 * others are left to its later runs: the next rounds of a loop, calls of a sub-workflow, calls of a tool. Rows go that
 * reserve a key, or announce a call that has a later row.
 *
 * @param used The recognized calls.
 * @param again The calls that are sent again: their rows go.
 */
async function takeOver<T>(
	{ onLedger }: LedgerRun<T>,
	{ root }: Origin,
	rows: readonly Row[],
	used: ReadonlySet<unknown>,
	again: ReadonlySet<unknown>,
): Promise<void> {
	const last = new Map(rows.map((row) => [row['call'], row]));
	const isGone = (row: Row) =>
		isReservation(row) ||
		// With a task ID a person has answered it.
		(row['status'] === 'sent' && !row['task_id'] && last.get(row['call']) !== row);
	const idsOf = (of: readonly Row[]) => of.map(({ id }) => id);
	const own = rows.filter(({ call }) => used.has(call));
	const set = { execution_id: root };
	await onLedger([
		trimTaskIds(own),
		{ remove: oneOf('id', idsOf(rows.filter(isGone))) },
		{ remove: oneOf('call', [...again]) },
		{ set, where: oneOf('id', idsOf(own)) },
	]);
}
