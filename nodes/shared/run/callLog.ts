import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import {
	isOutcomeUnknown,
	ServiceError,
	type ErrorDetails,
	type ErrorKind,
} from '../../client/errors';
import { isToolRun } from './nodeContext';

/** What came of the paid call of an item. */
interface LoggedCall {
	/** What was asked for: something else is another call. */
	readonly request: string;
	readonly result?: IDataObject;
	/** A failure after which the service may have done the work all the same. */
	readonly failure?: {
		readonly kind: ErrorKind;
		readonly message: string;
		readonly hint: string;
		readonly details: ErrorDetails;
	};
}

interface CallLog {
	/** Which run of the node in this execution: in a loop, the items of the next one are others. */
	readonly run: number;
	readonly calls: Record<string, LoggedCall>;
}

const KEY = 'paidCalls';
const WARNING = 'The call may have been carried out and charged, so it is not sent again by itself';

/**
 * Makes the paid call of an item, once. *Retry On Fail* runs the whole node again for all its items: what was paid for
 * is then taken from the node's context, and a call that may have been carried out fails again without being sent.
 *
 * An agent that runs the node as its tool decides itself what to ask for again.
 *
 * @param request Names what is asked for. A person who retries an execution may have changed it: that is another call.
 * @param retryOutcomeUnknown Whether a call that may have been carried out is to be sent again all the same.
 */
export async function callOnce<T extends object>(
	context: IExecuteFunctions,
	{
		item,
		request,
		retryOutcomeUnknown,
	}: { readonly item: number; readonly request: string; readonly retryOutcomeUnknown: boolean },
	call: () => Promise<T>,
): Promise<T> {
	if (isToolRun(context)) return await call();

	const { calls } = callLogOf(context);
	const known = calls[item];
	if (known !== undefined && (known.request === request || context.getMode() !== 'retry')) {
		if (known.result !== undefined) return known.result as T;
		if (known.failure !== undefined && !retryOutcomeUnknown) throw revived(known.failure);
	}
	const result = await call().catch((error: unknown) => {
		if (!isOutcomeUnknown(error)) throw error;
		const failure = kept(error);
		calls[item] = { request, failure };
		throw revived(failure);
	});
	calls[item] = { request, result: result as IDataObject };
	return result;
}

/** Forgets the calls of this run: every item has what it paid for, and nothing will be retried. */
export function clearCallLog(context: IExecuteFunctions): void {
	context.getContext('node')[KEY] = undefined as never;
}

function callLogOf(context: IExecuteFunctions): CallLog {
	const node = context.getContext('node');
	const run = context.getWorkflowDataProxy(0).$runIndex as number;
	const known = node[KEY] as CallLog | undefined;
	if (known?.run !== run) node[KEY] = { run, calls: {} };
	return node[KEY] as CallLog;
}

function kept({ kind, message, hint, details }: ServiceError): NonNullable<LoggedCall['failure']> {
	const { cause, ...plain } = details;
	return { kind, message, hint: `${hint}. ${WARNING}`, details: plain };
}

function revived({
	kind,
	message,
	hint,
	details,
}: NonNullable<LoggedCall['failure']>): ServiceError {
	return new ServiceError(kind, message, hint, details);
}
