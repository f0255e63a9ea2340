import type { Settled } from '../../client/concurrency';
import type { Row, Step } from '../engine/dataTable';
import { isRest, placeOfItem } from '../engine/rest';
import type { Run } from '../run/run';
import {
	callId,
	toCall,
	type AskedCall,
	type CallKind,
	type Paid,
	type PaidCall,
	type PlannedCall,
} from './call';
import { hashOf, originOf, type Recognition } from './identity';
import { TASK_TABLE } from './taskTable';

/** One run of a node that makes paid calls: what its parts share. */
export type CallRun<T> = Awaited<ReturnType<typeof callRun<T>>>;

/** Reads what identifies this run and its calls. */
export async function callRun<T>(
	run: Run,
	kind: CallKind<T>,
	planned: readonly PlannedCall[],
	isOn: boolean,
) {
	const { context, isTool } = run;
	/** Undefined where the ledger is off. */
	const origin = isOn ? await originOf(context) : undefined;
	const isRetry = origin?.isRetry === true;
	const hasPlace = !isTool && origin?.hasPosition !== false;
	const recognition: Recognition = !hasPlace ? 'hash' : isRest(context) ? 'place' : 'all';
	const caller = origin && {
		workflow_id: run.workflowId,
		workflow_name: context.getWorkflow().name ?? '',
		execution_id: origin.root,
		node: run.node.name,
		origin: origin.origin,
		account: run.service().account,
	};
	const asked = planned.map((each): AskedCall => {
		const { place, entered } = each;
		const hash = hashOf(entered);
		const { own = '', called = '' } = origin ?? {};
		const call = callId({ run: hasPlace ? place.run : -1, hash, own, called });
		const row: Row = { ...each.row, ...caller, call, item: place.item };
		const known = toCall(kind, row);
		return { ...each, ...known, row, lock: lockOf(row, isRetry) };
	});
	return {
		...run,
		kind,
		asked,
		/** The outcomes that are known before anything is sent, by index. */
		known: new Map<number, Settled<Paid<T>>>(),
		/** The calls that are to be sent again, by the ID of the earlier one: its row and log entry stay until the new one may exist. */
		sentAgain: new Map<string, AskedCall>(),
		log: callLog<T>(run, isTool ? 'tool' : (planned[0]?.place.run ?? 0)),
		origin,
		isRetry,
		recognition,
		/** The first run of this node whose calls a retry repeats: n8n has kept those before, as they succeeded. */
		firstRun: recognition === 'all' ? savedRuns(run) : -1,
		account: caller?.account ?? '',
		onLedger: async (...steps: readonly Step[]) => await run.onTable(TASK_TABLE, ...steps),
		/** Says that the ledger could not be written. */
		tell: (error: unknown) => {
			run.mention(`The ledger is not written. ${(error as Error).message}`);
		},
	};
}

/**
 * What a row locks: of the calls with the same one at most one is sent. A key locks its workflow. Two retries of an execution
 * at the same moment lock their calls by place and hash.
 */
export function lockOf(row: Row, isRetry: boolean): string {
	const key = String(row['idempotency_key'] ?? '');
	if (key !== '') return `key ${key}`;
	const [run, hash] = String(row['call']).split(' ');
	return isRetry ? [run, row['item'], hash].join(' ') : '';
}

/** How many runs of this node n8n had kept when this execution began. */
function savedRuns(run: Run): number {
	const state = run.state<{ execution: string; runs: number }>('savedRuns');
	const execution = run.context.getExecutionId();
	const stored = state.get();
	if (stored?.execution === execution) return stored.runs;
	return state.set({ execution, runs: run.index }).runs;
}

/** The state with the log of a run. */
const logState = <T>({ state }: Run, index: number | 'tool') =>
	state<Record<string, PaidCall<T>>>(`callLog ${index}`);

/**
 * The log of this run in the node's state, which n8n keeps for *Retry On Fail* and saves with the execution.
 *
 * @param index Index of the run; `tool` for all calls of a tool that have failed and may be paid for: neither Retry On Fail
 *   nor the model may send them again. The others are not in it, because a model may want the same again.
 */
export function callLog<T>(run: Run, index: number | 'tool') {
	const isTool = index === 'tool';
	const state = logState<T>(run, index);
	const calls = state.get() ?? state.set({});
	return {
		calls: (): readonly PaidCall<T>[] => Object.values(calls),
		/** Adds or replaces a call, which has failed if its item does not take the result. */
		keep(call: PaidCall<T>, hasFailed = call.failure !== undefined): void {
			if (!isTool || hasFailed) calls[call.call] = call;
		},
		/** Removes a call that is sent again, or has another ID now. */
		drop(call: string): void {
			Reflect.deleteProperty(calls, call);
		},
	};
}

/** Clears the log of this run. Call it once all items have succeeded: no retry will follow. */
export function clearCallLog(run: Run): void {
	logState(run, placeOfItem(run.context, 0).run).clear();
}
