import { CHAT_TRIGGER_NODE_TYPE, type INode, type INodeType } from 'n8n-workflow';

import { NODE_TYPES, stubNode } from './engine';

/** Makes n8n's Chat Trigger known to the engine: it gives its items on. */
export function addChatTrigger(): void {
	const trigger = {
		description: {
			displayName: 'Chat Trigger',
			name: 'chatTrigger',
			group: ['trigger'],
			version: 1,
			description: '',
			defaults: {},
			inputs: [],
			outputs: ['main'],
			properties: [],
		},
		execute(this: { getInputData(): unknown }) {
			return Promise.resolve([this.getInputData()]);
		},
	} as unknown as INodeType;
	Object.assign(NODE_TYPES, { [CHAT_TRIGGER_NODE_TYPE]: trigger });
}

/** A Chat Trigger for a workflow. */
export function chatTrigger(name: string): INode {
	return { ...stubNode(name, (items) => items), type: CHAT_TRIGGER_NODE_TYPE };
}
