import {
	NodeConnectionTypes,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type NodeApiError,
} from 'n8n-workflow';

import type { SdkChatModel, SdkMessage } from '../../nodes/shared/chat/aiNodeSdk';

const QUESTION: SdkMessage = { role: 'user', content: [{ type: 'text', text: 'Hi' }] };

/** A node that calls its connected chat model, as n8n's agents and chains do, and returns the reply unchanged. */
export class ModelCaller implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Model Caller',
		name: 'modelCaller',
		group: ['transform'],
		version: 1,
		description: '',
		defaults: { name: 'Model Caller' },
		inputs: [
			NodeConnectionTypes.Main,
			{ type: NodeConnectionTypes.AiLanguageModel, maxConnections: 1, required: true },
		],
		outputs: [NodeConnectionTypes.Main],
		properties: [{ displayName: 'Stream', name: 'stream', type: 'boolean', default: false }],
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const model = (await this.getInputConnectionData(
			NodeConnectionTypes.AiLanguageModel,
			0,
		)) as SdkChatModel;
		if (this.getNodeParameter('stream', 0) !== true) {
			const replies: INodeExecutionData[] = [];
			while (replies.length < this.getInputData().length)
				replies.push({ json: await ask(model, this.continueOnFail()) });
			return [replies];
		}
		const said: unknown[] = [];
		for await (const chunk of model.stream([QUESTION])) {
			said.push(chunk);
			if (chunk.type === 'text-delta') this.sendChunk('item', 0, chunk.delta);
		}
		return [[{ json: { said } }]];
	}
}

async function ask(model: SdkChatModel, continues: boolean): Promise<IDataObject> {
	try {
		const { message, ...end } = await model.generate([QUESTION]);
		return { message, ...end };
	} catch (error) {
		if (!continues) throw error;
		const { message, description } = error as NodeApiError;
		return { error: message, description };
	}
}
