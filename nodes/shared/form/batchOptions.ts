import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

export interface Batching {
	/** Items under way at once, at most. */
	readonly concurrency: number;
	/** Milliseconds to wait after so many items before the next ones start; 0 lets them follow one another. */
	readonly pauseMs: number;
}

/** How many items are worked on at once, and how fast they follow one another. */
export const batchOptions: INodeProperties[] = [
	{
		displayName: 'Items at Once',
		name: 'concurrency',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 100 },
		default: 5,
		description: 'How many items are sent to the service side by side, at most',
	},
	{
		displayName: 'Batch RateLimitCooldown (Milliseconds)',
		name: 'pause',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 0,
		description:
			'Milliseconds to wait before the next items start, for a service that limits how often it may be called',
	},
];

/** What the pace options ask for: those of the first item serve all. */
export function readBatching(context: IExecuteFunctions): Batching {
	const option = (name: string, fallback: number) =>
		Number(context.getNodeParameter(`options.${name}`, 0, fallback));
	return {
		concurrency: Math.max(1, Math.floor(option('concurrency', 5)) || 1),
		pauseMs: Math.max(0, option('pause', 0) || 0),
	};
}
