import type { IExecuteFunctions, INode, ITaskDataConnections } from 'n8n-workflow';

import { internalsOf } from './internals';
import { workflowOf } from './workflow';

/**
 * The node runs that are due, in their order: what is put there runs.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js
 * Without it: undefined, see `canPlanRuns`.
 */
export function stackOf(context: object) {
	return internalsOf(context).runExecutionData?.executionData?.nodeExecutionStack;
}

/**
 * Whether the stack is the one that n8n works off: what is put there runs, and a suspended execution goes on. In n8n's engine
 * 2.0 each step has a stack that nothing reads. The engine that reads it does not start without hooks, which a step lacks.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js; engine 2.0: @n8n/node-engine-compatibility/dist/v1-adapters.js
 * Without it: no run is planned and nothing suspended; a node that needs it says so before it pays.
 */
export function canPlanRuns(context: object): boolean {
	const { hooks } = internalsOf(context).additionalData ?? {};
	return stackOf(context) !== undefined && hooks !== undefined;
}

/**
 * Starts a node that waits for data at another of its inputs and can run without, as n8n does when no other node is due: the
 * result of a tool call may come through such a Merge.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (waitingExecution)
 * Without it: false; the agent fails for a call whose Merge could have run.
 *
 * @returns Whether there is such a node.
 */
export function startWaitingNode(context: IExecuteFunctions): boolean {
	const { workflow, runExecutionData } = internalsOf(context);
	const stack = stackOf(context) ?? [];
	const { waitingExecution = {}, waitingExecutionSource } = runExecutionData?.executionData ?? {};
	const names = Object.keys(waitingExecution);
	for (const [name, runs] of Object.entries(waitingExecution)) {
		const [run = 0] = Object.keys(runs).map(Number);
		const inputs = runs[run]?.['main'] ?? [];
		const isBlocked = workflow!.getParentNodes!(name).some((parent) => names.includes(parent));
		const node = workflow!.nodes![name]!;
		if (isBlocked || !canStart(context, node, inputs)) continue;
		stack.push({
			node,
			data: { main: inputs.map((items) => items ?? []) },
			source: waitingExecutionSource?.[name]?.[run] ?? null,
		});
		Reflect.deleteProperty(runs, run);
		Reflect.deleteProperty(waitingExecutionSource?.[name] ?? {}, run);
		if (Object.keys(runs).length === 0) Reflect.deleteProperty(waitingExecution, name);
		return true;
	}
	return false;
}

/** Whether a node has data at all inputs that it requires; the order v0 requires none. */
function canStart(
	context: IExecuteFunctions,
	node: INode,
	inputs: ITaskDataConnections[string],
): boolean {
	const { isLegacyOrder, descriptionOf } = workflowOf(context);
	const given = inputs.flatMap((items, index) => (items?.length ? [index] : []));
	if (given.length === 0 || isLegacyOrder) return given.length > 0;
	const { requiredInputs = [] } = descriptionOf(node.name) ?? {};
	const mode = context.getMode();
	const required: unknown =
		typeof requiredInputs === 'string'
			? internalsOf(context).workflow!.expression!.getSimpleParameterValue(
					node,
					requiredInputs,
					mode,
					{},
				)
			: requiredInputs;
	return Array.isArray(required)
		? required.every((index) => given.includes(index as number))
		: given.length >= Number(required);
}
