import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { InputError, isOutcomeUnknown } from '../client/errors';
import { isToolRun } from '../shared/run/nodeContext';
import { inTools } from '../shared/form/fromAi';

const KEY = 'createdByAgent';
const DEFAULT_MAXIMUM = 5;

/** Limits the videos that an agent may create in one execution. */
export const toolLimitOption: INodeProperties = inTools({
	displayName: 'Maximum Videos',
	name: 'maximumVideos',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: DEFAULT_MAXIMUM,
	description:
		'How many videos the agent may create in one execution, as each of them costs money',
});

/**
 * Calls `create` unless the agent has reached its limit of videos in this execution. A video that was certainly not
 * created does not count.
 *
 * @throws InputError when the limit is reached; its text is for the model.
 */
export async function withinToolLimit<T>(
	context: IExecuteFunctions,
	itemIndex: number,
	create: () => Promise<T>,
): Promise<T> {
	if (!isToolRun(context)) return await create();

	const option = context.getNodeParameter('options.maximumVideos', itemIndex, DEFAULT_MAXIMUM);
	const maximum = Number(option) || DEFAULT_MAXIMUM;
	const node = context.getContext('node');
	const created = () => (node[KEY] ?? 0) as number;
	if (created() >= maximum) {
		throw new InputError(
			'Maximum Videos',
			`is ${maximum}, and this execution has already created that many`,
			'Create no more videos now, and tell the user',
		);
	}
	node[KEY] = created() + 1;
	return await create().catch((error: unknown) => {
		if (!isOutcomeUnknown(error)) node[KEY] = created() - 1;
		throw error;
	});
}
