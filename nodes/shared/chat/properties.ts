import type { INodeProperties } from 'n8n-workflow';

import { fileSource } from '../files/fileSource';
import { resourceLocator } from '../form/resourceLocator';
import { filledByModel } from '../form/fromAi';

/** Expression for the end of a subtitle: the app code, model or default that answers. */
export const ANSWERER = '($parameter.appCode || $parameter.model || "the default model")';

/** Display name of the empty model choice. */
const DEFAULT_MODEL = 'Default of the Application or Service';

/** The model codes of the specification's examples; any other code can be typed. */
export const CHAT_MODELS = [
	{ name: DEFAULT_MODEL, value: '' },
	{ name: 'chat-m1', value: 'chat-m1' },
	{ name: 'chat-m2', value: 'chat-m2' },
];

/** Images that are sent with a text. */
export const imagesProperty: INodeProperties = {
	displayName: 'Images',
	name: 'images',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Image',
	default: {},
	description:
		'Images that are sent with the text. Image recognition must be enabled in the application.',
	options: [
		{
			displayName: 'Image',
			name: 'image',
			values: fileSource,
		},
	],
};

/** The input: one prompt, a list of messages, or messages as JSON. */
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
				description: 'One message, with an optional system message',
			},
			{
				name: 'Messages',
				value: 'messages',
				description: 'A conversation, message by message',
			},
			{
				name: 'JSON',
				value: 'json',
				description: 'A list of messages in the format of the API',
			},
		],
		default: 'prompt',
		description: 'How the messages are entered',
	},
	...filledByModel(
		{
			displayName: 'Prompt',
			name: 'prompt',
			type: 'string',
			typeOptions: { rows: 4 },
			default: '={{ $json.chatInput }}',
			placeholder: 'e.g. Write a one-sentence prompt for a video about the sea',
			description: 'The message to the model. A Chat Trigger provides it as chatInput.',
			displayOptions: { show: { input: ['prompt'] } },
		},
		{
			key: 'prompt',
			help: 'The complete message: the model that answers does not know this conversation',
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
			'Instructions before the prompt. Leave empty for an application: it has its own.',
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
								description: 'A reply of the model',
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
							{ name: 'User', value: 'user', description: 'A message of the user' },
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
						description: 'ID of the tool call that this result belongs to',
						displayOptions: { show: { role: ['tool'] } },
					},
					{
						displayName: 'Tool Calls',
						name: 'toolCalls',
						type: 'json',
						default: '[]',
						description: 'The tool calls of the model, as it sent them',
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
		description: 'A list of messages, each with a role and content',
		displayOptions: { show: { input: ['json'] } },
	},
];

/** What the request is sent to: a model, or an application or workflow of the service. */
export const bindingProperties: INodeProperties[] = [
	{
		displayName: 'App Code',
		name: 'appCode',
		type: 'string',
		default: '',
		placeholder: 'e.g. demo-app',
		description:
			'Code of an application or workflow of the service. Leave empty to use the model directly.',
	},
	resourceLocator(
		{
			displayName: 'Model',
			name: 'model',
			default: { mode: 'list', value: '', cachedResultName: DEFAULT_MODEL },
			description: 'The model that answers. An application has its own default model.',
		},
		{
			searchListMethod: 'searchModel',
			placeholder: 'e.g. chat-m1',
			empty: DEFAULT_MODEL,
		},
	),
];

/** Whether the reply is streamed. The output is the same either way. */
export const streamingProperty: INodeProperties = {
	displayName: 'Streaming',
	name: 'streaming',
	type: 'options',
	options: [
		{
			name: 'Automatic',
			value: 'auto',
			description:
				'Stream the reply, and pass it on to the chat or webhook when its trigger streams',
		},
		{
			name: 'Collect',
			value: 'collect',
			description: 'Stream the reply, but show it only when it is complete',
		},
		{ name: 'Off', value: 'off', description: 'Do not stream the reply' },
	],
	default: 'auto',
	description: 'Whether the reply is streamed. The output is the same either way.',
};

/** Whether the output is a simplified object or the response body of the service. */
export const simplifyProperty: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};
