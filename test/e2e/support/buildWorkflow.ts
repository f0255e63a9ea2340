import type { INode } from 'n8n-workflow';

import type { Workflow } from '../../../lab/workflow';

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
