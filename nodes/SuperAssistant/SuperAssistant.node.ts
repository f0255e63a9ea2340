import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { chatListSearch, shownAs } from '../shared/chat/properties';
import { builderHint } from '../shared/form/fields';
import { withStrays } from '../shared/run/names';
import { openRun } from '../shared/run/run';
import { credentialTest } from '../shared/run/testCredential';
import { builderHint as hint } from './SuperAssistant.node.json';
import { assistantForm, runSuperAssistant } from './execute';

export class SuperAssistant implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Super Assistant',
		name: 'superAssistant',
		icon: {
			light: 'file:../../icons/assistant.svg',
			dark: 'file:../../icons/assistant.dark.svg',
		},
		group: ['transform'],
		version: 1,
		subtitle: `={{ ${shownAs('appCode', 'code in API key')} + ", " + ({ id: "session by ID", key: "session per key", new: "new session" }[$parameter.session] ?? "chat session") }}`,
		description: 'Let an assistant with its own memory and tools do a task',
		defaults: { name: 'Super Assistant' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		builderHint: builderHint(hint),
		credentials: [{ name: 'agentVideoApi', required: true, testedBy: 'testCredential' }],
		properties: withStrays(assistantForm.properties),
	};

	methods = { credentialTest, listSearch: chatListSearch };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runSuperAssistant(await openRun(this));
	}
}
