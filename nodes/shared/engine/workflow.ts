import type { IExecuteFunctions, INode } from 'n8n-workflow';

import { internalsOf } from './internals';

/**
 * The workflow of the execution as it is drawn.
 *
 * n8n 2.41.1, n8n-workflow/dist/cjs/workflow.js
 * Without it: the drawing is not checked, every output counts as connected, and the order as v1.
 */
export function workflowOf(context: object) {
	const { runExecutionData, workflow } = internalsOf(context);
	return {
		/** The node on which "Execute step" was clicked. */
		destination: runExecutionData?.startData?.destinationNode?.nodeName,
		nodes: (workflow?.nodes ?? {}) as Readonly<Record<string, INode | undefined>>,
		connections: workflow?.connectionsBySourceNode,
		/** Whether nodes run in the legacy order v0, breadth-first. */
		isLegacyOrder: (workflow?.settings ?? { executionOrder: 'v1' }).executionOrder !== 'v1',
		/** What the type of a node declares. */
		descriptionOf: (name: string) => {
			const { type, typeVersion } = workflow?.nodes?.[name] ?? { type: '', typeVersion: 1 };
			const found = workflow?.nodeTypes?.getByNameAndVersion(type, typeVersion);
			return found?.description;
		},
	};
}

/**
 * Whether an output of the node leads to another one. In an execution up to a certain node, n8n leaves out the connections
 * that do not lead there, so that none can be said to be missing.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/partial-execution-utils/directed-graph.js
 * Without it: every output counts as connected.
 */
export function isConnected(context: IExecuteFunctions, output: number): boolean {
	const { connections, destination } = workflowOf(context);
	if (connections === undefined || destination !== undefined) return true;
	return (connections[context.getNode().name]?.['main']?.[output] ?? []).length > 0;
}
