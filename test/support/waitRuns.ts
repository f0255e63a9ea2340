import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';

import {
	packageNode,
	runWorkflow,
	stubNode,
	type RunOptions,
	type RunResult,
	type Wires,
} from './engine';

/** The name of Wait for Video in the workflows of `waitIn`. */
export const WAIT = 'Wait';
/** Each output leads to a node of its own. */
export const CONNECTED: Wires = { [WAIT]: [['Done'], ['Lost'], ['Later']] };
/** The output Failed leads nowhere. */
export const NOT_FAILED: Wires = { [WAIT]: [['Done']] };

/** Items of these tasks. */
export const ids = (...taskIds: readonly unknown[]) =>
	taskIds.map((task_id) => ({ task_id }) as IDataObject);

export const fieldsOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json }) => json);

export const idsOf = (items?: readonly INodeExecutionData[]) =>
	fieldsOf(items).map(({ task_id: taskId }) => taskId);

/** The task that a request is about. */
export const taskOf = (body: unknown) => (body as { readonly task_id: string }).task_id;

interface WaitOptions extends Partial<RunOptions> {
	/** What a person sets for the node beside its fields. */
	readonly nodeSettings?: Partial<INode>;
	/** Other nodes of the workflow. */
	readonly nodes?: readonly INode[];
	/** The node with which the workflow begins. */
	readonly start?: string;
}

/** Runs Wait for Video without downloads in a workflow, where Done, Lost and Later pass on what reaches them. */
export async function waitIn(
	baseUrl: string,
	wires: Wires,
	{ parameters, nodeSettings, nodes = [], start = WAIT, ...more }: WaitOptions = {},
): Promise<RunResult> {
	const node = packageNode(WAIT, 'waitForVideo', {
		...more,
		parameters: { download: false, ...parameters },
	});
	const names = new Set(nodes.map(({ name }) => name));
	const others = ['Done', 'Lost', 'Later'].filter((name) => !names.has(name));
	const all = [
		...nodes,
		{ ...node, ...nodeSettings },
		...others.map((name) => stubNode(name, (items) => items)),
	];
	const credential = { baseUrl, apiKey: 'k-secret' };
	return await runWorkflow(all, wires, start, { credential, ...more });
}
