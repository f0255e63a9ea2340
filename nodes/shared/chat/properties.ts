import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { entered } from '../engine/workflow';
import { maximumFileSizeField } from '../files/fileKind';
import { fileSource, type FileEntry } from '../files/fileSource';
import { searchItems } from '../form/fields';
import {
	changed,
	choice,
	entries,
	filledByModel,
	json,
	locator,
	number,
	prompt,
	text,
	toggle,
	type Entry,
} from '../form/form';
import { readModelCodes } from '../run/credential';

/** Expression for a subtitle: a parameter as it is entered, an expression without its braces and the node that it names. */
export const shownAs = (name: string, fallback: string) =>
	`String(${entered(name)} || "${fallback}").replace(/^=|[{}]|\\$\\('.*json\\./g, "").trim()`;

/** Expression for the end of a subtitle: the app code, model or default that answers. */
export const ANSWERER = `($parameter.answeredBy === "app" ? ${shownAs('appCode', 'the app')} : ${shownAs('model', 'default model')})`;

/** Display name of the empty model choice. */
const DEFAULT_MODEL = 'Default Model';

/** Who answers: a model, or an application or workflow of the service. */
export const bindingFields = {
	answeredBy: choice('Answered By', {
		noDataExpression: true,
		choices: [
			['Model', 'model'],
			['Application or Workflow', 'app'],
		],
		default: 'model',
		help: 'Who answers. If the API key of the credential ends with an app code, its application answers.',
	}),
	appCode: text('App Code', {
		placeholder: 'e.g. demo-app',
		help: 'Code of the application or workflow that answers',
		displayOptions: { show: { answeredBy: ['app'] } },
	}),
	model: locator(
		'Model',
		{
			default: { mode: 'list', value: '', cachedResultName: DEFAULT_MODEL },
			help: 'The model that answers; with an application, the one in place of its default. The list has the chat models in the credential.',
		},
		{
			searchListMethod: 'searchModel',
			placeholder: 'e.g. my-chat-model',
			empty: DEFAULT_MODEL,
		},
		(code) => code,
	),
};

const FOR_PROMPT = { displayOptions: { show: { input: ['prompt'] } } };

/** Images that are sent with a text. */
export const imagesField = entries<FileEntry>('Images', {
	help: 'Images that are sent with the text. Image recognition must be enabled in the application.',
	entry: ['Image', 'image', fileSource],
});

/** The images of a prompt. */
export const promptImagesField = changed(imagesField, FOR_PROMPT);

/** The fields of a message. */
const message = {
	role: choice('Role', {
		choices: [
			['Assistant', 'assistant', 'A reply of the model'],
			['System', 'system', 'Instructions for the model'],
			['Tool', 'tool', 'The result of a tool call'],
			['User', 'user', 'A message of the user'],
		],
		default: 'user',
	}),
	content: text('Content', {
		typeOptions: { rows: 3 },
		placeholder: 'e.g. What is in this picture?',
	}),
	images: changed(imagesField, { displayOptions: { show: { role: ['user'] } } }),
	toolCallId: text('Tool Call ID', {
		placeholder: 'e.g. call_1',
		help: 'ID of the tool call that this result belongs to',
		displayOptions: { show: { role: ['tool'] } },
	}),
	toolCalls: json('Tool Calls', {
		default: '[]',
		help: 'The tool calls of the model, as it sent them',
		displayOptions: { show: { role: ['assistant'] } },
	}),
};

export type MessageEntry = Entry<keyof typeof message>;

/** The input: one prompt, a list of messages, or messages as JSON. */
export const inputFields = {
	input: choice('Input', {
		noDataExpression: true,
		choices: [
			['Prompt', 'prompt', 'One message, with an optional system message'],
			['Messages', 'messages', 'A conversation, message by message'],
			['JSON', 'json', 'A list of messages in the format of the API'],
		],
		default: 'prompt',
		help: 'How the messages are entered',
	}),
	prompt: filledByModel(
		prompt('Prompt', {
			typeOptions: { rows: 4 },
			default: '={{ $json.chatInput }}',
			placeholder: 'e.g. Write a one-sentence prompt for a video about the sea',
			help: 'The message to the model. A Chat Trigger provides it as chatInput.',
			...FOR_PROMPT,
		}),
		{
			key: 'prompt',
			help: 'The complete message: the model that answers does not know this conversation',
		},
	),
	systemMessage: prompt('System Message', {
		typeOptions: { rows: 2 },
		placeholder: 'e.g. You are a helpful assistant',
		help: 'Instructions before the prompt. An application has its own.',
		...FOR_PROMPT,
	}),
	messages: entries<MessageEntry>('Messages', {
		typeOptions: { sortable: true },
		default: { message: [{ role: 'user', content: '' }] },
		displayOptions: { show: { input: ['messages'] } },
		entry: ['Message', 'message', message],
	}),
	messagesJson: json('Messages (JSON)', {
		typeOptions: { rows: 6 },
		default: '[\n  { "role": "user", "content": "Hello" }\n]',
		help: 'A list of messages, each with a role and content',
		displayOptions: { show: { input: ['json'] } },
	}),
};

/** Whether the reply is streamed, and what of it a chat shows until it is complete. */
const STREAMING = [
	['Automatic', 'auto', 'Stream the reply, also into a chat or webhook that streams'],
	['With Reasoning', 'reasoning', 'The same, with the reasoning of the model'],
	['Off', 'off', 'Do not stream the reply'],
] as const;

/** Known values of Reasoning Effort; others can be typed. */
const REASONING_EFFORTS = [
	...['None', 'Minimal', 'Low', 'Medium', 'High'].map((name) => [name, name.toLowerCase()]),
	['Extra High', 'xhigh'],
].map(([name = '', value = '']) => ({ name, value }));

/** How much the model reasons: a text that each model understands. */
export const reasoningEffortField = locator(
	'Reasoning Effort',
	{
		help: 'How much the model reasons before it answers. Each model supports only some of the values.',
		default: { mode: 'list', value: 'medium' },
	},
	{ searchListMethod: 'searchReasoningEffort', placeholder: 'e.g. max' },
	(value) => value || undefined,
);

/** How much of a reply a node puts out. Only a simple output has nothing that the visitor of a chat must not read. */
export type Output = 'simple' | 'detailed' | 'raw';

/**
 * How much of its reply a node puts out.
 *
 * @param more What its details have beside those of every chat node.
 */
export const outputField = (more = '') =>
	choice<Output>('Output', {
		choices: [
			['Simple', 'simple', 'The answer, its files and its token usage'],
			[
				'Detailed',
				'detailed',
				`Also ${more}executed tool calls and their results, reasoning and session. A public chat may show the whole output to its visitors.`,
			],
			['Raw', 'raw', 'The response of the service, as the node has read it'],
		],
		default: 'simple',
		help: 'How much of the reply the node puts out',
	});

/** What every chat node asks of its reply. */
export const replyFields = {
	streaming: choice('Streaming', {
		choices: STREAMING,
		default: 'auto',
		help: 'Whether the reply is streamed. The output is the same either way.',
	}),
	output: outputField(),
};

/** Whether and for which key a node remembers its conversation. */
export const memoryFields = {
	memory: choice('Memory', {
		noDataExpression: true,
		choices: [
			['None', 'none', 'Each item is a conversation of its own'],
			['This Chat', 'chat', 'Continue the conversation of the Chat Trigger'],
			['By Key', 'key', 'Continue the conversation of a key, for example of a customer'],
		],
		default: 'none',
		help: 'Whether earlier messages and replies are sent with the new message',
	}),
	memoryKey: text('Memory Key', {
		placeholder: 'e.g. customer-42',
		help: 'Identifies the conversation, usually by an expression',
		hint: 'Conversations are stored in the data table agent_video_memory of the project',
		displayOptions: { show: { memory: ['key'] } },
	}),
};

/** How much a memory keeps. */
export const memoryMessagesField = number('Maximum Messages in Memory', {
	help: 'The oldest messages are forgotten first. 0 means no limit.',
	default: 40,
	integer: true,
	displayOptions: { show: { '/memory': ['chat', 'key'] } },
});

/** What every chat node offers for its reply: to correct its JSON, and to make its files binary data. */
export const replyOptions = {
	repairAttempts: number('Repair Attempts', {
		help: 'How often the model may correct a reply that is not valid JSON, or does not match the schema. Each attempt is a call that is charged.',
		default: 0,
		max: 5,
		integer: true,
		displayOptions: { show: { '/responseFormat': ['json', 'schema'] } },
	}),
	downloadMedia: toggle('Download Media', {
		help: 'Whether to download the images, videos and files that the reply links to as binary data',
	}),
	maximumFileSize: changed(maximumFileSizeField, {
		displayOptions: { show: { downloadMedia: [true] } },
	}),
};

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
