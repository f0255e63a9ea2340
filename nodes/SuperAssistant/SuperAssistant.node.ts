import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { runSuperAssistant } from './execute';
import { assistantProperties } from './properties';

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
		subtitle:
			'={{ ($parameter.appCode || "no assistant") + ", " + ({ id: "session by ID", key: "session per key" }[$parameter.session] ?? "new session") }}',
		description: 'Let an assistant with its own memory and tools do a task',
		defaults: { name: 'Super Assistant' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		credentials: [{ name: 'agentVideoApi', required: true }],
		properties: assistantProperties,
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runSuperAssistant(this);
	}
}
