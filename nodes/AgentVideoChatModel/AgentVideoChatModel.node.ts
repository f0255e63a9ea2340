import {
	NodeConnectionTypes,
	type ILoadOptionsFunctions,
	type INodeListSearchResult,
	type INodeType,
	type INodeTypeDescription,
	type ISupplyDataFunctions,
	type SupplyData,
} from 'n8n-workflow';

import { SUGGESTIONS } from '../shared/chat/requestOptions';
import {
	ANSWERER,
	bindingProperties,
	CHAT_MODELS,
	imagesProperty,
} from '../shared/chat/properties';
import { searchItems } from '../shared/form/resourceLocator';
import { supplyChatModel } from './execute';
import { chatModelOptions } from './options';

export class AgentVideoChatModel implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Agent Video Chat Model',
		name: 'agentVideoChatModel',
		icon: { light: 'file:../../icons/chat.svg', dark: 'file:../../icons/chat.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: `={{ ${ANSWERER} }}`,
		description:
			'A model, an application or a workflow of the service, for AI agents and chains',
		defaults: { name: 'Agent Video Chat Model' },
		inputs: [],
		outputs: [NodeConnectionTypes.AiLanguageModel],
		outputNames: ['Model'],
		credentials: [{ name: 'agentVideoApi', required: true }],
		properties: [
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
			chatModelOptions,
		],
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

	async supplyData(this: ISupplyDataFunctions, itemIndex: number): Promise<SupplyData> {
		return await supplyChatModel(this, itemIndex);
	}
}
