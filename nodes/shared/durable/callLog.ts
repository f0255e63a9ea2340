import type { IExecuteFunctions } from 'n8n-workflow';

import { nodeState } from '../run/nodeContext';
import type { PaidCall } from './call';

const RUN_LOG = 'callLog';

interface StoredLog<T> {
	readonly run: number | 'tool';
	readonly calls: Record<string, PaidCall<T>>;
}

/**
 * The log of this run in the node's state, which n8n keeps for *Retry On Fail* and saves with the execution. The log of
 * another run is dropped: each round of a loop has other items.
 *
 * @param run Index of the run; `tool` for all calls of a tool whose outcome is unknown: neither Retry On Fail nor the model
 *   may send them again. Calls with a result are not in it, because a model may want the same again.
 */
export function callLog<T>(context: IExecuteFunctions, run: number | 'tool') {
	const isTool = run === 'tool';
	const state = nodeState<StoredLog<T>>(context, isTool ? 'unknownCalls' : RUN_LOG);
	const stored = state.get();
	const { calls } = stored?.run === run ? stored : state.set({ run, calls: {} });
	return {
		known: (): readonly PaidCall<T>[] => Object.values(calls),
		/** Adds or replaces a call. */
		keep(call: PaidCall<T>): void {
			if (!isTool || call.failure !== undefined) calls[call.call] = call;
		},
		/** Removes a call that is sent again. */
		drop({ call }: PaidCall<T>): void {
			Reflect.deleteProperty(calls, call);
		},
	};
}

/** Clears the log of this run. Call it once all items have succeeded: no retry will follow. */
export function clearCallLog(context: IExecuteFunctions): void {
	nodeState(context, RUN_LOG).clear();
}
