import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type ILoadOptionsFunctions,
	type INodeExecutionData,
	type INodeListSearchResult,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { completeChat } from '../client/chat/complete';
import { promptMessages } from '../client/chat/messages';
import { toChatResult } from '../client/chat/result';
import { withoutUndefined } from '../client/json';
import { n8nHttp } from '../shared/host';
import { withChatStream } from '../shared/chatStream';
import { mapItems } from '../shared/items';
import { modelLocator, searchItems } from '../shared/modelLocator';
import { readModel, readText } from '../shared/parameters';

/** Calls under way at once. */
const CONCURRENCY = 5;
const DEFAULT_TIMEOUT_SECONDS = 620;

/** The codes that the specification's examples use; any other can be typed. */
const CHAT_MODELS = [
	{ name: 'Default of the Application', value: '' },
	{ name: 'chat-m1', value: 'chat-m1' },
	{ name: 'chat-m2', value: 'chat-m2' },
];

type Streaming = 'auto' | 'collect' | 'off';

export class ChatCompletion implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Chat Completion',
		name: 'chatCompletion',
		icon: { light: 'file:../../icons/chat.svg', dark: 'file:../../icons/chat.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: '={{ $parameter.appCode || $parameter.model.value || "default model" }}',
		description: 'Get a reply from a model, an application or a workflow',
		defaults: { name: 'Chat Completion' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		credentials: [{ name: 'agentVideoApi', required: true }],
		properties: [
			{
				displayName: 'Prompt',
				name: 'prompt',
				type: 'string',
				typeOptions: { rows: 4 },
				default: '={{ $json.chatInput }}',
				placeholder: 'e.g. Write a one-sentence prompt for a video about the sea',
				description: 'What to ask. A Chat Trigger hands it over as chatInput.',
			},
			{
				displayName: 'System Message',
				name: 'systemMessage',
				type: 'string',
				typeOptions: { rows: 2 },
				default: '',
				placeholder: 'e.g. You are a helpful assistant',
				description:
					'Instructions that come before the prompt. An application brings its own; leave this empty then.',
			},
			{
				displayName: 'App Code',
				name: 'appCode',
				type: 'string',
				default: '',
				placeholder: 'e.g. demo-app',
				description:
					'Code of an application or a workflow at the service. Leave empty to talk to the model directly.',
			},
			modelLocator('searchChatModels', 'e.g. chat-m1', {
				default: {
					mode: 'list',
					value: '',
					cachedResultName: 'Default of the Application',
				},
				description: 'The model that answers. An application has one of its own.',
			}),
			{
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
						description:
							'Read the reply as it is written, but show it only when it is complete',
					},
					{ name: 'Off', value: 'off', description: 'Get the reply in one piece' },
				],
				default: 'auto',
				description: 'How the reply travels. The output is the same either way.',
			},
			{
				displayName: 'Options',
				name: 'options',
				type: 'collection',
				placeholder: 'Add option',
				default: {},
				options: [
					{
						displayName: 'Timeout',
						name: 'timeout',
						type: 'number',
						typeOptions: { minValue: 1 },
						default: DEFAULT_TIMEOUT_SECONDS,
						description:
							'Seconds of silence after which a call is given up. Text that keeps arriving is never cut off.',
					},
				],
			},
		],
	};

	methods = {
		listSearch: {
			searchChatModels(
				this: ILoadOptionsFunctions,
				filter?: string,
			): Promise<INodeListSearchResult> {
				return Promise.resolve(searchItems(CHAT_MODELS, filter));
			},
		},
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const streaming = this.getNodeParameter('streaming', 0) as Streaming;
		const live = streaming === 'auto' && this.isStreaming();

		const items = await mapItems(
			this,
			{ concurrency: live ? 1 : CONCURRENCY },
			async (item) => {
				const request = withoutUndefined({
					messages: promptMessages(
						readText(this, 'prompt', item),
						readText(this, 'systemMessage', item),
					),
					app_code: readText(this, 'appCode', item).trim() || undefined,
					model: readModel(this, item) || undefined,
				});
				const timeout = this.getNodeParameter(
					'options.timeout',
					item,
					DEFAULT_TIMEOUT_SECONDS,
				) as number;
				const http = await n8nHttp(this, item);
				const complete = async (sendText?: (text: string) => void) =>
					await completeChat(http, request, {
						stream: streaming !== 'off',
						idleTimeoutMs: timeout * 1000,
						onText: ({ content }) => sendText?.(content),
					});
				const completion = live
					? await withChatStream(this, item, complete)
					: await complete();
				return { json: toChatResult(completion), pairedItem: { item } };
			},
		);
		return [items];
	}
}
