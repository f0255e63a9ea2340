import { randomUUID } from 'node:crypto';

import type { ITaskData } from 'n8n-workflow';

import { keyedMutex } from '../../client/concurrency';
import { oneOf, TableError, theseRows, type Row } from '../engine/dataTable';
import { isFirstTry, runsOf } from '../engine/runs';
import { workflowOf } from '../engine/workflow';
import {
	byCall,
	callOf,
	isMade,
	mainRowOf,
	outcomeOf,
	partsOf,
	takenBy,
	toKnown,
	type AskedCall,
	type PaidCall,
} from './call';
import type { CallRun } from './callRun';
import { isClaim, isOfWorkflow, removals, rowName } from './claimKeys';
import { keyConflict, otherItem, renamedNode, unreadable } from './errors';
import { match } from './identity';
import { stateOf } from './states';
import { nowIso, taskIdOf, trimTaskIds } from './taskTable';

const runExclusive = keyedMutex();
/** The calls of all runs in this process that may have no answer in the table yet. Another process cannot tell whether they are under way. */
export const underWay = new Set<unknown>();
/** Why there is no ledger of this package. */
const NO_TABLE = ['unsupported', 'foreign'];
/** Maximum calls that a hint names. */
const MAX_NAMED = 5;

/**
 * Finds the calls that earlier tries have made for the items of this run, and takes over their rows. Their outcomes are
 * known then.
 *
 * @returns The names of the rows that are there, and whether their try has ended. The claims are not among them: what becomes of
 *   these is not known yet.
 * @throws InputError in a retry when the table cannot be read, or the node was renamed.
 */
export async function findEarlierCalls<T>(run: CallRun<T>) {
	// An agent or a sub-workflow may run the node several times at once.
	const lock = run.isRetry ? run.origin!.origin : '';
	return await runExclusive(lock, async () => await findNow(run));
}

async function findNow<T>(run: CallRun<T>) {
	const { kind, asked, known, sentAgain, log, isRetry, recognition } = run;
	const stored = isRetry ? await readRows(run) : undefined;
	const rows = stored ?? [];
	checkName(run, rows);
	const ownCalls = log.calls().filter(isOwnCall);
	const logged = new Set<unknown>(ownCalls.map(({ call }) => call));
	const isKnown = (row: Row) => isRepeated(run, row) || logged.has(row['call']);
	// What another retry has under way `claimKeys` waits for.
	const judged = [...byCall(rows).values()].flatMap((of) => {
		const { call } = mainRowOf(of);
		return stateOf(mainRowOf(of)) === 'sent' && underWay.has(call) ? [] : of;
	});
	const made = [...byCall(judged.filter(isKnown)).values()].filter(isMade);
	const calls = knownCalls(run, made, stored !== undefined);
	const { found, inPlace } = match(asked, calls.filter(isOwnCall), recognition);
	const lost = stored ? lostRows(run, stored, found) : [];
	const used = new Map<unknown, string>(lost.map(({ call }) => [call, '']));
	const again = new Set<unknown>();

	/** Takes a call. For Retry On Fail within this execution it is logged: by then the row is one of this execution. */
	function take(call: PaidCall<T>, to: PaidCall, hasFailed?: boolean): string {
		const { run: index, item, key } = to;
		used.set(call.call, key);
		const taken = callOf(call.call, run.origin?.called ?? '');
		if (taken !== call.call) log.drop(call.call);
		log.keep({ ...call, call: taken, run: index, item }, hasFailed);
		return taken;
	}

	const matched = new Set(found.values());
	const unmatched = calls.filter((call) => isOwnCall(call) && !matched.has(call));
	/** What kills have left of the call of an item while it was sent again. A tool may make the same call twice. */
	const leftOf = (each: AskedCall) =>
		unmatched.filter(
			({ result, hash, run: index, item }) =>
				result === undefined &&
				recognition !== 'hash' &&
				hash === each.hash &&
				index === each.run &&
				item === each.item,
		);
	for (const [each, call] of found) {
		const outcome = takenBy(kind, each, outcomeOf(call, isRetry));
		const taken = take(call, each, 'error' in outcome);
		if ('error' in outcome && each.retryOutcomeUnknown) {
			again.add(call.call);
			sentAgain.set(taken, each);
			for (const other of leftOf(each)) sentAgain.set(take(other, each), each);
		} else known.set(each.index, outcome);
	}
	for (const each of asked.filter((one) => !found.has(one))) {
		const { index, key } = each;
		// A failed video frees its key, but not for the items that have got it.
		const ofKey = calls.findLast((made) => key !== '' && made.key === key);
		// Of one without an answer, for which other values were sent, `claimKeys` says that the key is in use.
		const call = ofKey?.result || ofKey?.hash === each.hash ? ofKey : undefined;
		const other = inPlace.get(each);
		if (call !== undefined && !again.has(call.call)) {
			const error = keyConflict(each, call);
			known.set(index, error ? { error } : outcomeOf(call, true));
			if (!error && isOwnCall(call) && !used.has(call.call)) take(call, call);
		} else if (other?.key === '' && !mayBeReworded(run, each, other))
			known.set(index, { error: otherItem(kind, each, other) });
	}
	if (stored !== undefined) await takeOver(run, rows, used, lost).catch(run.tell);
	hintLeft(run, made, used);
	const notClaims = judged.filter((row) => !isClaim(row));
	return new Map<unknown, boolean>(
		notClaims.map((row) => [rowName(row), isOfOtherTry(run, row)]),
	);
}

/**
 * Whether a person may ask in other words what has failed without a reply that is paid for: what moderation has ended, or by the
 * option. The tries of Retry On Fail have other words only where an expression changes by itself.
 */
function mayBeReworded<T>(
	{ context }: CallRun<T>,
	{ retryOutcomeUnknown }: AskedCall,
	{ failure }: PaidCall<T>,
): boolean {
	if (failure === undefined || failure.details.partial !== undefined) return false;
	const isAllowed = retryOutcomeUnknown || failure.details.affects === 'request';
	return isAllowed && context.getMode() === 'retry' && isFirstTry(context);
}

/** Whether the items of this run have made a call. */
const isOwnCall = ({ isOfOther = false }: PaidCall) => !isOfOther;

/**
 * The row of a call that goes on in a retry, also where the earlier try has handed out its video: what came behind may have been
 * killed. One that was collected another node has handed out.
 */
const toGoOn = (row: Row): Row => (row['collected_at'] ? row : { ...row, delivered_at: null });

/** The calls of earlier tries, as the table and the log show them. */
function knownCalls<T>(
	{ kind, log }: CallRun<T>,
	made: readonly (readonly Row[])[],
	isStored: boolean,
): readonly PaidCall<T>[] {
	const calls = new Map<string, PaidCall<T>>();
	for (const rows of made) {
		const call = toKnown(kind, rows.map(toGoOn));
		calls.set(call.call, call);
	}
	for (const call of log.calls()) {
		const stored = calls.get(call.call);
		// Whether it failed the table says, from which a person may have deleted it since; why it failed, the log.
		const isOutdated = isStored && call.isStored && call.failure !== undefined && !stored;
		if (!isOutdated && stored?.result === undefined) calls.set(call.call, call);
	}
	return [...calls.values()];
}

/** The rows of results that are in the call log, and not in the table: a write of an earlier try has failed. */
function lostRows<T>(
	{ kind, log }: CallRun<T>,
	rows: readonly Row[],
	found: ReadonlyMap<AskedCall, PaidCall<T>>,
): readonly Row[] {
	const ofCall = byCall(rows);
	const owners = new Map([...found].map(([{ row }, { call }]) => [call, row]));
	const [token, sent_at] = [randomUUID(), nowIso()];
	const own = log.calls().filter(isOwnCall);
	return own.flatMap(({ call, result }): Row[] => {
		const stored = ofCall.get(call) ?? [];
		const row = owners.get(call) ?? stored[0];
		if (result === undefined || row === undefined || stored.some(taskIdOf)) return [];
		return [{ sent_at, ...row, call, token, ...kind.toRow!(result) }];
	});
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

/** @throws InputError where n8n has kept runs of this node under another name: it begins to count them again, and places repeat. */
function checkName<T>({ context, node, recognition }: CallRun<T>, rows: readonly Row[]): void {
	const { nodes } = workflowOf(context);
	const before = rows.find((row) => {
		const name = String(row['node']);
		// Another node that has the name now may have run in this retry.
		const isKept = ({ startTime }: ITaskData) =>
			nodes[name] === undefined || startTime <= Date.parse(String(row['sent_at']));
		return name !== node.name && runsOf(context, name).some(isKept);
	});
	if (recognition === 'all' && before) throw renamedNode(String(before['node']));
}

/** Whether another try of this execution has made the call of a row, and no run took it over. */
function isOfOtherTry<T>({ origin }: CallRun<T>, row: Row): boolean {
	const { root, isAlone, own } = origin!;
	return row['execution_id'] !== root && (!isAlone || partsOf(row).own === own);
}

/** Whether this run may repeat the call of a row: the run that made it is none that n8n has kept. */
function isRepeated<T>(run: CallRun<T>, row: Row): boolean {
	const { run: index, called } = partsOf(row);
	const isKept = (index >= 0 && index < run.firstRun) || run.origin!.kept.has(called);
	return isOfOtherTry(run, row) && !isKept;
}

/**
 * Enters this execution in the rows of the calls that a run has recognized, so that no other run of it takes them as well, and
 * writes again what the table has lost. All other calls are left to its later runs. Removes the rows `sent` of calls that have
 * their answer, and the claims of other tries.
 *
 * @param used The calls that a run has recognized, by their ID, with the keys of the items that have them now.
 * @param lost The rows of results that are in the call log, and not in the table.
 */
async function takeOver<T>(
	run: CallRun<T>,
	rows: readonly Row[],
	used: ReadonlyMap<unknown, string>,
	lost: readonly Row[],
): Promise<void> {
	const { onLedger, origin } = run;
	const { root, called } = origin!;
	const written = new Set(lost.map(({ call }) => call));
	const isGone = (of: readonly Row[]) => (row: Row) =>
		written.has(row['call']) || (taskIdOf(mainRowOf(of)) !== '' && taskIdOf(row) === '');
	const taken = [...byCall(rows).values()].filter(([row]) => used.has(row!['call']));
	const gone = taken.flatMap((of) => of.filter(isGone(of)));
	const kept = taken.flat().filter((row) => !gone.includes(row));
	// Of a loop over sub-workflows another retry may keep the round that has them now.
	const update = kept.map(({ id, call, ...row }) => {
		return { id, call: callOf(call as string, called), task_id: taskIdOf(row) };
	});
	// A row that a person has set back to claimed has no token.
	const isLeft = (row: Row) => isClaim(row) && row['token'] && row['execution_id'] !== root;
	if (lost.length > 0) await onLedger({ insert: lost });
	await onLedger(
		called ? { update } : trimTaskIds(kept),
		{ set: { execution_id: root }, where: theseRows(kept) },
		...removals([...gone, ...rows.filter(isLeft)]),
	);
	await enterKeys(run, kept, used);
}

/**
 * Enters the keys of items in the rows of their calls that have none: a key that a person has added since is to give this video to
 * the next execution. One that another row has meanwhile stays there. A key that a row has it keeps: in a Retry on another day one
 * with the date is that of the next night's video.
 */
async function enterKeys<T>(
	{ onLedger, workflowId }: CallRun<T>,
	rows: readonly Row[],
	keys: ReadonlyMap<unknown, string>,
): Promise<void> {
	const update = rows.flatMap(({ id, call, idempotency_key: before }): Row[] => {
		const key = keys.get(call);
		return !key || before ? [] : [{ id, idempotency_key: key }];
	});
	const keyOf = (row: Row) => row['idempotency_key'];
	const find = oneOf('idempotency_key', update.map(keyOf));
	const holders = (await onLedger({ find })).filter(
		(row) =>
			isOfWorkflow(workflowId, row) &&
			!update.some(({ id }) => id === row['id']) &&
			!isClaim(row) &&
			stateOf(row) !== 'failed',
	);
	const held = new Set(holders.map(keyOf));
	await onLedger({ update: update.filter((row) => !held.has(keyOf(row))) });
}

/** Says which calls of the earlier try the tool of an agent has not asked for again. */
function hintLeft<T>(
	{ hint, kind, asked, known, recognition }: CallRun<T>,
	candidates: readonly (readonly Row[])[],
	used: ReadonlyMap<unknown, string>,
): void {
	const isNew = asked.some(({ index }) => !known.has(index));
	const left = candidates.map(mainRowOf).filter((row) => !used.has(row['call']));
	if (recognition !== 'hash' || !isNew || left.length === 0) return;
	const named = left.slice(0, MAX_NAMED).map((row) => kind.describe(row));
	hint(
		`The earlier try of this execution has paid for ${left.length} more, which were not asked for again so far: ${named.join(', ')}`,
	);
}
