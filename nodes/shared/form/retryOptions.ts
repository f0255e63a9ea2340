import type { INodeProperties } from 'n8n-workflow';

import type { RetryPolicy } from '../../client/http/retry';
import type { NodeContext } from '../run/nodeContext';

const DEFAULT_RETRIES = 2;

/** How often a call is repeated that the service has certainly not carried out. */
export const retriesOption: INodeProperties = {
	displayName: 'Retries',
	name: 'retries',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 10 },
	default: DEFAULT_RETRIES,
	description:
		'How often a call is repeated when the service has too many calls (429) or cannot be reached. Waits grow, up to a minute in all.',
};

/** For calls that may be paid twice without much harm. */
export const retryOutcomeUnknownOption: INodeProperties = {
	displayName: 'Repeat Unclear Failures',
	name: 'retryOutcomeUnknown',
	type: 'boolean',
	default: false,
	description:
		'Whether to repeat a call also where the service may have carried it out, as after a broken connection or status 503. It may then be charged twice.',
};

/** What the options of an item say; calls whose form has no such option never repeat an outcomeUnknown failure. */
export function readRetry(context: NodeContext, itemIndex: number): RetryPolicy {
	const retries = Number(context.getNodeParameter('options.retries', itemIndex, DEFAULT_RETRIES));
	const retryOutcomeUnknown: unknown = context.getNodeParameter(
		'options.retryOutcomeUnknown',
		itemIndex,
		false,
	);
	return {
		retries: Math.max(0, Math.floor(retries) || 0),
		retryOutcomeUnknown: retryOutcomeUnknown === true,
	};
}
