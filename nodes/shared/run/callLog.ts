import type { IExecuteFunctions } from 'n8n-workflow';

import {
	isOutcomeUnknown,
	ServiceError,
	type ErrorDetails,
	type ErrorKind,
} from '../../client/errors';
import { isToolRun } from './nodeContext';
import { nodeState, type NodeState } from './nodeState';

/** A `ServiceError` as plain JSON, so that it can be saved with the execution. */
interface SavedFailure {
	readonly kind: ErrorKind;
	readonly message: string;
	readonly hint: string;
	readonly details: ErrorDetails;
}

/** The outcome of an item's paid call: its result, or a failure after which the service may have done the work. */
interface LoggedCall {
	/** Identifies the call: a different key is a different call. */
	readonly request: string;
	readonly result?: object;
	readonly failure?: SavedFailure;
}

interface CallLog {
	/** Run index of the node in this execution: each round of a loop has other items. */
	readonly run: number;
	/** By item index. */
	readonly calls: Record<string, LoggedCall>;
}

const WARNING =
	'The service may have processed and charged the call, so it is not retried automatically';

export interface CallOnceOptions {
	/** Index of the item. */
	readonly item: number;
	/** Identifies the call. After a user retried an execution with other values it differs: then the call is sent. */
	readonly request: string;
	/** Whether to send a call again whose outcome is unknown. */
	readonly retryOutcomeUnknown: boolean;
}

/**
 * Makes the paid call of an item at most once. *Retry On Fail* runs the whole node again for all items: results that are
 * paid for are then read from the call log, and a call whose outcome is unknown fails again without being sent.
 *
 * A tool run takes no log: the agent decides itself which calls to repeat.
 *
 * @throws ServiceError as `call`, with a warning in its hint when the outcome is unknown.
 */
export async function callOnce<T extends object>(
	context: IExecuteFunctions,
	{ item, request, retryOutcomeUnknown }: CallOnceOptions,
	call: () => Promise<T>,
): Promise<T> {
	if (isToolRun(context)) return await call();

	const { calls } = currentCallLog(context);
	const logged = calls[item];
	if (logged !== undefined && (logged.request === request || context.getMode() !== 'retry')) {
		if (logged.result !== undefined) return logged.result as T;
		if (logged.failure !== undefined && !retryOutcomeUnknown) throw toError(logged.failure);
	}
	const result = await call().catch((error: unknown) => {
		if (!isOutcomeUnknown(error)) throw error;
		const failure = toFailure(error);
		calls[item] = { request, failure };
		throw toError(failure);
	});
	calls[item] = { request, result };
	return result;
}

/** Clears the log. Call it once all items have succeeded: no retry will follow. */
export function clearCallLog(context: IExecuteFunctions): void {
	callLog(context).clear();
}

/** The log of this run of the node; an empty one if the stored log is of another run. */
function currentCallLog(context: IExecuteFunctions): CallLog {
	const state = callLog(context);
	const run = context.getWorkflowDataProxy(0).$runIndex as number;
	const stored = state.get();
	if (stored?.run === run) return stored;
	return state.set({ run, calls: {} });
}

function callLog(context: IExecuteFunctions): NodeState<CallLog> {
	return nodeState(context, 'callLog');
}

function toFailure({ kind, message, hint, details }: ServiceError): SavedFailure {
	const { cause, ...plain } = details;
	return { kind, message, hint: `${hint}. ${WARNING}`, details: plain };
}

function toError({ kind, message, hint, details }: SavedFailure): ServiceError {
	return new ServiceError(kind, message, hint, details);
}
