import { createHash, randomUUID } from 'node:crypto';

import type { IExecuteFunctions } from 'n8n-workflow';

import { InputError, isCanceled, isOutcomeUnknown } from '../../client/errors';
import { accountOf, isOwn } from '../run/account';
import { runsOf } from '../run/engine';
import { n8nClock } from '../run/host';
import { keyedMutex } from '../run/keyedMutex';
import { hint, mentionOnce } from '../run/hints';
import { isToolRun } from '../run/nodeContext';
import { valueOf, type Settled } from '../run/settled';
import { batchWriter } from './batchWriter';
import type { CallKind, PlannedCall } from './callKind';
import { interrupted, runLog, toError, toFailure, toolLog, type KnownCall } from './callLog';
import { onTable, type Row, type Step } from './dataTable';
import {
	callId,
	findEarlier,
	firstRun,
	isReservation,
	merged,
	ofOtherTries,
	partsOf,
	takeOver,
	toKnown,
} from './earlierCalls';
import { originOf, type Origin } from './origin';
import { RESERVATION_MS, reservationOf, reserveKeys } from './reserveKeys';
import { recognize } from './recognize';

/** A result, and whether an earlier try or another execution has made the call. */
export interface Paid<T> {
	readonly result: T;
	readonly isReused: boolean;
}

/** The paid calls of one run of a node. Each is made at most once, in this execution and in its retries. */
export interface PaidCalls<T> {
	/** Whether the call of an item has to be sent. */
	readonly isNew: (item: number) => boolean;
	/**
	 * Makes the call of an item, or takes it from an earlier try.
	 *
	 * @throws ServiceError as `send`; or where the outcome of an earlier try is unknown.
	 */
	make(item: number, send: () => Promise<T>): Promise<Paid<T>>;
	/** Writes what is left to the ledger. Call it however the run ends. */
	close(): Promise<void>;
}

/**
 * Opens the paid calls of a run: finds out which of them an earlier try has made.
 *
 * Each call is kept twice. The call log in the node's state serves *Retry On Fail* and the retry of an execution that n8n
 * has saved. The ledger, a data table, also serves the retry of an execution that was killed, and a person. Where n8n has
 * no data tables the node goes on with the log alone and says so.
 *
 * @param smallestBatch Number of calls that are sent at the same time.
 */
export async function openCalls<T extends object>(
	context: IExecuteFunctions,
	kind: CallKind<T>,
	planned: readonly PlannedCall[],
	{ isOn, smallestBatch }: { readonly isOn: boolean; readonly smallestBatch: number },
): Promise<PaidCalls<T>> {
	const isTool = isToolRun(context);
	const run = isTool ? 0 : runsOf(context).length;
	const clock = n8nClock(context);
	const log = isTool ? toolLog<T>(context) : runLog<T>(context, run);
	const origin = isOn && planned.length > 0 ? await originOf(context) : undefined;
	const account = origin === undefined ? '' : await accountOf(context);
	const base = origin === undefined ? {} : { ...callerColumns(context, origin), account };
	const asked = planned.map((each): AskedPaid => {
		const fingerprint = hash(each.key || each.entered);
		const call = callId({ run, fingerprint });
		const row = { ...each.row, ...base, call, item: each.item };
		return { ...each, call, fingerprint, row };
	});

	const onLedger = async (steps: readonly Step[]) => await onTable(context, kind.table, ...steps);
	const tell = (error: unknown) => {
		mentionOnce(context, `The ledger is not written. ${(error as Error).message}`);
	};
	const known = new Map<number, Settled<Paid<T>>>();
	const isRetry = origin?.isRetry === true;
	const mode = origin?.hasPosition === false ? 'text' : isTool ? 'tool' : run;
	const others = new Set<number>();
	/** IDs of the rows that were there before this run. */
	const earlierRows = new Set<unknown>();

	/** Finds the calls of earlier tries, and takes over their rows. */
	async function recall(): Promise<void> {
		const found = isRetry ? await findEarlier(origin, onLedger) : [];
		found.forEach(({ id }) => earlierRows.add(id));
		// Calls of the runs before are not repeated.
		const fromRun = isRetry && !isTool ? firstRun(context, run) : 0;
		const rows = found.filter((row) => partsOf(row).run >= fromRun);
		const inLedger = rows
			.filter((row) => !isReservation(row))
			.map((row) => ({ ...toKnown(kind, row), readBy: origin!.root }));
		const earlier = recognize(asked, merged(log, inLedger, origin?.root), mode);
		const again: string[] = [];
		for (const { item, fingerprint, retryOutcomeUnknown } of asked) {
			const found = earlier.get(item);
			if (found === undefined) continue;
			if (found.result === undefined && retryOutcomeUnknown) {
				// It gives up its row without an answer.
				again.push(found.call);
				log.drop(found);
				continue;
			}
			if (found.fingerprint !== fingerprint) others.add(item);
			known.set(item, outcomeOf(found, isRetry));
			// For Retry On Fail within this execution: by then the row is one of this execution.
			log.keep({ ...found, run, item });
		}
		if (origin === undefined) return;
		const used = [...earlier.values()].map(({ call }) => call);
		await takeOver(origin, rows, { used, again }, onLedger).catch(tell);
	}
	// An agent or a sub-workflow may run the node several times at once.
	await runExclusive(isRetry ? origin.origin : '', recall);
	if (others.size > 0) hintOthers(context, others.size);

	const unknown = asked.filter(({ item }) => !known.has(item));
	/** Of the calls with one key, the first is sent. */
	const leaders = new Map<string, AskedPaid>();
	for (const each of unknown) {
		if (each.key !== '' && !leaders.has(each.key)) leaders.set(each.key, each);
	}
	if (leaders.size > 0) {
		if (origin === undefined) throw notKept(new Error('Task Ledger is off'));
		const calls = [...leaders.values()];
		const reserved = await reserveKeys(calls, clock, onLedger).catch((error: unknown) => {
			throw isCanceled(error) ? error : notKept(error);
		});
		for (const { item, key } of calls) {
			const outcome = reserved.get(key)!;
			if (outcome === 'reserved') continue;
			if (outcome === 'timeout') known.set(item, { error: keyInUse() });
			else if (isOwn(outcome, account))
				known.set(item, outcomeOf(toKnown(kind, outcome), true));
			else known.set(item, { error: keyOfOther(kind, outcome) });
		}
	}
	const toSend = unknown.filter(
		(each) => !known.has(each.item) && (leaders.get(each.key) ?? each) === each,
	);

	/** Items whose call another retry of this execution makes at this moment. */
	const contested = new Set<number>();

	/** A retry writes its calls before it looks for those of another one, so that of two at least one sees the other. */
	function findRivals(rows: readonly Row[]): void {
		const rivals = rows.filter((row) => !earlierRows.has(row['id']) && !isReservation(row));
		const calls = rivals.map((row) => toKnown(kind, row));
		const same = recognize(toSend, calls, isTool ? 'text' : mode);
		for (const item of same.keys()) contested.add(item);
	}

	/** When the reservations of this run began, or were prolonged. */
	let reservedAtMs = clock.now();
	let writeError: unknown;
	const writer = batchWriter(
		toSend.map(({ row, call, key }) => ({
			row,
			replaces: key === '' ? [] : [['pending', 'eq', reservationOf(call)]],
		})),
		smallestBatch,
		{ clock, newId: randomUUID },
		async (steps) => {
			const nowMs = clock.now();
			const prolong = leaders.size === 0 ? [] : [prolongation(origin!, nowMs)];
			const look = isRetry ? [ofOtherTries(origin)] : [];
			const rows = await onLedger([...steps, ...prolong, ...look]).catch((error: unknown) => {
				writeError = error;
				tell(error);
				throw error;
			});
			if (isRetry) findRivals(rows);
			reservedAtMs = nowMs;
		},
	);
	const byItem = new Map(asked.map((each) => [each.item, each]));
	const positions = new Map(toSend.map(({ item }, position) => [item, position]));
	const ofKeys = new Map<string, Promise<T>>();

	async function sendOnce(position: number, send: () => Promise<T>): Promise<T> {
		const { item, call, key, fingerprint, row } = toSend[position]!;
		if (key !== '' && clock.now() - reservedAtMs > RESERVATION_MS) throw keyInUse();
		const isStored = origin !== undefined && (await writer.announce(position));
		if ((key !== '' && !isStored) || contested.has(item)) {
			writer.settle(position);
			throw key !== '' && !isStored ? notKept(writeError) : alreadyRetried();
		}
		const logged = { call, key, fingerprint, run, item };
		const sentAt = new Date(clock.now()).toISOString();
		const result = await send().catch((error: unknown) => {
			if (!isOutcomeUnknown(error)) {
				writer.settle(position);
				throw error;
			}
			const failure = toFailure(error);
			// A retry with the error of a canceled execution would count as canceled, too.
			const isStopped = isCanceled(error);
			log.keep({ ...logged, failure: isStopped ? interrupted(kind.table) : failure });
			throw isStopped ? error : toError(failure);
		});
		log.keep({ ...logged, result });
		writer.settle(position, { ...row, ...kind.toRow(result), sent_at: sentAt });
		return result;
	}

	return {
		isNew: (item) => positions.has(item),
		async make(item, send) {
			const { key } = byItem.get(item)!;
			const position = positions.get(item);
			if (position !== undefined) {
				const sent = sendOnce(position, send);
				ofKeys.set(key, sent);
				return { result: await sent, isReused: false };
			}
			const found = known.get(item) ?? known.get(leaders.get(key)?.item ?? item);
			if (found !== undefined) return valueOf(found);
			return { result: await ofKeys.get(key)!, isReused: true };
		},
		async close() {
			if (origin !== undefined && toSend.length > 0)
				await writer.close(expiry(context, kind, clock.now()));
		},
	};
}

const runExclusive = keyedMutex();

/** A planned call with its ID and all its columns. */
type AskedPaid = PlannedCall & { readonly call: string; readonly fingerprint: string };

function outcomeOf<T>({ result, failure }: KnownCall<T>, isReused: boolean): Settled<Paid<T>> {
	return result === undefined ? { error: toError(failure!) } : { value: { result, isReused } };
}

/** Says that items have results of other values, because an earlier try of the execution paid for them. */
function hintOthers(context: IExecuteFunctions, count: number): void {
	const items = count === 1 ? '1 item has' : `${count} items have`;
	hint(
		context,
		`A retry pays for nothing twice: ${items} the result of the earlier try, which had other values. For the values of now, execute the workflow again instead of retrying.`,
	);
}

/** The step that prolongs all reservations of this execution. */
function prolongation({ origin, root }: Origin, nowMs: number): Step {
	const all = [
		['origin', 'eq', origin],
		['execution_id', 'eq', root],
		['status', 'eq', 'reserved'],
	] as const;
	return { set: { sent_at: new Date(nowMs).toISOString() }, where: { all } };
}

/** @param remedy What to do; nothing was sent. */
function keyError(problem: string, remedy: string): InputError {
	return new InputError('Idempotency Key', problem, `Nothing was sent. ${remedy}`);
}

function notKept(error: unknown): InputError {
	const problem = `cannot be kept: ${(error as Error).message}`;
	return keyError(problem, 'Remove the option, or make the data table available');
}

function keyInUse(): InputError {
	return keyError(
		'is in use: another execution reserved it and has no answer yet',
		'Run this again in a minute; a reservation whose execution was stopped ends after 15 minutes',
	);
}

function keyOfOther<T>({ table }: CallKind<T>, { id }: Row): InputError {
	return keyError(
		`was used with another API key or Base URL: row ${String(id)} of the data table ${table.name}`,
		'Use another Idempotency Key. If only the API key of the account has changed, clear the column account of the row',
	);
}

function alreadyRetried(): InputError {
	return new InputError(
		'Another retry',
		'of this execution is making the same call',
		'Nothing was sent by this one. Retry again only if the other one fails',
	);
}

/** When expired rows were removed last, in this process, by workflow and table. */
const removedAtMs = new Map<string, number>();
const DAY_MS = 86_400_000;

/** Once a day: the step that removes expired rows. */
function expiry<T>(
	context: IExecuteFunctions,
	{ table, expired: { days, rows } }: CallKind<T>,
	nowMs: number,
): readonly Step[] {
	const key = `${context.getWorkflow().id} ${table.name}`;
	if (nowMs - (removedAtMs.get(key) ?? 0) < DAY_MS) return [];
	removedAtMs.set(key, nowMs);
	const before = new Date(nowMs - days * DAY_MS).toISOString();
	return [{ remove: { all: [...rows, ['sent_at', 'lt', before]] } }];
}

/** Who makes the calls: the columns that a person reads, and by which a retry finds them. */
function callerColumns(context: IExecuteFunctions, { origin, root }: Origin): Row {
	const { id, name } = context.getWorkflow();
	return {
		workflow_id: id ?? '',
		workflow_name: name ?? '',
		execution_id: root,
		node: context.getNode().name,
		origin,
	};
}

function hash(text: string): string {
	return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
