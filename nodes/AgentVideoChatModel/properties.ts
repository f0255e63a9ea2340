import type { INodeProperties } from 'n8n-workflow';

import { callOptions } from '../shared/chat/callOptions';
import { bindingProperties, imagesProperty } from '../shared/chat/properties';
import { chatOptions } from '../shared/chat/requestOptions';
import { retryOutcomeUnknownOption } from '../shared/form/retryOptions';
import { sortByName } from '../shared/form/sortByName';

/** Options that the connected agent or chain decides: its tools, and what it shows of a stream. */
const DECIDED_BY_CALLER = ['tools', 'toolChoice', 'streamReasoning'];

/** The options of the chat model. */
const chatModelOptions: INodeProperties[] = sortByName(
	[...chatOptions, ...callOptions, retryOutcomeUnknownOption].filter(
		({ name }) => !DECIDED_BY_CALLER.includes(name),
	),
);

/** The form of Agent Video Chat Model. */
export const chatModelProperties: INodeProperties[] = [
	...bindingProperties,
	{
		displayName:
			'The code of a super assistant does not fit here: it runs its tools itself. Use the Super Assistant node for it.',
		name: 'assistantNotice',
		type: 'notice',
		default: '',
	},
	{
		...imagesProperty,
		description:
			'Images to go with what the person said last, as n8n hands over none. Binary data is that of the agent or chain.',
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: chatModelOptions,
	},
];
