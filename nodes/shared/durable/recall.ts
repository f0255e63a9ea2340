import { randomUUID } from 'node:crypto';

import { keyedMutex } from '../../client/concurrency';
import { oneOf, TableError, theseRows, type Row } from '../engine/dataTable';
import { openedRun } from '../run/run';
import { byCall, isMade, mainRowOf, outcomeOf, partsOf, toKnown, type PaidCall } from './call';
import type { CallRun } from './callRun';
import { isClaim, removals } from './claimKeys';
import { otherItem, unreadable } from './errors';
import { match } from './match';
import { taskIdOf, trimTaskIds } from './taskTable';

const runExclusive = keyedMutex();
/** Why there is no ledger of this package. */
const NO_TABLE = ['unsupported', 'foreign'];
/** Maximum calls that a hint names. */
const MAX_NAMED = 5;

/**
 * Finds the calls that earlier tries have made for the items of this run, and takes over their rows. Their outcomes are
 * known then.
 *
 * @returns `earlier`: the IDs of the rows of earlier tries. The claims are not among them: what becomes of these is not known
 *   yet. `sentAgain`: the calls that are sent again, whose rows are removed.
 * @throws InputError when the table cannot be read in a retry.
 */
export async function recallCalls<T>(run: CallRun<T>) {
	// An agent or a sub-workflow may run the node several times at once.
	const lock = run.isRetry ? run.origin!.origin : '';
	return await runExclusive(lock, async () => await recallNow(run));
}

async function recallNow<T>(run: CallRun<T>) {
	const { kind, asked, known, log, isRetry, recognition } = run;
	const stored = isRetry ? await readRows(run) : undefined;
	const rows = stored ?? [];
	const logged = new Set<unknown>(log.known().map(({ call }) => call));
	const isKnown = (row: Row) => isRepeated(run, row) || logged.has(row['call']);
	const made = [...byCall(rows.filter(isKnown)).values()].filter(isMade);
	const calls = new Map<string, PaidCall<T>>();
	for (const each of made) {
		const call = toKnown(kind, each);
		calls.set(call.call, recognition === 'hash' ? { ...call, run: -1 } : call);
	}
	const ofCall = byCall(rows);
	for (const call of log.known()) {
		const made = calls.get(call.call);
		// Whether it failed the table says, from which a person may have deleted it since; why it failed, the log.
		const isOutdated = stored && call.isStored && call.failure !== undefined && !made;
		if (!isOutdated && made?.result === undefined) calls.set(call.call, call);
	}
	const { found, inPlace } = match(asked, [...calls.values()], recognition);
	const [used, again] = [new Set<unknown>(), new Set<unknown>()];
	const sentAgain: Row[] = [];
	const owners = new Map([...found].map(([{ row }, { call }]) => [call, row]));
	const token = randomUUID();
	const sent_at = new Date(Date.now()).toISOString();
	const lost = (stored ? log.known() : []).flatMap(({ call, result }): Row[] => {
		const of = ofCall.get(call) ?? [];
		const row = owners.get(call) ?? of[0];
		if (result === undefined || row === undefined || of.some(taskIdOf)) return [];
		return [{ sent_at, ...row, call, token, ...kind.toRow!(result) }];
	});
	for (const { call } of lost) used.add(call);
	for (const each of asked) {
		const { index } = each;
		const call = found.get(each);
		const other = inPlace.get(each);
		if (call === undefined) {
			// A key of its own says which video it is.
			if (other?.key === '') known.set(index, { error: otherItem(kind, each, other) });
			continue;
		}
		used.add(call.call);
		if (call.result === undefined && each.retryOutcomeUnknown) {
			again.add(call.call);
			sentAgain.push({ ...each.row, call: call.call, status: 'sent' });
			log.drop(call);
			continue;
		}
		known.set(index, outcomeOf(call, isRetry));
		// For Retry On Fail within this execution: by then the row is one of this execution.
		log.keep({ ...call, run: each.run, item: each.item });
	}
	if (run.origin !== undefined && (stored !== undefined || again.size > 0))
		await takeOver(run, rows, used, again, lost).catch(run.tell);
	hintLeft(run, made, used);
	return {
		earlier: new Set<unknown>(rows.filter((row) => !isClaim(row)).map(({ id }) => id)),
		sentAgain,
	};
}

/**
 * The rows of the other tries of this execution. Undefined in an n8n that cannot have any.
 *
 * @throws InputError when the table cannot be read: a retry that does not know them might pay twice.
 */
async function readRows<T>({ onLedger, origin }: CallRun<T>): Promise<readonly Row[] | undefined> {
	const find = { all: [['origin', 'eq', origin!.origin] as const] };
	return await onLedger({ find }).catch((error: unknown) => {
		if (error instanceof TableError && NO_TABLE.includes(error.reason)) return undefined;
		throw unreadable(error);
	});
}

/** Whether this run may repeat the call of a row: another try made it, in a run that n8n has not kept, and no run took it over. */
function isRepeated<T>({ origin, firstRun }: CallRun<T>, row: Row): boolean {
	const { root, isAlone, own } = origin!;
	const parts = partsOf(row);
	const isKept = parts.run >= 0 && parts.run < firstRun;
	return row['execution_id'] !== root && (!isAlone || parts.own === own) && !isKept;
}

/**
 * Enters this execution in the rows of the calls that a run has recognized, so that no other run of it takes them as well, and
 * writes again what the table has lost. All other calls are left to its later runs. Removes the rows `sent` of calls that have
 * their answer, and the claims of other tries.
 *
 * @param used The calls that a run has recognized, by their ID.
 * @param again Those of them that are sent again: their rows are removed.
 * @param lost The rows of results that are in the call log, and not in the table.
 */
async function takeOver<T>(
	{ onLedger, origin }: CallRun<T>,
	rows: readonly Row[],
	used: ReadonlySet<unknown>,
	again: ReadonlySet<unknown>,
	lost: readonly Row[],
): Promise<void> {
	const written = new Set(lost.map(({ call }) => call));
	const isGone = (of: readonly Row[]) => (row: Row) =>
		written.has(row['call']) || (taskIdOf(mainRowOf(of)) !== '' && taskIdOf(row) === '');
	const isTaken = (call: unknown) => used.has(call) && !again.has(call);
	const taken = [...byCall(rows).values()].filter(([row]) => isTaken(row!['call']));
	const gone = taken.flatMap((of) => of.filter(isGone(of)));
	const kept = taken.flat().filter((row) => !gone.includes(row));
	if (lost.length > 0) await onLedger({ insert: lost });
	await onLedger(
		trimTaskIds(kept),
		{ remove: theseRows(gone) },
		{ remove: oneOf('call', [...again]) },
		{ set: { execution_id: origin!.root }, where: theseRows(kept) },
		...removals(rows.filter((row) => isClaim(row) && row['execution_id'] !== origin!.root)),
	);
}

/** Says which calls of the earlier try the tool of an agent has not asked for again. */
function hintLeft<T>(
	{ context, kind, asked, known, recognition }: CallRun<T>,
	candidates: readonly (readonly Row[])[],
	used: ReadonlySet<unknown>,
): void {
	const isNew = asked.some(({ index }) => !known.has(index));
	const left = candidates.map(mainRowOf).filter((row) => !used.has(row['call']));
	if (recognition !== 'hash' || !isNew || left.length === 0) return;
	const named = left.slice(0, MAX_NAMED).map((row) => kind.describe(row));
	openedRun(context).hint(
		`The earlier try of this execution has paid for ${left.length} more, which were not asked for again so far: ${named.join(', ')}`,
	);
}
