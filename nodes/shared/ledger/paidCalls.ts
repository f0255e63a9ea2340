import type { IExecuteFunctions } from 'n8n-workflow';

import { canceledError } from '../../client/http/failures';
import { fromSaved, InputError, isCanceled, isOutcomeUnknown } from '../../client/errors';
import { type Settled, settled, valueOf } from '../../client/concurrency';
import { interrupted, toCall, toFailure, toKnown } from './call';
import type { AskedCall, CallKind, Paid, PlannedCall } from './call';
import { callWriter } from './callWriter';
import { maskError } from '../run/nodeErrors';
import { openedRun } from '../run/run';
import type { Row, Step } from '../engine/dataTable';
import { ledgerRun, type LedgerRun } from './ledgerRun';
import { reserveCalls, type Limit } from './limit';
import { attemptOf, isReservation, PROLONG_MS } from './paidCall';
import { isRepeated, recall } from './recall';
import { recognize } from './recognize';
import { alreadyRetried, keyInUse, movedError, notKept } from './refusals';

/** The paid calls of one run of a node. Each is made at most once, in this execution and in its retries. */
export type PaidCalls<T extends object> = Awaited<ReturnType<typeof openCalls<T>>>;

/**
 * Opens the paid calls of a run: finds out which of them an earlier try has made. The others it writes into the ledger
 * before they are sent and after.
 *
 * Each call is kept twice. The call log in the node's state serves *Retry On Fail* and the retry of an execution that n8n
 * has saved. The ledger, a data table, also serves the retry of an execution that was killed, and a person. Where n8n has
 * no data tables the node goes on with the log alone and says so.
 *
 * @param isOn Whether the ledger is written; `concurrency`: how many calls are under way at the same time.
 * @param limit Checked for all calls that have to be sent.
 */
export async function openCalls<T extends object>(
	context: IExecuteFunctions,
	kind: CallKind<T>,
	planned: readonly PlannedCall[],
	{ isOn, concurrency }: { readonly isOn: boolean; readonly concurrency: number },
	limit?: Limit,
) {
	const run = await ledgerRun(context, kind, planned, isOn);
	const { asked, known, clock, origin, isRetry, log } = run;
	const earlier = await recall(run);
	const toSend = await reserveCalls(run, limit);
	const option = limit === undefined ? 'Idempotency Key' : 'Limit Period';
	const refusal = context.continueOnFail() ? undefined : [...known.values()].find(isRefusal);
	const locks = new Map(asked.map(({ item, lock }) => [item, lock]));
	const left = new Map(toSend.map((call) => [call.item, call]));
	const sentByLock = new Map<string, Promise<T>>();
	/** Items whose call another retry of this execution makes at this moment. */
	const contested = new Set<number>();
	const closed = new AbortController();
	let writeError: unknown;
	/** The items whose call was sent in this run, without those that certainly failed. */
	const sent = new Set<number>();
	const rivals = new Map<unknown, Row>();

	/** A retry writes its calls before it looks for those of another one, so that of two at least one sees the other. */
	function findRivals(rows: readonly Row[]): void {
		for (const row of rows) {
			const isOther = row['execution_id'] !== origin!.root && isRepeated(row, origin!);
			if (isOther && !earlier.rows.has(row['id']) && !isReservation(row))
				rivals.set(row['call'], row);
		}
		const hasPosition = !run.isTool && origin!.hasPosition;
		const others = [...rivals.values()].map((row) => toKnown(run.kind, row, { hasPosition }));
		for (const item of recognize(toSend, others).keys()) contested.add(item);
	}

	async function write(steps: readonly Step[]): Promise<void> {
		const rows = await run.onLedger(steps).catch((error: unknown) => {
			writeError = error;
			run.tell(error);
			throw error;
		});
		if (isRetry) findRivals(rows);
	}

	/** Keeps the reservations through long calls and pauses between batches, in which nothing else is written. */
	async function keepReserved(): Promise<void> {
		while (run.isHeld()) {
			await clock.sleep(PROLONG_MS, closed.signal);
			if (closed.signal.aborted) return;
			// The write of a call says what is wrong with the table.
			await run.onLedger([]).catch(() => undefined);
		}
	}
	const kept = settled(keepReserved());

	const writer = origin && callWriter(toSend, concurrency, clock, write);

	/** Why a call must not be sent, if so. */
	function refusalOf({ item, replaces }: AskedCall, isStored: boolean): Error | undefined {
		if (replaces.length > 0 && !isStored) return notKept(option, writeError, sent.size > 0);
		if (contested.has(item)) return alreadyRetried();
		// It would break off without having been sent, and nobody could tell.
		if (context.getExecutionCancelSignal()?.aborted) return canceledError();
		return movedError(writeError);
	}

	/** @throws ServiceError as `send`; InputError where the call is not sent. */
	async function sendCall(asked: AskedCall, send: (attempt: number) => Promise<T>): Promise<T> {
		const { row, source, replaces } = asked;
		if (replaces.length > 0 && !run.isHeld())
			throw option === 'Limit Period'
				? notKept(option, new Error('the reservation has expired'))
				: keyInUse();
		const isStored = (await writer?.announce(asked)) === true;
		const problem = refusalOf(asked, isStored);
		if (problem !== undefined) {
			writer?.settle(asked);
			throw problem;
		}
		const logged = { ...toCall(kind, row), source };
		const sentAt = new Date(clock.now()).toISOString();
		sent.add(asked.item);
		const result = await send(attemptOf(row)).catch((error: unknown) => {
			if (!isOutcomeUnknown(error)) {
				sent.delete(asked.item);
				writer?.settle(asked);
				throw error;
			}
			const failure = toFailure(maskError(openedRun(context), error));
			// A retry with the error of a canceled execution would count as canceled, too.
			const isStopped = isCanceled(error);
			log.keep({ ...logged, failure: isStopped ? interrupted(kind.table) : failure });
			throw isStopped ? error : fromSaved(failure);
		});
		log.keep({ ...logged, result });
		writer?.settle(asked, { ...row, ...run.kind.toRow(result), sent_at: sentAt });
		return result;
	}

	return {
		/** Whether the call of an item has to be sent. */
		isNew: (item: number) => refusal === undefined && left.has(item),
		/** Whether an earlier try has made the call of an item, so that its result costs nothing. */
		isKnown: (item: number) => 'value' in (known.get(item) ?? {}),
		/** Whether only the ledger has the call of an item, which an earlier try made. */
		isFromLedger: (item: number) => earlier.fromLedger.has(item),
		/**
		 * Makes the call of an item, or takes it from an earlier try.
		 *
		 * @param send Gets how many videos its key has had with this one.
		 *
		 * @throws ServiceError as `send`; or where the outcome of an earlier try is unknown. InputError for an item that must not be
		 *   sent, and then for all whose call is not known, unless the node continues on errors.
		 */
		async make(item: number, send: (attempt: number) => Promise<T>): Promise<Paid<T>> {
			const found = known.get(item);
			if (found !== undefined) return valueOf(found);
			if (refusal !== undefined) throw refusal.error;
			const lock = locks.get(item)!;
			const call = left.get(item);
			if (call === undefined) return { result: await sentByLock.get(lock)!, isReused: true };
			const result = sendCall(call, send);
			sentByLock.set(lock, result);
			return { result: await result, isReused: false };
		},
		/** Whether the service may have done the work of an item in this run. */
		isSent: (item: number) => sent.has(item),
		/** Writes what is left to the ledger. Call it however the run ends. */
		close: async () => {
			closed.abort();
			await kept;
			if (toSend.length > 0) await writer?.close(expiry(run));
		},
	};
}

/** Whether an item must not be sent: then a node that stops on errors sends nothing. */
function isRefusal<T>(known: Settled<Paid<T>>): known is { readonly error: InputError } {
	return 'error' in known && known.error instanceof InputError;
}

/** When expired rows were removed last, in this process, by workflow and table. */
const removedAtMs = new Map<string, number>();
const DAY_MS = 86_400_000;

/** Once a day: the step that removes expired rows. */
function expiry<T>({ context, kind, clock }: LedgerRun<T>): readonly Step[] {
	const { table, keptDays } = kind;
	const key = `${context.getWorkflow().id} ${table.name}`;
	const nowMs = clock.now();
	if (nowMs - (removedAtMs.get(key) ?? 0) < DAY_MS) return [];
	removedAtMs.set(key, nowMs);
	const before = new Date(nowMs - keptDays * DAY_MS).toISOString();
	return [{ remove: { all: [...table.finished, ['sent_at', 'lt', before]] } }];
}
