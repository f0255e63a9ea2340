import type { INodeProperties } from 'n8n-workflow';

import { fileSource } from '../files/fileSource';
import { resourceLocator } from '../form/resourceLocator';
import { filledByModel } from '../form/fromAi';

/** Who answers with the present settings: the end of a subtitle. */
export const ANSWERER = '($parameter.appCode || $parameter.model || "the default model")';

/** How the list and the empty field call the model that nobody has chosen. */
const DEFAULT_MODEL = 'Default of the Application or Service';

/** The codes that the specification's examples use; any other can be typed. */
export const CHAT_MODELS = [
	{ name: DEFAULT_MODEL, value: '' },
	{ name: 'chat-m1', value: 'chat-m1' },
	{ name: 'chat-m2', value: 'chat-m2' },
];

/** Images that go with a text. */
export const imagesProperty: INodeProperties = {
	displayName: 'Images',
	name: 'images',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Image',
	default: {},
	description:
		'Images to go with the text. The application must have image recognition switched on.',
	options: [
		{
			displayName: 'Image',
			name: 'image',
			values: fileSource,
		},
	],
};

/** What to ask: as one prompt, as a list of messages, or as JSON. */
export const inputProperties: INodeProperties[] = [
	{
		displayName: 'Input',
		name: 'input',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Prompt',
				value: 'prompt',
				description: 'One question, with instructions if needed',
			},
			{
				name: 'Messages',
				value: 'messages',
				description: 'A conversation, message by message',
			},
			{
				name: 'JSON',
				value: 'json',
				description: 'A list of messages as the service takes them',
			},
		],
		default: 'prompt',
		description: 'How the question is entered',
	},
	...filledByModel(
		{
			displayName: 'Prompt',
			name: 'prompt',
			type: 'string',
			typeOptions: { rows: 4 },
			default: '={{ $json.chatInput }}',
			placeholder: 'e.g. Write a one-sentence prompt for a video about the sea',
			description: 'What to ask. A Chat Trigger hands it over as chatInput.',
			displayOptions: { show: { input: ['prompt'] } },
		},
		{
			key: 'prompt',
			help: 'What to ask, in full: whoever answers knows nothing of this conversation',
		},
	),
	{
		displayName: 'System Message',
		name: 'systemMessage',
		type: 'string',
		typeOptions: { rows: 2 },
		default: '',
		placeholder: 'e.g. You are a helpful assistant',
		description:
			'Instructions that come before the prompt. An application brings its own; leave this empty then.',
		displayOptions: { show: { input: ['prompt'] } },
	},
	{ ...imagesProperty, displayOptions: { show: { input: ['prompt'] } } },
	{
		displayName: 'Messages',
		name: 'messages',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true, sortable: true },
		placeholder: 'Add Message',
		default: { message: [{ role: 'user', content: '' }] },
		displayOptions: { show: { input: ['messages'] } },
		options: [
			{
				displayName: 'Message',
				name: 'message',
				values: [
					{
						displayName: 'Role',
						name: 'role',
						type: 'options',
						options: [
							{
								name: 'Assistant',
								value: 'assistant',
								description: 'What the model said',
							},
							{
								name: 'System',
								value: 'system',
								description: 'Instructions for the model',
							},
							{
								name: 'Tool',
								value: 'tool',
								description: 'The result of a tool call',
							},
							{ name: 'User', value: 'user', description: 'What the person said' },
						],
						default: 'user',
					},
					{
						displayName: 'Content',
						name: 'content',
						type: 'string',
						typeOptions: { rows: 3 },
						default: '',
						placeholder: 'e.g. What is in this picture?',
					},
					{ ...imagesProperty, displayOptions: { show: { role: ['user'] } } },
					{
						displayName: 'Tool Call ID',
						name: 'toolCallId',
						type: 'string',
						default: '',
						placeholder: 'e.g. call_1',
						description: 'ID of the call that this result belongs to',
						displayOptions: { show: { role: ['tool'] } },
					},
					{
						displayName: 'Tool Calls',
						name: 'toolCalls',
						type: 'json',
						default: '[]',
						description: 'The calls that the model asked for, as it sent them',
						displayOptions: { show: { role: ['assistant'] } },
					},
				],
			},
		],
	},
	{
		displayName: 'Messages (JSON)',
		name: 'messagesJson',
		type: 'json',
		typeOptions: { rows: 6 },
		default: '[\n  { "role": "user", "content": "Hello" }\n]',
		description: 'A list of messages, each with role and content',
		displayOptions: { show: { input: ['json'] } },
	},
];

/** Who answers: a model directly, or an application or workflow at the service. */
export const bindingProperties: INodeProperties[] = [
	{
		displayName: 'App Code',
		name: 'appCode',
		type: 'string',
		default: '',
		placeholder: 'e.g. demo-app',
		description:
			'Code of an application or a workflow at the service. Leave empty to talk to the model directly.',
	},
	resourceLocator(
		{
			displayName: 'Model',
			name: 'model',
			default: { mode: 'list', value: '', cachedResultName: DEFAULT_MODEL },
			description: 'The model that answers. An application has one of its own.',
		},
		{
			searchListMethod: 'searchModel',
			placeholder: 'e.g. chat-m1',
			empty: DEFAULT_MODEL,
		},
	),
];

/** How a reply travels; the output is the same either way. */
export const streamingProperty: INodeProperties = {
	displayName: 'Streaming',
	name: 'streaming',
	type: 'options',
	options: [
		{
			name: 'Automatic',
			value: 'auto',
			description:
				'Read the reply as it is written, and pass it on to the chat or webhook when its trigger streams',
		},
		{
			name: 'Collect',
			value: 'collect',
			description: 'Read the reply as it is written, but show it only when it is complete',
		},
		{ name: 'Off', value: 'off', description: 'Get the reply in one piece' },
	],
	default: 'auto',
	description: 'How the reply travels. The output is the same either way.',
};

/** Whether the output is flat or the service's own body. */
export const simplifyProperty: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};
