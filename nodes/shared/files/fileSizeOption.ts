import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { readText } from '../run/parameters';

/** How large a downloaded file may be. */
export const fileSizeOption: INodeProperties = {
	displayName: 'Maximum File Size (MB)',
	name: 'maximumFileSize',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 0,
	description: 'Megabytes that a file may have; 0 for any size. Larger ones are not kept.',
};

/** Bytes that a file of the item may have; 0 for any number. */
export function readMaxBytes(context: IExecuteFunctions, itemIndex: number): number {
	const megabytes = Number(readText(context, 'options.maximumFileSize', itemIndex)) || 0;
	return Math.max(0, megabytes) * 1_000_000;
}
