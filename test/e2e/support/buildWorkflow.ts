import type { INode } from 'n8n-workflow';

import type { Workflow } from '../../../lab/n8n/workflow';

interface NodeOptions {
	readonly parameters?: object;
	/** Name of the Agent Video API credential. */
	readonly credential?: string;
	readonly onError?: string;
	readonly webhookId?: string;
}

/** Builds a node. */
export function node(
	name: string,
	type: string,
	typeVersion: number,
	{ parameters = {}, credential, ...more }: NodeOptions = {},
): INode {
	return {
		id: name.toLowerCase(),
		name,
		type,
		typeVersion,
		position: [0, 0],
		parameters,
		...(credential === undefined
			? {}
			: { credentials: { agentVideoApi: { id: '', name: credential } } }),
		...more,
	} as INode;
}

/** A webhook, whose address has this path. */
export const webhook = (path: string, responseMode = 'onReceived', name = 'Start'): INode =>
	node(name, 'n8n-nodes-base.webhook', 2.1, {
		parameters: { httpMethod: 'POST', path, responseMode },
		webhookId: path,
	});

/** The trigger of a sub-workflow. */
export const calledTrigger = (
	name = 'Start',
	parameters: object = { inputSource: 'passthrough' },
): INode => node(name, 'n8n-nodes-base.executeWorkflowTrigger', 1.1, { parameters });

/** Calls a sub-workflow, by default once with all items. */
export const calls = ({ id }: { readonly id: string }, parameters: object = {}): INode =>
	node('Call', 'n8n-nodes-base.executeWorkflow', 1.3, {
		parameters: { workflowId: { __rl: true, mode: 'id', value: id }, ...parameters },
	});

/** A public chat, whose address has its name. */
export function chatTrigger(name: string, responseMode: string, parameters: object = {}): INode {
	return node('Chat', '@n8n/n8n-nodes-langchain.chatTrigger', 1.3, {
		parameters: { public: true, ...parameters, options: { responseMode } },
		webhookId: name,
	});
}

/** What the page of a chat sends. */
export const chatMessage = (chatInput: string, sessionId: string) => ({
	action: 'sendMessage',
	...{ sessionId, chatInput },
});

/** Builds a workflow of nodes in sequence. */
export function workflow(name: string, nodes: readonly INode[]): Workflow {
	const links = nodes
		.slice(1)
		.map(({ name: to }, index): [string, object] => [
			nodes[index]!.name,
			{ main: [[{ node: to, type: 'main', index: 0 }]] },
		]);
	return {
		name,
		nodes: nodes.map((each, index) => ({ ...each, position: [index * 220, 0] })),
		connections: Object.fromEntries(links),
		settings: { executionOrder: 'v1' },
	};
}

/** Connections per node: for each output the target nodes. `Name#1` is the second input of a node. */
export type Wires = Readonly<Record<string, readonly (readonly string[])[]>>;

/** Builds a workflow with these connections. The nodes are placed from top to bottom, which decides their execution order. */
export function drawn(name: string, nodes: readonly INode[], wires: Wires): Workflow {
	const main = ([from, outputs]: [string, readonly (readonly string[])[]]) => [
		from,
		{
			main: outputs.map((targets) =>
				targets.map((target) => {
					const [to, input = '0'] = target.split('#');
					return { node: to, type: 'main', index: Number(input) };
				}),
			),
		},
	];
	return {
		name,
		nodes: nodes.map((each, index) => ({ ...each, position: [0, index * 120] })),
		connections: Object.fromEntries(Object.entries(wires).map(main)) as Workflow['connections'],
		settings: { executionOrder: 'v1' },
	};
}

/** A sub-node and its connection type. */
export type SubNode = readonly [INode, string];

/** Adds sub-nodes to a node of a workflow. */
export function withSubNodes(
	base: Workflow,
	parent: string,
	subNodes: readonly SubNode[],
): Workflow {
	return {
		...base,
		nodes: [...base.nodes, ...subNodes.map(([subNode]) => subNode)],
		connections: {
			...base.connections,
			...Object.fromEntries(
				subNodes.map(([{ name }, type]) => [
					name,
					{ [type]: [[{ node: parent, type, index: 0 }]] },
				]),
			),
		},
	};
}
