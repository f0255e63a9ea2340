import type { IExecuteFunctions, INode, ITaskDataConnections } from 'n8n-workflow';

import { ServiceError } from '../../client/errors';
import { executionOf } from '../engine/execution';
import { internalsOf } from '../engine/internals';
import { stopOnError } from '../engine/nodeSettings';
import { runDataOf, runIndexOf } from '../engine/runs';
import { stackOf } from '../engine/stack';
import { workflowOf } from '../engine/workflow';
import type { NodeContext } from './nodeContext';

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

/** How often in a row a workflow may be called by its own calls. */
const MAX_CALLS = 10;
const MESSAGE = `A workflow has called itself ${MAX_CALLS} times in a row`;
const ADVICE =
	'Nothing was sent. Use Loop Over Items in place of the call, or call another workflow';

/** The executions that have begun calls without an end. */
const endless = new Set<string>();

/** The execution that has begun each one, by its data: n8n reads the executions in between from its database. */
const roots = new WeakMap<object, string>();

async function findRoot(context: NodeContext): Promise<string> {
	const chain = await executionOf(context).chain();
	const { id } = context.getWorkflow();
	const own = chain.filter(({ parent }) => parent !== undefined && parent.workflowId === id);
	const root = chain.at(-1)!.id;
	if (own.length > MAX_CALLS) endless.add(root);
	return root;
}

/**
 * Ends a workflow that calls itself without an end, as a sub-workflow or a tool, also through other workflows: each call is
 * an execution of its own. Then all that the first one has begun ends: an agent would call such a tool again.
 *
 * @returns What checks the same before each request, as other calls of the execution may have gone on.
 * @throws ServiceError when it has been called too often.
 */
export async function checkSelfCalls(context: NodeContext): Promise<() => void> {
	const { executionData = {} } = engineOf(context as IExecuteFunctions);
	const root = roots.get(executionData) ?? (await findRoot(context));
	roots.set(executionData, root);
	function check(): void {
		if (!endless.has(root)) return;
		if ('getExecuteData' in context) stopOnError(context);
		throw new ServiceError('limit', MESSAGE, ADVICE);
	}
	check();
	return check;
}
