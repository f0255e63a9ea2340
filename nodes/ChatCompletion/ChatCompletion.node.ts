import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { ANSWERER, chatListSearch } from '../shared/chat/properties';
import { builderHint } from '../shared/form/fields';
import { withStrays } from '../shared/run/names';
import { openRun } from '../shared/run/run';
import { credentialTest } from '../shared/run/testCredential';
import { builderHint as hint } from './ChatCompletion.node.json';
import { chatForm, runChatCompletion } from './execute';

export class ChatCompletion implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Chat Completion',
		name: 'chatCompletion',
		icon: { light: 'file:../../icons/chat.svg', dark: 'file:../../icons/chat.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: `={{ (["json", "schema"].includes($parameter.responseFormat) ? "JSON" : "reply") + " from " + ${ANSWERER} }}`,
		description: 'Ask a model, an application or a workflow, and get its reply',
		defaults: { name: 'Chat Completion' },
		inputs: [
			NodeConnectionTypes.Main,
			{ type: NodeConnectionTypes.AiMemory, displayName: 'Memory', maxConnections: 1 },
		],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		builderHint: builderHint(hint),
		credentials: [{ name: 'agentVideoApi', required: true, testedBy: 'testCredential' }],
		properties: withStrays(chatForm.properties),
	};

	methods = { credentialTest, listSearch: chatListSearch };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runChatCompletion(await openRun(this));
	}
}
