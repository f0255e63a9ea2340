import { hint } from '../run/hints';
import { keyedMutex } from '../run/keyedMutex';
import type { Settled } from '../run/settled';
import { toError, type KnownCall } from './callLog';
import {
	findEarlier,
	firstRun,
	isReservation,
	merged,
	partsOf,
	takeOver,
	toKnown,
} from './earlierCalls';
import type { LedgerRun } from './ledgerRun';
import { recognize } from './recognize';

/** A result, and whether an earlier try or another execution has made the call. */
export interface Paid<T> {
	readonly result: T;
	readonly isReused: boolean;
}

/** What earlier tries of the execution have left. */
export interface Recalled<T> {
	/** The outcomes of their calls, by item. */
	readonly known: ReadonlyMap<number, Settled<Paid<T>>>;
	/** The items whose calls only the ledger has: n8n has lost the state of the node, as after a kill, or a tool made them. */
	readonly fromLedger: ReadonlySet<number>;
	/** IDs of their rows. */
	readonly rows: ReadonlySet<unknown>;
}

const runExclusive = keyedMutex();

/**
 * Finds the calls that earlier tries have made for the items of this run, and takes over their rows.
 *
 * @throws InputError when the table cannot be read in a retry.
 */
export async function recall<T>(run: LedgerRun<T>): Promise<Recalled<T>> {
	// An agent or a sub-workflow may run the node several times at once.
	return await runExclusive(run.isRetry ? run.origin!.origin : '', async () => await find(run));
}

async function find<T>(run: LedgerRun<T>): Promise<Recalled<T>> {
	const { context, kind, index, isTool, asked, log, origin, isRetry, onLedger } = run;
	const found = isRetry ? await findEarlier(origin!, onLedger) : [];
	// Calls of the runs before are not repeated.
	const fromRun = isRetry && !isTool ? firstRun(context, index) : 0;
	const rows = found.filter((row) => partsOf(row).run >= fromRun);
	const inLedger = rows
		.filter((row) => !isReservation(row))
		.map((row) => ({ ...toKnown(kind, row), readBy: origin!.root }));
	const logged = new Set(log.known().map(({ call }) => call));
	const earlier = recognizeAll(run, merged(log, inLedger, origin?.root));
	const known = new Map<number, Settled<Paid<T>>>();
	const fromLedger = new Set<number>();
	const again: string[] = [];
	let others = 0;
	for (const { item, fingerprint, retryOutcomeUnknown } of asked) {
		const call = earlier.get(item);
		if (call === undefined) continue;
		if (!logged.has(call.call)) fromLedger.add(item);
		if (call.result === undefined && retryOutcomeUnknown) {
			// It gives up its row without an answer.
			again.push(call.call);
			log.drop(call);
			continue;
		}
		if (call.fingerprint !== fingerprint) others += 1;
		known.set(item, outcomeOf(call, isRetry));
		// For Retry On Fail within this execution: by then the row is one of this execution.
		log.keep({ ...call, run: index, item });
	}
	if (origin !== undefined) {
		const used = [...earlier.values()].map(({ call }) => call);
		await takeOver(origin, rows, { used, again }, onLedger).catch(run.tell);
	}
	if (others > 0) hintOthers(run, others);
	return { known, fromLedger, rows: new Set(found.map(({ id }) => id)) };
}

function recognizeAll<T>(
	{ asked, log, index, isTool, mode }: LedgerRun<T>,
	calls: readonly KnownCall<T>[],
): ReadonlyMap<number, KnownCall<T>> {
	const found = recognize(asked, calls, mode);
	if (mode !== 'text' || isTool) return found;
	// The log is of this run: there the position tells which call it is.
	const taken = new Set(found.values());
	const logged = new Set(log.known().map(({ call }) => call));
	const left = calls.filter((each) => logged.has(each.call) && !taken.has(each));
	const others = asked.filter(({ item }) => !found.has(item));
	return new Map([...found, ...recognize(others, left, index)]);
}

/** The outcome of a known call. */
export function outcomeOf<T>(
	{ result, failure }: KnownCall<T>,
	isReused: boolean,
): Settled<Paid<T>> {
	return result === undefined ? { error: toError(failure!) } : { value: { result, isReused } };
}

/** Says that items have results of other values, because an earlier try of the execution paid for them. */
function hintOthers<T>({ context }: LedgerRun<T>, count: number): void {
	const items = count === 1 ? '1 item has' : `${count} items have`;
	hint(
		context,
		`A retry pays for nothing twice: ${items} the result of the earlier try, which had other values. For the values of now, execute the workflow again instead of retrying.`,
	);
}
