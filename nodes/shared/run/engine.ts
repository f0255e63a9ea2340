import type { IExecuteFunctions, INode, ITaskDataConnections } from 'n8n-workflow';

import { internalsOf } from '../engine/internals';
import { runDataOf, runIndexOf } from '../engine/runs';
import { stackOf } from '../engine/stack';
import { workflowOf } from '../engine/workflow';

/**
 * The parts of n8n's execution engine that a node has no public function for. Each is undefined in an n8n that keeps them
 * elsewhere.
 */
export function engineOf(context: IExecuteFunctions) {
	const { runExecutionData, workflow } = internalsOf(context);
	return {
		...workflowOf(context),
		workflow,
		runData: runDataOf(context),
		runIndex: () => runIndexOf(context),
		executionData: runExecutionData?.executionData,
		stack: stackOf(context),
	};
}

/**
 * Starts a node that waits for data at another of its inputs and can run without, as n8n does when no other node is due.
 *
 * @returns Whether there is such a node.
 */
export function startWaitingNode(context: IExecuteFunctions): boolean {
	const { workflow, executionData, stack = [] } = engineOf(context);
	const { waitingExecution = {}, waitingExecutionSource } = executionData ?? {};
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
	const { workflow, isLegacyOrder, descriptionOf } = engineOf(context);
	const given = inputs.flatMap((items, index) => (items?.length ? [index] : []));
	if (given.length === 0 || isLegacyOrder) return given.length > 0;
	const { requiredInputs = [] } = descriptionOf(node.name) ?? {};
	const mode = context.getMode();
	const required: unknown =
		typeof requiredInputs === 'string'
			? workflow!.expression!.getSimpleParameterValue(node, requiredInputs, mode, {})
			: requiredInputs;
	return Array.isArray(required)
		? required.every((index) => given.includes(index as number))
		: given.length >= Number(required);
}
