import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { callProperties, showInChatOption } from '../shared/chat/callOptions';
import { mediaProperties } from '../shared/chat/mediaOptions';
import { batchProperties } from '../shared/form/batchOptions';
import { numberOption, optionsProperty } from '../shared/form/options';
import { resendOutcomeUnknownOption } from '../shared/form/retryOptions';
import { LONGEST_CALL_SECONDS } from '../shared/form/timeoutOption';

const maximumDurationOption = numberOption({
	name: 'maximumDuration',
	label: 'Maximum Duration',
	unit: 'Seconds',
	help: 'Total timeout of a call, whatever arrives. The service ends a call after 600 seconds itself.',
	default: LONGEST_CALL_SECONDS,
	min: 0.1,
});

/** The options of Super Assistant. */
export const superAssistantOptions: INodeProperties = optionsProperty([
	...callProperties,
	...mediaProperties,
	...batchProperties,
	maximumDurationOption.property,
	resendOutcomeUnknownOption.property,
	showInChatOption.property,
]);

/** Total timeout of an item's call in milliseconds. */
export function readMaximumDurationMs(context: IExecuteFunctions, itemIndex: number): number {
	return maximumDurationOption.read(context, itemIndex) * 1000;
}
