import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { PollSchedule } from '../client/video/poll/schedule';

/** When to ask for a task, within the guidance of the service: every 5 to 10 seconds, at most 10 minutes (spec 3.1). */
export const pollOptions: INodeProperties[] = [
	{
		displayName: 'Jitter (Percent)',
		name: 'jitter',
		type: 'number',
		typeOptions: { minValue: 0, maxValue: 50 },
		default: 10,
		description:
			'Percent by which intervals vary, so that videos created together are not asked for together. They stay between the shortest and the longest interval.',
	},
	{
		displayName: 'Longest Interval (Seconds)',
		name: 'longestInterval',
		type: 'number',
		typeOptions: { minValue: 5, maxValue: 10 },
		default: 10,
		description: 'Seconds that the interval between two queries for a video grows to',
	},
	{
		displayName: 'Maximum Wait (Minutes)',
		name: 'maximumWait',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 10 },
		default: 10,
		description: 'Minutes after which a video that is not finished counts as failed',
	},
	{
		displayName: 'Queries at Once',
		name: 'queries',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 50 },
		default: 10,
		description: 'How many queries are under way side by side, at most',
	},
	{
		displayName: 'Shortest Interval (Seconds)',
		name: 'shortestInterval',
		type: 'number',
		typeOptions: { minValue: 5, maxValue: 10 },
		default: 5,
		description: 'Seconds between the first query for a video and the second',
	},
];

/** What the poll options ask for: those of the first item serve all. */
export function readPolling(context: IExecuteFunctions): {
	readonly schedule: PollSchedule;
	readonly concurrency: number;
} {
	const option = (name: string, fallback: number, low: number, high: number) => {
		const value = Number(context.getNodeParameter(`options.${name}`, 0, fallback));
		return Math.min(high, Math.max(low, Number.isFinite(value) ? value : fallback));
	};
	const firstMs = option('shortestInterval', 5, 5, 10) * 1000;
	return {
		schedule: {
			firstMs,
			maxMs: Math.max(firstMs, option('longestInterval', 10, 5, 10) * 1000),
			timeoutMs: option('maximumWait', 10, 0, 10) * 60_000,
			jitter: option('jitter', 10, 0, 50) / 100,
		},
		concurrency: Math.floor(option('queries', 10, 1, 50)),
	};
}
