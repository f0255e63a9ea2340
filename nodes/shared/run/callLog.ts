import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { ServiceError, type ErrorDetails, type ErrorKind } from '../../client/errors';
import { isUnclear } from '../../client/isUnclear';
import { isToolRun } from './isToolRun';

/** What came of the paid call of an item. */
interface PaidCall {
	/** What was asked for: something else is another call. */
	readonly request: string;
	readonly result?: IDataObject;
	/** A failure after which the service may have done the work all the same. */
	readonly failure?: {
		readonly kind: ErrorKind;
		readonly message: string;
		readonly remedy: string;
		readonly details: ErrorDetails;
	};
}

interface Ledger {
	/** Which run of the node in this execution: in a loop, the items of the next one are others. */
	readonly run: number;
	readonly calls: Record<string, PaidCall>;
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
 * @param sendAgain Whether a call that may have been carried out is to be sent again all the same.
 */
export async function payOnce<T extends object>(
	context: IExecuteFunctions,
	{
		item,
		request,
		sendAgain,
	}: { readonly item: number; readonly request: string; readonly sendAgain: boolean },
	call: () => Promise<T>,
): Promise<T> {
	if (isToolRun(context)) return await call();

	const { calls } = ledgerOf(context);
	const known = calls[item];
	if (known !== undefined && (known.request === request || context.getMode() !== 'retry')) {
		if (known.result !== undefined) return known.result as T;
		if (known.failure !== undefined && !sendAgain) throw revived(known.failure);
	}
	const result = await call().catch((error: unknown) => {
		if (!isUnclear(error)) throw error;
		const failure = kept(error);
		calls[item] = { request, failure };
		throw revived(failure);
	});
	calls[item] = { request, result: result as IDataObject };
	return result;
}

/** Forgets the calls of this run: every item has what it paid for, and nothing will be retried. */
export function closeLedger(context: IExecuteFunctions): void {
	context.getContext('node')[KEY] = undefined as never;
}

function ledgerOf(context: IExecuteFunctions): Ledger {
	const node = context.getContext('node');
	const run = context.getWorkflowDataProxy(0).$runIndex;
	const known = node[KEY] as Ledger | undefined;
	if (known?.run !== run) node[KEY] = { run, calls: {} };
	return node[KEY] as Ledger;
}

function kept({ kind, message, remedy, details }: ServiceError): NonNullable<PaidCall['failure']> {
	const { cause, ...plain } = details;
	return { kind, message, remedy: `${remedy}. ${WARNING}`, details: plain };
}

function revived({
	kind,
	message,
	remedy,
	details,
}: NonNullable<PaidCall['failure']>): ServiceError {
	return new ServiceError(kind, message, remedy, details);
}
