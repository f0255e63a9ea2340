import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { UnsupportedValues } from '../client/video/normalize';
import { batchProperties } from '../shared/form/batchOptions';
import { inTools } from '../shared/form/fromAi';
import { booleanOption, choiceOption, numberOption, optionsProperty } from '../shared/form/options';
import { resendOutcomeUnknownOption, retriesOption } from '../shared/form/retryOptions';
import { timeoutOption } from '../shared/form/timeoutOption';

const dryRunOption = booleanOption({
	name: 'dryRun',
	label: 'Dry Run',
	help: 'Whether to check everything and output the request without sending it. A dry run is free of charge.',
});

/** How many videos an agent may create. */
export const maximumVideosOption = numberOption({
	name: 'maximumVideos',
	label: 'Maximum Videos',
	help: 'How many videos the agent may create in one execution, because each of them costs money',
	default: 5,
	min: 1,
	integer: true,
});

const unsupportedValuesOption = choiceOption<UnsupportedValues>({
	name: 'unsupportedValues',
	label: 'Unsupported Values',
	help: 'What to do with a value that the model would change or ignore',
	default: 'adjust',
	choices: [
		{
			value: 'adjust',
			label: 'Adjust and Report',
			help: 'Send the closest supported value, and list the change in the field "adjustments" of the item',
		},
		{ value: 'reject', label: 'Reject', help: 'Fail the item before anything is sent' },
	],
});

/** The service answers at once with a task; a minute without any data means that something is broken. */
const createTimeoutOption = timeoutOption({ defaultSeconds: 60 });

/** The options of Create Video. */
export const createVideoOptions: INodeProperties = optionsProperty([
	dryRunOption.property,
	...batchProperties,
	retriesOption.property,
	inTools(maximumVideosOption.property),
	resendOutcomeUnknownOption.property,
	createTimeoutOption.property,
	unsupportedValuesOption.property,
]);

export interface CreateVideoOptions {
	readonly dryRun: boolean;
	/** Whether Retry On Fail sends a creation again whose outcome is unknown. */
	readonly retryOutcomeUnknown: boolean;
	readonly unsupportedValues: UnsupportedValues;
	readonly idleTimeoutMs: number;
}

/** The options of an item. */
export function readOptions(context: IExecuteFunctions, itemIndex: number): CreateVideoOptions {
	return {
		dryRun: dryRunOption.read(context, itemIndex),
		retryOutcomeUnknown: resendOutcomeUnknownOption.read(context, itemIndex),
		unsupportedValues: unsupportedValuesOption.read(context, itemIndex),
		idleTimeoutMs: createTimeoutOption.read(context, itemIndex) * 1000,
	};
}
