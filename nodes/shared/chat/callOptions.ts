import type { INodeProperties } from 'n8n-workflow';

import { booleanOption, choiceOption } from '../form/options';
import { retriesOption } from '../form/retryOptions';
import { LONGEST_CALL_SECONDS, timeoutOption } from '../form/timeoutOption';

const chatTimeoutOption = timeoutOption({ defaultSeconds: LONGEST_CALL_SECONDS });

/** Whether a streaming chat shows what the model thinks. */
export const showReasoningOption = booleanOption({
	name: 'streamReasoning',
	label: 'Show Reasoning',
	help: 'Whether a streaming chat shows the reasoning of the model before its answer',
});

/** Whether a streaming chat shows the tools while they run. */
export const showInChatOption = choiceOption<'tools' | 'text'>({
	name: 'showInChat',
	label: 'Show in Chat',
	help: 'What a streaming chat shows until the answer is complete',
	default: 'tools',
	choices: [
		{ value: 'tools', label: 'Text and Tools', help: 'Also a line for each tool that runs' },
		{ value: 'text', label: 'Text Only', help: 'Only the text of the reply' },
	],
});

/** How a chat call is made, apart from the fields of the request. */
export const callProperties: INodeProperties[] = [
	{
		displayName: 'Extra Body Fields',
		name: 'extraBody',
		type: 'json',
		default: '{}',
		description:
			'Additional request fields as JSON, for parameters that this form does not have',
	},
	retriesOption.property,
	showReasoningOption.property,
	chatTimeoutOption.property,
];

/** For a prompt that continues a conversation. */
export const earlierMessagesProperty: INodeProperties = {
	displayName: 'Earlier Messages',
	name: 'earlierMessages',
	type: 'json',
	default: '[]',
	description:
		'The conversation so far, as a JSON list of messages. They are sent between System Message and Prompt.',
	displayOptions: { show: { '/input': ['prompt'] } },
};

/** Idle timeout of an item's call in milliseconds. */
export function readIdleTimeoutMs(...item: Parameters<typeof chatTimeoutOption.read>): number {
	return chatTimeoutOption.read(...item) * 1000;
}
