import type { INodeProperties } from 'n8n-workflow';

import { imagesProperty, simplifyProperty, streamingProperty } from '../shared/chat/properties';
import { filledByModel } from '../shared/form/fromAi';
import { superAssistantOptions } from './options';

const sessionProperties: INodeProperties[] = [
	{
		displayName: 'Session',
		name: 'session',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'New',
				value: 'new',
				description: 'The assistant remembers nothing of earlier calls',
			},
			{
				name: 'By ID',
				value: 'id',
				description: 'Go on with a session whose ID you have kept',
			},
			{
				name: 'Remembered per Key',
				value: 'key',
				description: 'Each key, such as a chat or a customer, has a session of its own',
			},
		],
		default: 'new',
		description: 'Whether the assistant goes on where it was',
	},
	{
		displayName: 'Session ID',
		name: 'sessionId',
		type: 'string',
		default: '={{ $json.session_id }}',
		placeholder: 'e.g. session-0001',
		description: 'The session_id that an earlier call gave',
		displayOptions: { show: { session: ['id'] } },
	},
	{
		displayName: 'Key',
		name: 'sessionKey',
		type: 'string',
		default: '={{ $json.sessionId }}',
		placeholder: 'e.g. customer-42',
		description:
			'Whose session it is. A Chat Trigger hands over the key of its chat as sessionId.',
		hint: 'The sessions are kept in the data table agent_video_sessions of the project',
		displayOptions: { show: { session: ['key'] } },
	},
];

/** The form of Super Assistant: only what an assistant takes, since it chooses models and tools itself (spec 2.7). */
export const assistantProperties: INodeProperties[] = [
	{
		displayName: 'App Code',
		name: 'appCode',
		type: 'string',
		required: true,
		default: '',
		placeholder: 'e.g. demo-assistant',
		description: 'Code of the super assistant at the service',
	},
	...filledByModel(
		{
			displayName: 'Message',
			name: 'message',
			type: 'string',
			typeOptions: { rows: 4 },
			required: true,
			default: '={{ $json.chatInput }}',
			placeholder: 'e.g. Look up the weather in Rome and make a short video of it',
			description: 'What the assistant is to do. A Chat Trigger hands it over as chatInput.',
		},
		{
			key: 'message',
			help: 'The whole task, with everything that is needed for it',
		},
	),
	imagesProperty,
	...sessionProperties,
	streamingProperty,
	simplifyProperty,
	superAssistantOptions,
];
