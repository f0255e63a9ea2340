import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { InputError, isOutcomeUnknown } from '../client/errors';
import { isToolRun } from '../shared/run/nodeContext';
import { nodeState } from '../shared/run/nodeState';
import { inTools } from '../shared/form/fromAi';

const MOST = 5;

/** How many videos an agent may have made. */
export const toolLimitOption: INodeProperties = inTools({
	displayName: 'Maximum Videos',
	name: 'maximumVideos',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: MOST,
	description:
		'How many videos the agent may create in one execution, as each of them costs money',
});

/**
 * Makes a video, unless the agent has had as many made in this execution as it may. What has certainly not been created
 * does not count.
 *
 * @throws InputError when the limit is reached; its words are for the model.
 */
export async function withinToolLimit<T>(
	context: IExecuteFunctions,
	itemIndex: number,
	create: () => Promise<T>,
): Promise<T> {
	if (!isToolRun(context)) return await create();

	const most = Number(context.getNodeParameter('options.maximumVideos', itemIndex, MOST)) || MOST;
	const state = nodeState<number>(context, 'createdByAgent');
	const created = () => state.get() ?? 0;
	if (created() >= most) {
		throw new InputError(
			'Maximum Videos',
			`is ${most}, and so many have been created already`,
			'Create no more of them now, and say so',
		);
	}
	state.set(created() + 1);
	return await create().catch((error: unknown) => {
		if (!isOutcomeUnknown(error)) state.set(created() - 1);
		throw error;
	});
}
