import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { mapConcurrent } from '../client/concurrency';
import { ServiceError } from '../client/errors';
import { errorFacts, toNodeError } from './errors';

export interface ItemOptions {
	/** Items under way at once, at most. */
	readonly concurrency: number;
	/** Tells, for the error that stops the node, what the items before it have left behind at the service. */
	readonly describeDone?: (done: readonly IDataObject[]) => string;
}

/**
 * Runs `work` once per input item and gives one output item each, in the order of the input.
 *
 * With *Continue On Fail* a failed item becomes `{ error, message, details }`, the one form that n8n sends to the
 * error output without losing the details. Otherwise the first failure stops the node.
 */
export async function mapItems(
	context: IExecuteFunctions,
	{ concurrency, describeDone = () => '' }: ItemOptions,
	work: (itemIndex: number) => Promise<INodeExecutionData>,
): Promise<INodeExecutionData[]> {
	const done: IDataObject[] = [];

	async function one(itemIndex: number): Promise<INodeExecutionData> {
		const result = await work(itemIndex);
		done.push(result.json);
		return result;
	}

	try {
		return await mapConcurrent(
			context.getInputData(),
			concurrency,
			async (_item, itemIndex) => {
				try {
					return await one(itemIndex);
				} catch (error) {
					if (context.continueOnFail() && !isCancelled(error))
						return failedItem(context, error, itemIndex);
					throw toNodeError(context.getNode(), error, itemIndex);
				}
			},
		);
	} catch (error) {
		throw withNote(toNodeError(context.getNode(), error, 0), describeDone(done));
	}
}

function isCancelled(error: unknown): boolean {
	return error instanceof ServiceError && error.kind === 'cancelled';
}

function failedItem(
	context: IExecuteFunctions,
	error: unknown,
	itemIndex: number,
): INodeExecutionData {
	const { message, description } = toNodeError(context.getNode(), error, itemIndex);
	return {
		json: { error: message, message: description ?? message, details: errorFacts(error) },
		pairedItem: { item: itemIndex },
	};
}

function withNote<E extends ReturnType<typeof toNodeError>>(error: E, note: string): E {
	if (note !== '') error.description = [error.description, note].filter(Boolean).join('. ');
	return error;
}
