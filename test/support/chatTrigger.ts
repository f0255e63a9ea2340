import {
	CHAT_TRIGGER_NODE_TYPE,
	FORM_TRIGGER_NODE_TYPE,
	WEBHOOK_NODE_TYPE,
	type INode,
	type INodeType,
} from 'n8n-workflow';

import { NODE_TYPES, stubNode } from './engine';

/** Makes n8n's Chat Trigger, Form Trigger and Webhook known to the engine: they give their items on. */
export function addTriggers(): void {
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
			properties: [
				{
					displayName: 'Respond',
					name: 'responseMode',
					type: 'options',
					options: ['onReceived', 'lastNode', 'responseNode'].map((value) => ({
						name: value,
						value,
					})),
					default: 'onReceived',
				},
			],
		},
		execute(this: { getInputData(): unknown }) {
			return Promise.resolve([this.getInputData()]);
		},
	} as unknown as INodeType;
	for (const type of [CHAT_TRIGGER_NODE_TYPE, FORM_TRIGGER_NODE_TYPE, WEBHOOK_NODE_TYPE])
		Object.assign(NODE_TYPES, { [type]: trigger });
}

/** A trigger for a workflow, whose caller waits for the last node. */
const trigger = (type: string) => (name: string) => ({
	...stubNode(name, (items) => items),
	type,
	parameters: { responseMode: 'lastNode' },
});

export const chatTrigger: (name: string) => INode = trigger(CHAT_TRIGGER_NODE_TYPE);
export const formTrigger: (name: string) => INode = trigger(FORM_TRIGGER_NODE_TYPE);
export const webhook: (name: string) => INode = trigger(WEBHOOK_NODE_TYPE);
