import { settled, valueOf, type Settled } from '../../client/concurrency';
import { fromSaved, InputError, isCanceled, isOutcomeUnknown } from '../../client/errors';
import { canceledError } from '../../client/http/failures';
import { oneOf, theseRows, type Find, type Row } from '../engine/dataTable';
import { isOwn } from '../run/credential';
import { maskError } from '../run/nodeErrors';
import type { Run } from '../run/run';
import {
	interrupted,
	takenBy,
	toCall,
	toFailure,
	type AskedCall,
	type CallKind,
	type Paid,
	type PlannedCall,
} from './call';
import { callRun } from './callRun';
import { callWriter } from './callWriter';
import { claimKeys, release, type Claim } from './claimKeys';
import { movedError, notKept, taskOfOther, unreadable } from './errors';
import { expiry, nowIso } from './taskTable';
import { openLimit, type Limit } from './limit';
import { findEarlierCalls, underWay } from './earlierCalls';

/** The paid calls of one run of a node. Each is made at most once, in this execution and in its retries. */
export type PaidCalls<T extends object> = Awaited<ReturnType<typeof openPaidCalls<T>>>;

/**
 * Opens the paid calls of a run: finds out which of them an earlier try has made, and claims the keys of the others. Each of
 * these is written into the ledger before it is sent, and again with its answer.
 *
 * Each call is kept twice. The call log in the node's state is for *Retry On Fail* and for the retry of an execution that n8n
 * has saved. The ledger, a data table, is also for the retry of an execution that was killed, and for a person. Where n8n has
 * no data tables the node goes on with the log alone and says so.
 *
 * @param isOn Whether the ledger is written.
 * @throws InputError where nothing may be sent: a retry that cannot read the ledger, a limit.
 */
export async function openPaidCalls<T extends object>(
	ofNode: Run,
	kind: CallKind<T>,
	planned: readonly PlannedCall[],
	isOn: boolean,
	given?: Limit,
) {
	const isNeeded = planned.length > 0 || given !== undefined;
	const run = await callRun(ofNode, kind, planned, isOn && isNeeded);
	const { asked, known, clock, origin, log, onLedger, account } = run;
	const limit = given && openLimit(run, given);
	const earlier = await findEarlierCalls(run);
	const unknown = () => asked.filter(({ index }) => !known.has(index));
	const hasKeys = unknown().some(({ key }) => key !== '');
	const option = hasKeys ? 'Idempotency Key' : 'Limit Period';
	const tokens = new Set<string>();
	const claims = new Map<AskedCall, Claim>();
	if (hasKeys && origin === undefined) throw notKept(option, new Error('Task Ledger is off'));

	async function claim(calls: readonly AskedCall[]): Promise<void> {
		for (const [call, own] of await claimKeys(run, calls, earlier, tokens))
			claims.set(call, own);
	}
	if (origin !== undefined && (hasKeys || run.isRetry))
		await claim(unknown()).catch((error: unknown) => {
			if (hasKeys || isCanceled(error)) throw error;
			run.tell(error);
		});
	const refusal = run.continuesOnFail() ? undefined : [...known.values()].find(isRefusal)?.error;
	// Of those with one key the first has the claim.
	const own = unknown().filter((call) => call.key === '' || claims.has(call));
	const toSend = new Map(own.map((call) => [call.index, call]));
	const all = [...toSend.keys()];
	const fitting = limit ? await settled(limit.within(all)) : { value: all };
	if ('error' in fitting) await onLedger(...release(tokens)).catch(run.tell);
	const fits = new Set(valueOf(fitting));
	const leftOut = new Set(all.filter((index) => !fits.has(index)));
	const sentByKey = new Map<string, Promise<Paid<T> | undefined>>();
	/** The calls by the ID of their task. */
	const tasks = new Map<string, AskedCall>();
	const sent = new Set<number>();
	let writeError: unknown;
	/** Why calls exceed the limit, or why it could not be checked. */
	const excess = new Map<AskedCall, unknown>();

	/** Announces calls, and withdraws those that exceed the limit. */
	async function admit(
		calls: readonly AskedCall[],
		announceAll: (find?: Find) => Promise<readonly Row[]>,
	): Promise<void> {
		const checked = await settled(
			limit ? limit.announce(calls, announceAll) : announceAll().then(() => undefined),
		);
		if ('error' in checked) for (const call of calls) excess.set(call, checked.error);
		else if (checked.value)
			for (const { index } of calls) if (!checked.value.includes(index)) leftOut.add(index);
	}

	const writer =
		origin &&
		callWriter({
			clock,
			claimOf: (call) => claims.get(call),
			write: async (steps) =>
				await onLedger(...steps).catch((error: unknown) => {
					writeError = error;
					run.tell(error);
					throw error;
				}),
			admit,
		});

	/** Announces a call. Where its claim was removed meanwhile, it is claimed again. */
	async function announce(call: AskedCall): Promise<boolean> {
		for (;;) {
			const announced = writer ? await writer.announce(call) : 'failed';
			if (!writer) await admit([call], async () => []);
			const isRefused = excess.has(call) || leftOut.has(call.index);
			if (announced !== 'lost' || isRefused) return announced === 'stored';
			claims.delete(call);
			// Who has removed it may have sent the call.
			await claim([call]).catch((error: unknown) => {
				throw error instanceof InputError || isCanceled(error) ? error : unreadable(error);
			});
			if (known.has(call.index)) return false;
		}
	}

	/** Why a call must not be sent, if so. */
	function problemOf(call: AskedCall, isStored: boolean): unknown {
		if (excess.has(call)) return excess.get(call);
		if (!isStored && (hasKeys || limit?.isOfPeriod))
			return notKept(option, writeError, sent.size > 0);
		// Sending would be canceled at once, and it would count as a call whose outcome is unknown.
		if (run.canceled?.aborted) return canceledError();
		return movedError(writeError);
	}

	/** Forgets the earlier calls of one that was sent again, and stands for them now. */
	async function forget(calls: readonly string[]): Promise<void> {
		for (const call of calls) log.drop(call);
		if (origin && calls.length > 0)
			await onLedger({ remove: oneOf('call', calls) }).catch(run.tell);
	}

	/** @throws ServiceError as `send`, and for a task of another call of this run. */
	async function answerOf(asked: AskedCall, send: (attempt: number) => Promise<T>): Promise<T> {
		const result = await send(claims.get(asked)?.attempt ?? 1);
		const taskId = String(kind.toRow?.(result)['task_id'] ?? '');
		const other = tasks.get(taskId);
		if (other !== undefined) throw taskOfOther(kind, taskId, [asked.row, other.row]);
		if (taskId !== '') tasks.set(taskId, asked);
		return result;
	}

	/** @throws ServiceError as `send`; InputError where the call is not sent. */
	async function sendCall(
		asked: AskedCall,
		send: (attempt: number) => Promise<T>,
	): Promise<Paid<T> | undefined> {
		const { row, index, retryOutcomeUnknown } = asked;
		/** For a call that was not sent, or has certainly failed: nothing of it stays. */
		const discarded = (error: unknown) => {
			limit?.giveBack(asked);
			writer?.settle(asked);
			return error as Error;
		};
		if (writer) underWay.add(asked.call);
		const announced = await settled(announce(asked));
		if ('error' in announced) throw discarded(announced.error);
		const isStored = announced.value;
		if (leftOut.has(index)) {
			writer?.settle(asked);
			return undefined;
		}
		if (known.has(index)) {
			limit?.giveBack(asked);
			return valueOf(known.get(index)!);
		}
		const problem = problemOf(asked, isStored);
		if (problem !== undefined) throw discarded(problem);
		const again = [...run.sentAgain].flatMap(([call, each]) => (each === asked ? [call] : []));
		// They may exist as well.
		limit?.keep(again.map((call) => ({ ...row, call, status: 'sent' })));
		const logged = { ...toCall(kind, row), isStored };
		const sent_at = nowIso();
		sent.add(index);
		const outcome = await settled(answerOf(asked, send));
		if ('error' in outcome) {
			const { error } = outcome;
			if (!isOutcomeUnknown(error)) throw discarded(error);
			const failure = toFailure(maskError(run, error), retryOutcomeUnknown);
			// A retry with the error of a canceled execution would count as canceled, too.
			const isStopped = isCanceled(error);
			log.keep({ ...logged, failure: isStopped ? interrupted(isStored) : failure });
			await forget(again);
			throw isStopped ? error : fromSaved(failure);
		}
		const result = outcome.value;
		const taken = takenBy(kind, asked, { value: { result, isReused: false } });
		log.keep({ ...logged, result }, 'error' in taken);
		// Before the answer: of two calls a retry takes the older one.
		await forget(again);
		writer?.settle(asked, { ...row, ...kind.toRow?.(result), sent_at });
		return valueOf(taken);
	}

	return {
		/** Why no item may be sent that is not known, if so. */
		refusal,
		/** Whether the outcome of an item is known without sending anything. */
		isKnown: (index: number) => known.has(index),
		/** Whether the call of an item is one that is sent. */
		sends: (index: number) => toSend.has(index) && !leftOut.has(index),
		/**
		 * Makes the call of an item, or takes it from an earlier try.
		 *
		 * @param send Gets how many videos its key has had with this one.
		 * @returns Undefined for an item that is left out, as a limit takes what fits.
		 * @throws ServiceError as `send`, and where the outcome of an earlier try is unknown. InputError for an item that must not
		 *   be sent; unless the node continues on errors, then for all others that are not known, too.
		 */
		async make(
			index: number,
			send: (attempt: number) => Promise<T>,
		): Promise<Paid<T> | undefined> {
			const found = known.get(index);
			if (found !== undefined) return valueOf(found);
			if (refusal !== undefined) throw refusal;
			if (leftOut.has(index)) return undefined;
			const { key } = asked.find((each) => each.index === index)!;
			const call = toSend.get(index);
			if (call === undefined) {
				const paid = await sentByKey.get(key);
				return paid && { ...paid, isReused: true };
			}
			const paid = sendCall(call, send).catch((error: unknown) => {
				if (!(error instanceof InputError) || sent.size === 0) throw error;
				const said = 'This item was not sent, others were';
				throw Object.assign(error, { hint: error.hint.replace('Nothing was sent', said) });
			});
			sentByKey.set(key, paid);
			return await paid;
		},
		/**
		 * Finds the answers whose task is that of another creation of this account. Their rows become `sent` again, as nobody knows
		 * whether the service has made a video for them.
		 *
		 * @returns Their errors by index of the item.
		 */
		async findForeign(): Promise<ReadonlyMap<number, Error>> {
			const errors = new Map<number, Error>();
			if (origin === undefined || tasks.size === 0) return errors;
			const rows = await writer!.flush({ find: oneOf('task_id', [...tasks.keys()]) });
			const ofAccount = rows.filter((row) => isOwn(row, account));
			const foreign: Row[] = [];
			for (const [taskId, { call, key, row: sentRow, ...sender }] of tasks) {
				const ofTask = ofAccount.filter((row) => row['task_id'] === taskId);
				const own = ofTask.filter((row) => row['call'] === call);
				const other = ofTask.find((row) => row['call'] !== call);
				if (other === undefined) continue;
				const error = taskOfOther(kind, taskId, [own[0] ?? sentRow, other]);
				const failure = toFailure(error, sender.retryOutcomeUnknown);
				for (const each of asked)
					if (each.call === call || (key !== '' && each.key === key))
						errors.set(each.index, fromSaved(failure));
				foreign.push(...own);
				log.keep({ ...toCall(kind, sentRow), isStored: true, failure });
			}
			const set = { status: 'sent', task_id: '' };
			await onLedger({ set, where: theseRows(foreign) }).catch(run.tell);
			return errors;
		},
		/** Writes what is left to the ledger. Call it however the run ends. */
		close: async () => {
			if (writer === undefined) return;
			await writer.flush();
			for (const { call } of asked) underWay.delete(call);
			const isLeft = [...claims.keys()].some(({ index }) => !sent.has(index));
			const steps = expiry(run.workflowId, writer.end(), Date.now());
			// A table that is full takes no rows, but gives them back.
			await onLedger(...(isLeft ? release(tokens) : []), ...steps).catch(run.tell);
		},
	};
}

/** Whether an item must not be sent: then a node that stops on errors sends nothing. */
function isRefusal<T>(known: Settled<Paid<T>>): known is { readonly error: InputError } {
	return 'error' in known && known.error instanceof InputError;
}
