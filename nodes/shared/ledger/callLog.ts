import type { IExecuteFunctions } from 'n8n-workflow';

import { nodeState } from '../run/nodeContext';
import type { Call } from './call';

/** Calls in the node's state: n8n keeps it for Retry On Fail and for a saved execution. */
export type CallLog<T> = ReturnType<typeof callLog<T>>;

const RUN_LOG = 'callLog';

interface StoredLog<T> {
	readonly run: number | 'tool';
	readonly calls: Record<string, Call<T>>;
}

/**
 * The log of this run of the node. The log of another run is dropped: each round of a loop has other items.
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
		known: (): readonly Call<T>[] =>
			Object.values(calls).map((each) =>
				// Nothing but the text tells them: a call of another text is another call.
				isTool ? { ...each, key: each.fingerprint, run: -1 } : each,
			),
		/** Adds or replaces a call. */
		keep(call: Call<T>): void {
			if (!isTool || call.failure !== undefined) calls[call.call] = call;
		},
		/** Removes a call that is sent again. */
		drop({ call }: Call<T>): void {
			Reflect.deleteProperty(calls, call);
		},
	};
}

/** Clears the log of this run. Call it once all items have succeeded: no retry will follow. */
export function clearCallLog(context: IExecuteFunctions): void {
	nodeState(context, RUN_LOG).clear();
}
