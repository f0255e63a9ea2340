import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { PollSchedule } from '../client/video/wait';

/** When to ask for a task, within the guidance of the service: every 5 to 10 seconds, at most 10 minutes (spec 3.1). */
export const pollOptions: INodeProperties[] = [
	{
		displayName: 'Longest Interval',
		name: 'longestInterval',
		type: 'number',
		typeOptions: { minValue: 5, maxValue: 10 },
		default: 10,
		description: 'Seconds that the interval between two queries grows to',
	},
	{
		displayName: 'Maximum Wait',
		name: 'maximumWait',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 10 },
		default: 10,
		description: 'Minutes after which a video that is not finished leaves through Failed',
	},
	{
		displayName: 'Shortest Interval',
		name: 'shortestInterval',
		type: 'number',
		typeOptions: { minValue: 5, maxValue: 10 },
		default: 5,
		description: 'Seconds between the first query for a video and the second',
	},
];

/** The schedule that the options of the first item ask for: one schedule serves all items. */
export function readSchedule(context: IExecuteFunctions): PollSchedule {
	const option = (name: string, fallback: number, low: number, high: number) => {
		const value = Number(context.getNodeParameter(`options.${name}`, 0, fallback));
		return Math.min(high, Math.max(low, Number.isFinite(value) ? value : fallback));
	};
	const firstMs = option('shortestInterval', 5, 5, 10) * 1000;
	const maxMs = Math.max(firstMs, option('longestInterval', 10, 5, 10) * 1000);
	return { firstMs, maxMs, limitMs: option('maximumWait', 10, 0, 10) * 60_000 };
}
