import type { IExecuteFunctions } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { isToolRun } from '../shared/run/nodeContext';
import { nodeState } from '../shared/run/nodeState';
import { roundCost, type PlannedVideo } from './plan';

/** What this node has sent in this execution, in all its runs. A creation that certainly failed is not in it. */
interface Spent {
	readonly videos: number;
	/** Sum of the estimated costs. */
	readonly cost: number;
	/** The execution in which counting began: an earlier one if n8n has kept the state of the node for a retry. */
	readonly execution: string;
}

/** The limits of an execution, each with the sum that it holds for, and the words of its error. */
const LIMITS = [
	['maximumVideos', 'videos', 'Maximum Videos', 'create', 'created'],
	['maximumCost', 'cost', 'Maximum Cost', 'cost', 'cost'],
] as const;

/**
 * Checks the limits for all videos that a run would create. Where the items have different limits the smallest holds.
 *
 * @throws InputError when they would exceed a limit, or when Maximum Cost is set and a cost is unknown.
 */
export function checkLimits(context: IExecuteFunctions, videos: readonly PlannedVideo[]): void {
	const spent = spentState(context).get() ?? { videos: 0, cost: 0 };
	const added = sumOf(videos);
	for (const [option, sum, label, would, has] of LIMITS) {
		const limits = videos.map(({ options }) => options[option]).filter((limit) => limit > 0);
		if (limits.length === 0) continue;
		if (option === 'maximumCost') videos.forEach(checkCostKnown);
		const limit = Math.min(...limits);
		if (roundCost(spent[sum] + added[sum]) <= limit) continue;
		throw new InputError(
			label,
			`is ${limit}. This run would ${would} ${added[sum]}, and this execution has ${has} ${spent[sum]} so far`,
			isToolRun(context)
				? 'Create no more videos now, and tell the user'
				: `Nothing was sent. Use fewer items, or raise ${label}`,
		);
	}
}

/**
 * Checks that the estimated cost is known, as Maximum Cost needs it.
 *
 * @throws InputError that says what is missing.
 */
export function checkCostKnown({ estimatedCost, options }: PlannedVideo): void {
	if (estimatedCost !== undefined) return;
	if (options.pricePerSecond === 0) {
		throw new InputError(
			'Price per Second',
			'is not set',
			'Maximum Cost needs it: add the option with a price above 0 for every item, or remove Maximum Cost',
		);
	}
	throw new InputError(
		'Maximum Cost',
		'cannot be checked: the length of the video is unknown',
		'Enter a Duration for a model that is not in the list. A video to edit keeps its own length: create it without Maximum Cost',
	);
}

/**
 * Counts videos as sent. Call it right after `checkLimits`, so that no other tool run comes in between.
 *
 * @param sign -1 takes back videos that were counted but certainly not created.
 */
export function countSpent(
	context: IExecuteFunctions,
	videos: readonly PlannedVideo[],
	sign: 1 | -1 = 1,
): void {
	const state = spentState(context);
	const execution = context.getExecutionId();
	const spent = state.get() ?? { videos: 0, cost: 0, execution };
	const added = sumOf(videos);
	state.set({
		videos: spent.videos + sign * added.videos,
		cost: roundCost(spent.cost + sign * added.cost),
		execution: spent.execution,
	});
}

/** Counts videos of earlier tries, unless the state that n8n has kept of these has them. */
export function countEarlier(context: IExecuteFunctions, videos: readonly PlannedVideo[]): void {
	const { execution } = spentState(context).get() ?? {};
	if (execution === undefined || execution === context.getExecutionId())
		countSpent(context, videos);
}

function spentState(context: IExecuteFunctions) {
	return nodeState<Spent>(context, 'spent');
}

function sumOf(videos: readonly PlannedVideo[]): Omit<Spent, 'execution'> {
	const cost = videos.reduce((sum, { estimatedCost = 0 }) => sum + estimatedCost, 0);
	return { videos: videos.length, cost: roundCost(cost) };
}
