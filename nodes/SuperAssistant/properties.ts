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
				description: 'Start without any memory of earlier calls',
			},
			{
				name: 'By ID',
				value: 'id',
				description: 'Continue a session whose ID you have',
			},
			{
				name: 'Remembered per Key',
				value: 'key',
				description: 'Continue the session of a key, for example of a chat or a customer',
			},
		],
		default: 'new',
		description: 'Which session the assistant uses',
	},
	{
		displayName: 'Session ID',
		name: 'sessionId',
		type: 'string',
		default: '={{ $json.session_id }}',
		placeholder: 'e.g. session-0001',
		description: 'The session_id of an earlier call',
		displayOptions: { show: { session: ['id'] } },
	},
	{
		displayName: 'Key',
		name: 'sessionKey',
		type: 'string',
		default: '={{ $json.sessionId }}',
		placeholder: 'e.g. customer-42',
		description:
			'Identifies the session. A Chat Trigger provides the key of its chat as sessionId.',
		hint: 'Sessions are stored in the data table agent_video_sessions of the project',
		displayOptions: { show: { session: ['key'] } },
	},
];

/** The form of Super Assistant. It has no model and no tools: the assistant chooses them itself (spec 2.7). */
export const assistantProperties: INodeProperties[] = [
	{
		displayName: 'App Code',
		name: 'appCode',
		type: 'string',
		required: true,
		default: '',
		placeholder: 'e.g. demo-assistant',
		description: 'Code of the super assistant',
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
			description: 'The task for the assistant. A Chat Trigger provides it as chatInput.',
		},
		{
			key: 'message',
			help: 'The complete task, with all information it needs',
		},
	),
	imagesProperty,
	...sessionProperties,
	streamingProperty,
	simplifyProperty,
	superAssistantOptions,
];
