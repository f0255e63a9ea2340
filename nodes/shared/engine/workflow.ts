import type { IConnections, IExecuteFunctions, INode } from 'n8n-workflow';

import { internalsOf, nodeOf } from './context';

type Nodes = Readonly<Record<string, INode | undefined>>;

/** A connection from an output of a node to an input of another one. */
export interface Wire {
	readonly from: string;
	readonly output: number;
	readonly to: string;
	readonly input: number;
}

/**
 * The connections of a workflow, without those that are left of a removed node. A disabled node passes the items of its first
 * input on, to its first output.
 */
function wiresOf(connections: IConnections, nodes: Nodes): Wire[] {
	const isDead = (name: string, index: number) =>
		nodes[name] === undefined || (index > 0 && nodes[name].disabled === true);
	return Object.entries(connections).flatMap(([from, { main = [] }]) =>
		main.flatMap((targets, output) =>
			(targets ?? []).flatMap(({ node: to, index: input }) =>
				isDead(from, output) || isDead(to, input) ? [] : [{ from, output, to, input }],
			),
		),
	);
}

/**
 * The workflow of the execution as it is drawn.
 *
 * n8n 2.41.1, n8n-workflow/dist/cjs/workflow.js
 * Without it: the drawing is not checked, every output counts as connected, and the order as v1.
 */
export function workflowOf(context: object) {
	const { runExecutionData, workflow } = internalsOf(context);
	const nodes: Nodes = workflow?.nodes ?? {};
	return {
		/** The node on which "Execute step" was clicked. */
		destination: runExecutionData?.startData?.destinationNode?.nodeName,
		nodes,
		connections: workflow?.connectionsBySourceNode,
		/** Its connections, one by one. */
		wires: () => wiresOf(workflow?.connectionsBySourceNode ?? {}, nodes),
		/** Whether nodes run in the legacy order v0, breadth-first. */
		isLegacyOrder: (workflow?.settings ?? { executionOrder: 'v1' }).executionOrder !== 'v1',
		/** What the type of a node declares. */
		descriptionOf: (name: string) => {
			const node = nodes[name];
			// n8n throws for a type that it does not know.
			if (node === undefined) return undefined;
			const { type, typeVersion } = node;
			return workflow?.nodeTypes?.getByNameAndVersion(type, typeVersion).description;
		},
	};
}

/**
 * Whether an output of the node leads to another one that takes its items. In an execution up to a certain node, n8n leaves out the
 * connections that do not lead there, so that none can be said to be missing.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/partial-execution-utils/directed-graph.js
 * Without it: every output counts as connected.
 */
export function isConnected(context: IExecuteFunctions, output: number): boolean {
	const { connections, nodes, destination, wires } = workflowOf(context);
	if (connections === undefined || destination !== undefined) return true;
	const { name } = nodeOf(context);
	const all = wires();
	const ways = new Set(all.filter((wire) => wire.from === name && wire.output === output));
	// A set can grow while it is iterated.
	for (const { to } of ways) {
		if (nodes[to]!.disabled !== true) return true;
		for (const wire of all) if (wire.from === to) ways.add(wire);
	}
	return false;
}

/**
 * Whether another node follows on the canvas, also where "Execute step" has left it out.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/execution-lifecycle-hooks.js (workflowData)
 * Without it: another node counts as following, so that nothing is said of a step.
 */
export function isFollowed(context: IExecuteFunctions): boolean {
	const { connections } = internalsOf(context).additionalData?.hooks?.workflowData ?? {};
	const wires = connections?.[nodeOf(context).name]?.['main'] ?? [];
	return connections === undefined || wires.some((each) => (each?.length ?? 0) > 0);
}

/**
 * Loop Over Items, which keeps the items of its earlier runs, as another node of the same type does.
 *
 * n8n 2.41.1, n8n-nodes-base/dist/nodes/SplitInBatches/v3/SplitInBatchesV3.node.js
 * Without it: its rules about the drawing are not checked.
 */
export const LOOP = 'n8n-nodes-base.splitInBatches';

/**
 * The output of Loop Over Items for the items of a batch.
 *
 * n8n 2.41.1, n8n-nodes-base/dist/nodes/SplitInBatches/v2/SplitInBatchesV2.node.js
 * Without it: a right loop in a branch is rejected, before anything is sent.
 */
export function batchOutput(typeVersion: number): number {
	return typeVersion < 3 ? 0 : 1;
}

/**
 * The type and mode of nodes that run foreign code once for all items. Where the code makes no links, n8n links what comes out
 * by position.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (assignPairedItems)
 * Without it: the result of one call may be taken for that of another.
 */
export const FOREIGN =
	/^n8n-nodes-base\.(code (?!runOnceForEachItem)|executeWorkflow (?!each)|function )/;

/**
 * Whether a node passes its items on when a person, or another system, has answered.
 *
 * n8n 2.41.1, n8n-nodes-base/dist/nodes/Wait/Wait.node.js, @n8n/n8n-nodes-langchain/dist/nodes/trigger/ChatTrigger/Chat.node.js
 * Without it: a loop through such a node is rejected, or ends after some rounds.
 */
export function asksPerson({ type, disabled, parameters }: INode): boolean {
	const { operation, resume, waitUserReply } = parameters;
	const text = `${String(operation)} ${String(resume)} ${type}`;
	const answered = /^(sendAndWait|dispatchAndWait) | (webhook|form) |\.(form|respondToWebhook)$/;
	return disabled !== true && (waitUserReply === true || answered.test(text));
}

/**
 * Condition for the display of a field: the node is a tool of an agent.
 *
 * n8n 2.41.1, n8n-workflow/dist/cjs/node-helpers.js
 * Without it: a form shows the fields of a tool and those of a node side by side, or neither.
 */
export const IS_TOOL = { '@tool': [true] };

/**
 * Comment at the start of an expression that makes the editor show the field as defined by the model.
 *
 * n8n 2.41.1, n8n-workflow/dist/cjs/constants.js
 * Without it: the editor shows the expression.
 */
export const DEFINED_BY_MODEL = '/*n8n-auto-generated-fromAI-override*/';

/**
 * A parameter as it is entered, in the expression of a subtitle: also an expression, which is not evaluated.
 *
 * n8n 2.41.1, n8n-workflow/dist/cjs/workflow-data-proxy.js
 * Without it: the node has no subtitle.
 */
export const entered = (name: string) => `$rawParameter.${name}`;

/** All versions of a node of this package. */
const ALL_VERSIONS = { show: { '@version': [1] } };

/**
 * What makes n8n keep the value of a parameter that it shows nowhere: neither in the editor nor in the types for an AI that builds
 * workflows.
 *
 * n8n 2.41.1, n8n-workflow/dist/cjs/node-helpers.js (getNodeParameters), @n8n/workflow-sdk/dist/generate-types/generate-types.js
 * Without it: n8n drops what the form does not have, as it does anyway, and the node cannot reject it.
 */
export const KEPT_UNSEEN = {
	type: 'hidden',
	displayOptions: ALL_VERSIONS,
	disabledOptions: ALL_VERSIONS,
} as const;
