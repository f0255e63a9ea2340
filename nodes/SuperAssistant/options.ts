import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { callProperties } from '../shared/chat/callOptions';
import { mediaProperties } from '../shared/chat/mediaOptions';
import { batchProperties } from '../shared/form/batchOptions';
import { choiceOption, numberOption, optionsProperty } from '../shared/form/options';
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

const showInChatOption = choiceOption<'tools' | 'text'>({
	name: 'showInChat',
	label: 'Show in Chat',
	help: 'What a streaming chat shows while the assistant works',
	default: 'tools',
	choices: [
		{
			value: 'tools',
			label: 'Text and Tools',
			help: 'Also a line when a tool starts and when it has finished',
		},
		{ value: 'text', label: 'Text Only', help: 'What the assistant writes' },
	],
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

/** Whether a streaming chat shows the tools that the assistant runs. */
export function readShowTools(context: IExecuteFunctions, itemIndex: number): boolean {
	return showInChatOption.read(context, itemIndex) === 'tools';
}
