import type { INode } from 'n8n-workflow';

import type { Workflow } from '../../../lab/n8n/workflow';

interface NodeOptions {
	readonly parameters?: object;
	/** Name of the Agent Video API credential. */
	readonly credential?: string;
	readonly onError?: string;
	readonly webhookId?: string;
}

/** A node for a workflow that a test draws. */
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

/** A workflow of nodes one after another. */
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

/** Where each output of a node leads; of a node with two inputs, `Name#1` is the second. */
export type Wires = Readonly<Record<string, readonly (readonly string[])[]>>;

/** A workflow of nodes with these wires; the nodes stand in the order of the list, from top to bottom. */
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

/** The workflow with further nodes that serve one of its nodes, each on the input of its kind. */
export function withSubNodes(
	base: Workflow,
	parent: string,
	subNodes: readonly (readonly [INode, string])[],
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
