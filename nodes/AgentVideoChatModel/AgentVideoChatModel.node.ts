import {
	NodeConnectionTypes,
	type INodeType,
	type INodeTypeDescription,
	type ISupplyDataFunctions,
	type SupplyData,
} from 'n8n-workflow';

import { ANSWERER, chatListSearch } from '../shared/chat/properties';
import { builderHint } from '../shared/form/fields';
import { withStrays } from '../shared/run/names';
import { credentialTest } from '../shared/run/testCredential';
import { builderHint as hint } from './AgentVideoChatModel.node.json';
import { chatModelForm, supplyChatModel } from './execute';

export class AgentVideoChatModel implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Agent Video Chat Model',
		name: 'agentVideoChatModel',
		icon: {
			light: 'file:../../icons/chatModel.svg',
			dark: 'file:../../icons/chatModel.dark.svg',
		},
		group: ['transform'],
		version: 1,
		subtitle: `={{ ${ANSWERER} }}`,
		description: 'A chat model for AI agents and chains: a model, an application or a workflow',
		defaults: { name: 'Agent Video Chat Model' },
		inputs: [],
		outputs: [NodeConnectionTypes.AiLanguageModel],
		outputNames: ['Model'],
		builderHint: builderHint(hint),
		credentials: [{ name: 'agentVideoApi', required: true, testedBy: 'testCredential' }],
		properties: withStrays(chatModelForm.properties),
	};

	methods = { credentialTest, listSearch: chatListSearch };

	async supplyData(this: ISupplyDataFunctions, itemIndex: number): Promise<SupplyData> {
		return await supplyChatModel(this, itemIndex);
	}
}
