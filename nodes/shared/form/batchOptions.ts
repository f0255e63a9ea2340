import type { Batching } from '../run/mapItems';
import type { NodeContext } from '../run/nodeContext';
import { countOption, numberOption, optionGroup, readOptions } from './options';

export const itemConcurrency = countOption('Concurrency', {
	help: 'Maximum number of items that are processed at the same time',
	default: 5,
	max: 100,
});

/** How many items are processed at the same time, and the pause between batches. */
export const batching = optionGroup('Batching', 'batching', {
	concurrency: itemConcurrency,
	batchInterval: numberOption('Batch Interval', {
		unit: 'Milliseconds',
		help: 'Pause between batches, for a service with a rate limit. A batch has as many items as Concurrency says.',
		default: 0,
	}),
});

/**
 * The batch options of a run. n8n evaluates them for the first item, and they apply to all.
 *
 * @throws InputError when one of them is out of range.
 */
export function readBatching(context: NodeContext): Batching {
	return readOptions(batching.options, context, 0);
}
