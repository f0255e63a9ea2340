import type { INodeProperties } from 'n8n-workflow';

import type { Batching } from '../run/mapItems';
import type { NodeContext } from '../run/nodeContext';
import { numberOption } from './options';

const concurrencyOption = numberOption({
	name: 'concurrency',
	label: 'Concurrency',
	help: 'Maximum number of items that are processed at the same time',
	default: 5,
	min: 1,
	max: 100,
	integer: true,
});

const batchIntervalOption = numberOption({
	name: 'batchInterval',
	label: 'Batch Interval',
	unit: 'Milliseconds',
	help: 'Pause between batches, for a service with a rate limit. A batch has as many items as Concurrency says.',
	default: 0,
	min: 0,
});

/** Concurrency alone, for a node that cannot pause between batches. */
export const concurrencyProperty: INodeProperties = concurrencyOption.property;

/** How many items are processed at the same time, and the pause between batches. */
export const batchProperties: INodeProperties[] = [
	concurrencyOption.property,
	batchIntervalOption.property,
];

/**
 * The batch options of a run. n8n evaluates them for the first item, and they apply to all.
 *
 * @throws InputError when one of them is out of range.
 */
export function readBatching(context: NodeContext): Batching {
	return {
		concurrency: concurrencyOption.read(context, 0),
		batchIntervalMs: batchIntervalOption.read(context, 0),
	};
}
