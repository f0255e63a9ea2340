import type { IExecuteFunctions } from 'n8n-workflow';

import { InputError, isOutcomeUnknown } from '../client/errors';
import { isToolRun } from '../shared/run/nodeContext';
import { nodeState } from '../shared/run/nodeState';
import { maximumVideosOption } from './options';

/**
 * Creates a video unless the agent has reached Maximum Videos in this execution. A creation that certainly failed does
 * not count.
 *
 * @throws InputError when the limit is reached; its text is for the model.
 */
export async function withinMaximumVideos<T>(
	context: IExecuteFunctions,
	itemIndex: number,
	create: () => Promise<T>,
): Promise<T> {
	if (!isToolRun(context)) return await create();

	const max = maximumVideosOption.read(context, itemIndex);
	const state = nodeState<number>(context, 'createdByAgent');
	const created = () => state.get() ?? 0;
	if (created() >= max) {
		throw new InputError(
			'Maximum Videos',
			`is ${max}, and this execution has already created that many`,
			'Create no more videos now, and tell the user',
		);
	}
	state.set(created() + 1);
	return await create().catch((error: unknown) => {
		if (!isOutcomeUnknown(error)) state.set(created() - 1);
		throw error;
	});
}
