import type { INode } from 'n8n-workflow';

/** A workflow as n8n exports it. */
export interface Workflow {
	readonly name: string;
	readonly nodes: readonly INode[];
	readonly connections: Readonly<Record<string, unknown>>;
	readonly settings?: Readonly<Record<string, unknown>>;
}

/**
 * Sets the credential IDs of a workflow. An exported workflow names its credentials, but every n8n has its own IDs.
 *
 * @param ids IDs by credential name.
 * @throws Error if a credential is missing.
 */
export function bindCredentials(
	workflow: Workflow,
	ids: Readonly<Record<string, string>>,
): Workflow {
	return { ...workflow, nodes: workflow.nodes.map((node) => bindNode(node, ids)) };
}

function bindNode(node: INode, ids: Readonly<Record<string, string>>): INode {
	if (node.credentials === undefined) return node;
	const bound = Object.entries(node.credentials).map(([type, { name }]) => {
		const id = ids[name];
		if (id === undefined) throw new Error(`${node.name} needs the credential "${name}"`);
		return [type, { id, name }] as const;
	});
	return { ...node, credentials: Object.fromEntries(bound) };
}
