import type { INodeProperties } from 'n8n-workflow';

import { sortByName } from '../shared/form/sortByName';
import { callOptions } from '../shared/chat/callOptions';
import { imagesProperty, simplifyProperty, streamingProperty } from '../shared/chat/properties';
import { batchOptions } from '../shared/form/batchOptions';
import { mediaOptions } from '../shared/chat/mediaOptions';
import { filledByModel } from '../shared/form/fromAi';

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

const assistantOptions: INodeProperties[] = [
	{
		displayName: 'Maximum Duration (Seconds)',
		name: 'maximumDuration',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 620,
		description:
			'Seconds after which a call is given up, whatever arrives. The service ends it after 600 seconds itself.',
	},
	{
		displayName: 'Send Again When Unclear',
		name: 'retryOutcomeUnknown',
		type: 'boolean',
		default: false,
		description:
			'Whether Retry On Fail may send a call again that broke off, and may have been carried out and charged',
	},
	{
		displayName: 'Show in Chat',
		name: 'showInChat',
		type: 'options',
		options: [
			{
				name: 'Text and Tools',
				value: 'tools',
				description: 'Also a line when a tool starts and when it is done',
			},
			{ name: 'Text Only', value: 'text', description: 'What the assistant writes' },
		],
		default: 'tools',
		description: 'What a streaming chat shows while the assistant works',
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
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: sortByName([
			...callOptions,
			...mediaOptions,
			...batchOptions,
			...assistantOptions,
		]),
	},
];
