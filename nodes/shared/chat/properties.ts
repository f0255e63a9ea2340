import type { ILoadOptionsFunctions, INodeListSearchResult, INodeProperties } from 'n8n-workflow';

import { fileSource } from '../files/fileSource';
import {
	entriesField,
	filledByModel,
	jsonField,
	listField,
	resourceLocator,
	searchItems,
	textField,
} from '../form/fields';
import { readModelCodes } from '../run/credential';
import { REASONING_EFFORTS } from './requestOptions';

/** Expression for a subtitle: a parameter as it is entered, an expression without its braces. */
export const shownAs = (name: string, fallback: string) =>
	`String($rawParameter.${name} || "${fallback}").replace(/^=|[{}]/g, "").trim()`;

/** Expression for the end of a subtitle: the app code, model or default that answers. */
export const ANSWERER = `($parameter.answeredBy === "app" ? ${shownAs('appCode', 'the app')} : ${shownAs('model', 'default model')})`;

/** Display name of the empty model choice. */
export const DEFAULT_MODEL = 'Default Model';

/** Images that are sent with a text. */
export const imagesProperty: INodeProperties = entriesField('Images', 'images', {
	description:
		'Images that are sent with the text. Image recognition must be enabled in the application.',
	entry: ['Image', 'image', fileSource],
});

/** The images of a prompt. */
export const promptImagesProperty: INodeProperties = {
	...imagesProperty,
	displayOptions: { show: { input: ['prompt'] } },
};

/** The input: one prompt, a list of messages, or messages as JSON. */
export const inputProperties: INodeProperties[] = [
	listField('Input', 'input', {
		noDataExpression: true,
		choices: [
			['Prompt', 'prompt', 'One message, with an optional system message'],
			['Messages', 'messages', 'A conversation, message by message'],
			['JSON', 'json', 'A list of messages in the format of the API'],
		],
		default: 'prompt',
		description: 'How the messages are entered',
	}),
	...filledByModel(
		textField('Prompt', 'prompt', {
			typeOptions: { rows: 4 },
			default: '={{ $json.chatInput }}',
			placeholder: 'e.g. Write a one-sentence prompt for a video about the sea',
			description: 'The message to the model. A Chat Trigger provides it as chatInput.',
			displayOptions: { show: { input: ['prompt'] } },
		}),
		{
			key: 'prompt',
			help: 'The complete message: the model that answers does not know this conversation',
		},
	),
	textField('System Message', 'systemMessage', {
		typeOptions: { rows: 2 },
		placeholder: 'e.g. You are a helpful assistant',
		description: 'Instructions before the prompt. An application has its own.',
		displayOptions: { show: { input: ['prompt'] } },
	}),
	entriesField('Messages', 'messages', {
		typeOptions: { sortable: true },
		default: { message: [{ role: 'user', content: '' }] },
		displayOptions: { show: { input: ['messages'] } },
		entry: [
			'Message',
			'message',
			[
				listField('Role', 'role', {
					choices: [
						['Assistant', 'assistant', 'A reply of the model'],
						['System', 'system', 'Instructions for the model'],
						['Tool', 'tool', 'The result of a tool call'],
						['User', 'user', 'A message of the user'],
					],
					default: 'user',
				}),
				textField('Content', 'content', {
					typeOptions: { rows: 3 },
					placeholder: 'e.g. What is in this picture?',
				}),
				{ ...imagesProperty, displayOptions: { show: { role: ['user'] } } },
				textField('Tool Call ID', 'toolCallId', {
					placeholder: 'e.g. call_1',
					description: 'ID of the tool call that this result belongs to',
					displayOptions: { show: { role: ['tool'] } },
				}),
				jsonField('Tool Calls', 'toolCalls', {
					default: '[]',
					description: 'The tool calls of the model, as it sent them',
					displayOptions: { show: { role: ['assistant'] } },
				}),
			],
		],
	}),
	jsonField('Messages (JSON)', 'messagesJson', {
		typeOptions: { rows: 6 },
		default: '[\n  { "role": "user", "content": "Hello" }\n]',
		description: 'A list of messages, each with a role and content',
		displayOptions: { show: { input: ['json'] } },
	}),
];

const modelProperty: INodeProperties = resourceLocator(
	{
		displayName: 'Model',
		name: 'model',
		default: { mode: 'list', value: '', cachedResultName: DEFAULT_MODEL },
		description: 'The model that answers. The list has the chat models in the credential.',
		displayOptions: { show: { answeredBy: ['model'] } },
	},
	{ searchListMethod: 'searchModel', placeholder: 'e.g. my-chat-model', empty: DEFAULT_MODEL },
);

/** Who answers: a model, or an application or workflow of the service. Only the field that is shown is sent. */
export const bindingProperties: INodeProperties[] = [
	listField('Answered By', 'answeredBy', {
		noDataExpression: true,
		choices: [
			['Model', 'model'],
			['Application or Workflow', 'app'],
		],
		default: 'model',
		description:
			'Who answers. If the API key of the credential ends with an app code, its application answers.',
	}),
	modelProperty,
	textField('App Code', 'appCode', {
		placeholder: 'e.g. demo-app',
		description: 'Code of the application or workflow that answers',
		displayOptions: { show: { answeredBy: ['app'] } },
	}),
];

/** The model in place of the application's own (spec 2.1), as an entry of the Options collection. */
export const appModelProperty: INodeProperties = {
	...modelProperty,
	displayName: 'Model of the Application',
	name: 'appModel',
	description: "Replaces the application's default model",
	displayOptions: { show: { '/answeredBy': ['app'] } },
};

/** Whether the reply is streamed. The output is the same either way. */
export const streamingProperty: INodeProperties = listField('Streaming', 'streaming', {
	choices: [
		['Automatic', 'auto', 'Stream the reply, also into a chat or webhook that streams'],
		[
			'Collect',
			'collect',
			'Stream the reply, but show nothing of it: for a reply that later nodes use',
		],
		['Off', 'off', 'Do not stream the reply'],
	],
	default: 'auto',
	description: 'Whether the reply is streamed. The output is the same either way.',
});

type ListSearch = (this: ILoadOptionsFunctions, filter?: string) => Promise<INodeListSearchResult>;

/** The list search methods of every node with chat fields. */
export const chatListSearch: Readonly<Record<string, ListSearch>> = {
	searchReasoningEffort: async (filter) => await searchItems(REASONING_EFFORTS, filter),
	async searchModel(filter) {
		const codes = await readModelCodes(this, 'chatModels');
		const items = codes.map(({ code, name }) => ({ name, value: code }));
		return await searchItems([{ name: DEFAULT_MODEL, value: '' }, ...items], filter);
	},
};
