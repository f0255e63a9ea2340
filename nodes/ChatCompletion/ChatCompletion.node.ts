import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type ILoadOptionsFunctions,
	type INodeExecutionData,
	type INodeListSearchResult,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { ANSWERER, CHAT_MODELS } from '../shared/chat/properties';
import { SUGGESTIONS } from '../shared/chat/requestOptions';
import { searchItems } from '../shared/form/resourceLocator';
import { runChatCompletion } from './execute';
import { chatCompletionProperties } from './properties';

export class ChatCompletion implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Chat Completion',
		name: 'chatCompletion',
		icon: { light: 'file:../../icons/chat.svg', dark: 'file:../../icons/chat.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: `={{ ($parameter.options?.responseFormat === "json_object" ? "JSON" : "reply") + " from " + ${ANSWERER} }}`,
		description: 'Ask a model, an application or a workflow, and get its reply',
		defaults: { name: 'Chat Completion' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		credentials: [{ name: 'agentVideoApi', required: true }],
		properties: chatCompletionProperties,
	};

	methods = {
		listSearch: {
			searchModel(
				this: ILoadOptionsFunctions,
				filter?: string,
			): Promise<INodeListSearchResult> {
				return searchItems(CHAT_MODELS, filter);
			},
			searchReasoningEffort(
				this: ILoadOptionsFunctions,
				filter?: string,
			): Promise<INodeListSearchResult> {
				return searchItems(SUGGESTIONS['searchReasoningEffort']!, filter);
			},
		},
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runChatCompletion(this);
	}
}
