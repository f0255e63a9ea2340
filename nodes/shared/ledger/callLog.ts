import type { IExecuteFunctions } from 'n8n-workflow';

import type { Settled } from '../../client/concurrency';
import { fromSaved, toSaved, type SavedError, type ServiceError } from '../../client/errors';
import { nodeState } from '../run/nodeContext';
import type { TableSchema } from './dataTable';
import type { EarlierCall } from './recognize';

/** A call with its outcome: a result, or a failure after which the service may have done the work. */
export interface KnownCall<T> extends EarlierCall {
	readonly call: string;
	readonly result?: T;
	readonly failure?: SavedError;
	/** What it asks for, in a line for errors. */
	readonly about: string;
	/** The execution that has read the call from the ledger. */
	readonly readBy?: string;
}

/** A result, and whether an earlier try or another execution has made the call. */
export interface Paid<T> {
	readonly result: T;
	readonly isReused: boolean;
}

/** The outcome of a known call. */
export function outcomeOf<T>(
	{ result, failure }: KnownCall<T>,
	isReused: boolean,
): Settled<Paid<T>> {
	return result === undefined ? { error: fromSaved(failure!) } : { value: { result, isReused } };
}

/** Calls in the node's state: n8n keeps it for Retry On Fail and for a saved execution. */
export interface CallLog<T> {
	known(): readonly KnownCall<T>[];
	/** Adds or replaces a call. */
	keep(call: KnownCall<T>): void;
	/** Removes a call that is sent again. */
	drop(call: KnownCall<T>): void;
}

const RUN_LOG = 'callLog';

interface StoredLog<T> {
	readonly run: number;
	readonly calls: Record<string, KnownCall<T>>;
}

/** The log of this run of the node, by item. The log of another run is dropped: each round of a loop has other items. */
export function runLog<T>(context: IExecuteFunctions, run: number): CallLog<T> {
	const state = nodeState<StoredLog<T>>(context, RUN_LOG);
	const stored = state.get();
	const { calls } = stored?.run === run ? stored : state.set({ run, calls: {} });
	return {
		known: () => Object.values(calls),
		keep: (call) => (calls[call.item] = call),
		drop: ({ item }) => Reflect.deleteProperty(calls, item),
	};
}

/**
 * The log of all calls of a tool whose outcome is unknown: neither Retry On Fail nor the model may send them again. Calls
 * with a result are not in it, because a model may want the same again.
 */
export function toolLog<T>(context: IExecuteFunctions): CallLog<T> {
	const state = nodeState<StoredLog<T>['calls']>(context, 'unknownCalls');
	const calls = state.get() ?? state.set({});
	return {
		// Nothing but the text tells them: a call of another text is another call.
		known: () =>
			Object.values(calls).map((call) => ({ ...call, key: call.fingerprint, run: -1 })),
		keep: (call) => call.failure && (calls[call.call] = call),
		drop: ({ call }) => Reflect.deleteProperty(calls, call),
	};
}

/** Clears the log of this run. Call it once all items have succeeded: no retry will follow. */
export function clearCallLog(context: IExecuteFunctions): void {
	nodeState(context, RUN_LOG).clear();
}

const WARNING =
	'Its result may exist and be charged, so the call is not sent again without the option Retry If Outcome Is Unknown';

/** The failure of a call that an earlier try has sent, and whose answer nobody has. */
export function interrupted({ name, columns }: TableSchema): SavedError {
	const rows = `rows of this execution with status "sent" in the data table ${name}`;
	const remedy =
		'task_id' in columns
			? `In the ${rows}, enter the task_id of each video that exists, and delete the other rows`
			: `To send calls again, delete their ${rows}`;
	return {
		kind: 'network',
		message: 'An earlier try was stopped after it had sent this call',
		advice: [WARNING, `Check with the service. ${remedy}. Then retry this execution`],
		details: { outcomeUnknown: true },
	};
}

/** The failure of a call whose outcome is unknown. */
export function toFailure(error: ServiceError): SavedError {
	return { ...toSaved(error), advice: [...error.advice, WARNING] };
}
