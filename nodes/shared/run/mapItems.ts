import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { mapConcurrent } from '../../client/concurrency';
import { isCanceled } from '../../client/errors';
import { errorFacts, inOneLine, toNodeError } from './nodeErrors';
import { n8nClock } from './host';
import { isToolRun } from './nodeContext';

type NodeError = ReturnType<typeof toNodeError>;

/** How the items of a run are processed. */
export interface Batching {
	/** Maximum number of items that are processed at the same time. */
	readonly concurrency: number;
	/** Pause between batches of `concurrency` items in milliseconds; 0 means no batches. */
	readonly batchIntervalMs?: number;
}

export interface ItemOptions extends Batching {
	/** Describes the side effects of completed items (e.g. created task IDs); appended to the error that stops the node. */
	readonly describeCompleted?: (completed: readonly IDataObject[]) => string;
}

/**
 * Runs `work` once per input item and returns one output item each, in input order.
 *
 * With *On Error: Continue* a failed item becomes `{ error, message, details }`, the one shape that n8n sends to the error
 * output without losing the details. Otherwise the first failure stops the node. Canceling always stops it.
 *
 * @param readOptions Reads the options of the run, which `work` receives. An invalid one fails every item: n8n would pass the input on as a
 *   success if the node threw with *On Error: Continue*.
 */
export async function mapItems<O extends ItemOptions>(
	context: IExecuteFunctions,
	readOptions: () => O,
	work: (itemIndex: number, options: O) => Promise<INodeExecutionData>,
): Promise<INodeExecutionData[]> {
	const read = readResult(readOptions);
	if ('error' in read) {
		if (context.continueOnFail()) return failedItems(context, read.error);
		throw stoppingError(context, read.error);
	}
	const options: O = read.value;
	const { concurrency, batchIntervalMs = 0, describeCompleted = () => '' } = options;
	const clock = n8nClock(context);
	const completed: IDataObject[] = [];

	async function one(itemIndex: number): Promise<INodeExecutionData> {
		try {
			const result = await work(itemIndex, options);
			completed.push(result.json);
			return result;
		} catch (error) {
			const continues = context.continueOnFail() && !isCanceled(error);
			if (continues) return failedItem(context, error, itemIndex);
			throw toNodeError(context.getNode(), error, itemIndex);
		}
	}

	try {
		const results: INodeExecutionData[] = [];
		for (const batch of batches(
			context.getInputData().length,
			batchIntervalMs > 0 ? concurrency : Infinity,
		)) {
			if (results.length > 0) await clock.sleep(batchIntervalMs);
			results.push(...(await mapConcurrent(batch, concurrency, one)));
		}
		return results;
	} catch (error) {
		throw stoppingError(context, error, describeCompleted(completed));
	}
}

/** The indexes from 0 to `count` - 1 in batches of `size`. */
function batches(count: number, size: number): number[][] {
	const indexes = [...Array(count).keys()];
	if (count <= size) return [indexes];
	return Array.from({ length: Math.ceil(count / size) }, (_, batch) =>
		indexes.slice(batch * size, (batch + 1) * size),
	);
}

/** The JSON of a failed item, in the shape that survives n8n's error output. */
export function failureJson({ message, description }: NodeError, cause: unknown): IDataObject {
	return { error: message, message: description ?? message, details: errorFacts(cause) };
}

/** The output of a run in which every item fails with the same error. */
export function failedItems(context: IExecuteFunctions, error: unknown): INodeExecutionData[] {
	return context.getInputData().map((_item, index) => failedItem(context, error, index));
}

/**
 * The error that stops the node.
 *
 * @param note Appended to its description.
 */
export function stoppingError(context: IExecuteFunctions, error: unknown, note = ''): NodeError {
	const failure = withNote(toNodeError(context.getNode(), error, 0), note);
	return isToolRun(context) ? inOneLine(failure) : failure;
}

function readResult<T>(read: () => T): { readonly value: T } | { readonly error: unknown } {
	try {
		return { value: read() };
	} catch (error) {
		return { error };
	}
}

function failedItem(
	context: IExecuteFunctions,
	error: unknown,
	itemIndex: number,
): INodeExecutionData {
	return {
		json: failureJson(toNodeError(context.getNode(), error, itemIndex), error),
		pairedItem: { item: itemIndex },
	};
}

function withNote(error: NodeError, note: string): NodeError {
	if (note !== '') error.description = [error.description, note].filter(Boolean).join('. ');
	return error;
}
