import {
	CHAT_NODE_TYPE,
	CHAT_TRIGGER_NODE_TYPE,
	FORM_TRIGGER_NODE_TYPE,
	WEBHOOK_NODE_TYPE,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type INodeType,
} from 'n8n-workflow';

import { NODE_TYPES, stubNode } from './engine';

/** Makes n8n's Chat Trigger, Form Trigger and Webhook known to the engine: they give their items on; and its Chat node. */
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
	const answered = {
		description: { ...trigger.description, name: 'chat', group: ['input'], inputs: ['main'] },
		execute(this: { getInputData(): INodeExecutionData[]; getNode(): INode }) {
			const { work } = this.getNode() as ReturnType<typeof stubNode>;
			return Promise.resolve([work(this.getInputData())]);
		},
	} as unknown as INodeType;
	Object.assign(NODE_TYPES, { [CHAT_NODE_TYPE]: answered });
}

/** n8n's Chat node, when the visitor has answered it, or the chat has gone on: it gives this item on. Without one, those it got. */
export const chatNode = (name: string, json?: IDataObject): INode => ({
	...stubNode(name, (items) => (json === undefined ? items : [{ json }])),
	type: CHAT_NODE_TYPE,
});

/** A trigger for a workflow, whose caller waits for the last node. */
const trigger = (type: string) => (name: string) => ({
	...stubNode(name, (items) => items),
	type,
	parameters: { responseMode: 'lastNode' },
});

export const chatTrigger: (name: string) => INode = trigger(CHAT_TRIGGER_NODE_TYPE);
export const formTrigger: (name: string) => INode = trigger(FORM_TRIGGER_NODE_TYPE);
export const webhook: (name: string) => INode = trigger(WEBHOOK_NODE_TYPE);
