import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { isLive, withChatStream } from '../shared/chat/chatStream';
import { readBatching } from '../shared/form/batchOptions';
import { mapItems } from '../shared/run/mapItems';
import { clearCallLog } from '../shared/run/callLog';
import { hintMissingMedia } from '../shared/chat/replyMedia';
import { assistantProperties } from './properties';
import { assistantItem, runAssistant } from './execute';
import { sessionName } from './session';
import { keyedMutex } from './keyedMutex';

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
		const live = this.getNodeParameter('streaming', 0) === 'auto' && isLive(this);
		const batching = readBatching(this);
		const runExclusive = keyedMutex();

		const items = await mapItems(
			this,
			live ? { ...batching, concurrency: 1 } : batching,
			async (item) => {
				const reply = await runExclusive(
					sessionName(this, item),
					async () =>
						await (live
							? withChatStream(
									this,
									item,
									async (send) => await runAssistant(this, item, send),
								)
							: runAssistant(this, item)),
				);
				return await assistantItem(this, item, reply);
			},
		);
		if (items.every(({ json }) => json['error'] === undefined)) clearCallLog(this);
		hintMissingMedia(this, items);
		return [items];
	}
}
