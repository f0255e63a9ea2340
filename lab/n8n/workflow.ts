import { readFile } from 'node:fs/promises';

import { jsonParse, type INode } from 'n8n-workflow';

/** A workflow as n8n exports it. */
export interface Workflow {
	readonly name: string;
	readonly nodes: readonly INode[];
	readonly connections: Readonly<Record<string, unknown>>;
	readonly settings?: Readonly<Record<string, unknown>>;
}

/** A workflow with the items that a person has pinned to nodes. */
export type ExportedWorkflow = Workflow & {
	readonly pinData?: Readonly<Record<string, readonly object[]>>;
};

/**
 * The workflows in a file: one, or a list as `n8n export:workflow --all` writes it.
 *
 * @throws Error if it has anything else.
 */
export async function readWorkflows(path: string): Promise<readonly ExportedWorkflow[]> {
	// Some editors begin a file with a byte order mark, which a decoder leaves out.
	const text = new TextDecoder().decode(await readFile(path));
	const found = jsonParse<Partial<ExportedWorkflow> | null>(text, { fallbackValue: null });
	return [found].flat().map((workflow) => {
		const { nodes: drawn, connections = {}, name = path } = workflow ?? {};
		if (Array.isArray(drawn)) {
			const nodes = drawn.map((node: INode) => ({ ...{ parameters: {} }, ...node }));
			return { ...workflow, nodes, connections, name };
		}
		throw new Error(`${path} is no workflow: export it in n8n with ⋯ → Download`);
	});
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
