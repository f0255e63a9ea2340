import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { UnsupportedValues } from '../client/video/normalize';
import { sortByName } from '../shared/form/sortByName';
import { batchOptions } from '../shared/form/batchOptions';
import { retriesOption } from '../shared/form/retryOptions';
import { toolLimitOption } from './maximumVideos';

/** The service answers at once with a task; a minute of idle timeout means that something is broken. */
export const TIMEOUT_SECONDS = 60;

/** How tasks are created, beyond the fields of the request. */
export const videoOptions: INodeProperties[] = sortByName([
	{
		displayName: 'Dry Run',
		name: 'dryRun',
		type: 'boolean',
		default: false,
		description:
			'Whether to check everything and give the request without sending it. That costs nothing.',
	},
	...batchOptions,
	retriesOption,
	toolLimitOption,
	{
		displayName: 'Send Again When Unclear',
		name: 'retryOutcomeUnknown',
		type: 'boolean',
		default: false,
		description:
			'Whether Retry On Fail may send a creation again although its outcome is not known, as after a broken connection. The video may then be made, and billed, twice.',
	},
	{
		displayName: 'Timeout (Seconds)',
		name: 'timeout',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: TIMEOUT_SECONDS,
		description: 'Idle timeout in seconds: how long a call may stay without receiving any data',
	},
	{
		displayName: 'Values the Model Does Not Take',
		name: 'unsupportedValues',
		type: 'options',
		options: [
			{
				name: 'Adjust and Report',
				value: 'adjust',
				description:
					'Send the closest that the model takes, and say so in the field "adjustments" of the item',
			},
			{
				name: 'Refuse',
				value: 'reject',
				description: 'Fail the item before anything is sent',
			},
		],
		default: 'adjust',
		description: 'What to do where the model would change or ignore a value',
	},
]);

export interface VideoOptions {
	readonly dryRun: boolean;
	readonly retryOutcomeUnknown: boolean;
	readonly unsupported: UnsupportedValues;
}

/** The options of an item. */
export function readVideoOptions(context: IExecuteFunctions, itemIndex: number): VideoOptions {
	const option = (name: string) => context.getNodeParameter(`options.${name}`, itemIndex, false);
	return {
		dryRun: option('dryRun') === true,
		retryOutcomeUnknown: option('retryOutcomeUnknown') === true,
		unsupported: option('unsupportedValues') === 'reject' ? 'reject' : 'adjust',
	};
}
