import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { mapConcurrent, readResult, slices, valueOf } from '../../client/concurrency';
import { isCanceled } from '../../client/errors';
import { eventLoopTurn } from '../engine/context';
import { failureJson, stoppingError, toNodeError } from './nodeErrors';
import type { Run } from './run';

/** How the items of a run are processed. */
export interface ItemOptions {
	/** Maximum number of items that are processed at the same time. */
	readonly concurrency: number;
	/** Pause between batches of `concurrency` items in milliseconds; 0 means no batches. */
	readonly batchInterval?: number;
	/** Whether an item will send something: there is no pause before a batch of others; default: yes. */
	readonly sends?: (itemIndex: number) => boolean;
	/** Describes the side effects of completed items (e.g. created task IDs); appended to the error that stops the node. */
	readonly describeCompleted?: (completed: readonly IDataObject[]) => string;
	/** Whether the others go on after this error of an item, and then the node fails; default: no. */
	readonly goesOn?: (itemIndex: number, error: unknown) => boolean;
	/** Whether a failed item has all details, which the visitor of a chat must not read; default: outside of chats. */
	readonly hasDetails?: (itemIndex: number) => boolean;
}

/**
 * Runs `work` once per input item and returns one output item each, in input order.
 *
 * With *On Error: Continue* a failed item becomes `{ error, message, details }`, the one shape that n8n sends to the error
 * output without losing the details; in a chat without them. Otherwise the first failure stops the node, see `goesOn`. Canceling always stops it.
 *
 * @param readOptions Reads the options of the run, which `work` receives. An invalid one fails every item: n8n would pass the input on as a
 *   success if the node threw with *On Error: Continue*.
 */
export async function mapItems<O extends ItemOptions>(
	run: Run,
	readOptions: () => O,
	work: (itemIndex: number, options: O) => Promise<INodeExecutionData>,
): Promise<INodeExecutionData[]> {
	const options = readResult(readOptions);
	const read: ItemOptions = 'value' in options ? options.value : { concurrency: 1 };
	const { concurrency, batchInterval = 0, describeCompleted = () => '' } = read;
	const { hasDetails, goesOn = () => false, sends = () => true } = read;
	const completed: IDataObject[] = [];
	const failures: Error[] = [];

	async function one(itemIndex: number): Promise<INodeExecutionData> {
		try {
			const result = await work(itemIndex, valueOf(options));
			completed.push(result.json);
			return result;
		} catch (error) {
			const isOwn = 'value' in options;
			const failure = toNodeError(run, error, isOwn ? itemIndex : undefined);
			if (!run.continuesOnFail() || isCanceled(error)) {
				if (!goesOn(itemIndex, error)) throw failure;
				failures.push(failure);
				return { json: {} };
			}
			const details = readResult(() => hasDetails?.(itemIndex));
			const hasAll = 'value' in details && details.value;
			const json = failureJson(run, failure, error, hasAll);
			return { json, pairedItem: { item: itemIndex } };
		}
	}

	try {
		const results: INodeExecutionData[] = [];
		const indexes = [...run.items().keys()];
		let hasSent = false;
		for (const batch of slices(indexes, batchInterval > 0 ? concurrency : indexes.length)) {
			const isSending = batch.some((index) => sends(index));
			if (isSending && hasSent) await run.clock.sleep(batchInterval);
			hasSent ||= isSending;
			results.push(...(await mapConcurrent(batch, concurrency, one, eventLoopTurn)));
		}
		if (failures.length > 0) throw failures[0]!;
		return results;
	} catch (error) {
		throw stoppingError(run, error, describeCompleted(completed));
	}
}
