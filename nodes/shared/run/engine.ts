import {
	CHAT_TRIGGER_NODE_TYPE,
	type IExecuteFunctions,
	type INode,
	type IRunExecutionData,
	type ISourceData,
	type ITaskData,
	type ITaskDataConnections,
	type IWorkflowExecuteAdditionalData,
	type Workflow,
} from 'n8n-workflow';

import { InputError, ServiceError } from '../../client/errors';
import { objectOf } from '../../client/json';
import { isToolRun, type NodeContext } from './nodeContext';

/** What n8n's context has, though its type does not declare it. */
interface Internals {
	readonly runExecutionData?: Partial<IRunExecutionData>;
	readonly runIndex?: number;
	readonly workflow?: Partial<Workflow>;
	readonly additionalData?: Partial<IWorkflowExecuteAdditionalData> & {
		readonly hooks?: { readonly retryOf?: string };
	};
}

/**
 * The parts of n8n's execution engine that a node has no public function for. Each is undefined in an n8n that keeps them
 * elsewhere.
 */
export function engineOf(context: IExecuteFunctions) {
	const { runExecutionData, workflow } = context as unknown as Internals;
	const { resultData, executionData, startData } = runExecutionData ?? {};
	return {
		/** The runs of all nodes so far. */
		runData: resultData?.runData,
		/** The index of this run of the node. */
		runIndex: () => (context as unknown as Internals).runIndex,
		executionData,
		/** The node runs that are due, in their order. */
		stack: executionData?.nodeExecutionStack,
		/** The node on which "Execute step" was clicked. */
		destination: startData?.destinationNode?.nodeName,
		workflow,
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
 */
export function isConnected(context: IExecuteFunctions, output: number): boolean {
	const { connections, destination } = engineOf(context);
	if (connections === undefined || destination !== undefined) return true;
	return (connections[context.getNode().name]?.['main']?.[output] ?? []).length > 0;
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

/**
 * Keeps n8n from adding an empty item to the first output of this run, as its setting *Always Output Data* does: the run
 * is one of many, and the items of another one are the output.
 */
export function ignoreAlwaysOutputData(context: IExecuteFunctions): void {
	const data = context.getExecuteData();
	data.node = { ...data.node, alwaysOutputData: false };
}

/** Makes an error of this run end the execution, whatever *On Error* says. */
export function stopOnError(context: IExecuteFunctions): void {
	const data = context.getExecuteData();
	data.node = { ...data.node, onError: 'stopWorkflow' };
	context.continueOnFail = () => false;
}

/**
 * Checks that an agent gets the result of this tool. In the legacy order n8n continues the agent before it runs the tool, so
 * that the model is given an empty text. n8n passes over the errors of tools: this one is to stop the execution.
 *
 * @throws InputError where the result would be lost.
 */
export function checkToolOrder(context: NodeContext): void {
	// An older agent, and n8n's MCP trigger, run the tool within their own run.
	if (!isToolRun(context) || context.isToolExecution() || !('getExecuteData' in context)) return;
	const { executionData, isLegacyOrder } = engineOf(context);
	// Without an execution n8n's own Agents run it: they wait for it.
	if (executionData === undefined || !isLegacyOrder) return;
	stopOnError(context);
	throw new InputError(
		'Execution Order',
		'is v0 (legacy), in which n8n gives the agent no result of a tool',
		'Nothing was sent. Open the Settings in the menu of the workflow, and set Execution Order to v1 (recommended)',
	);
}

/** The runs of this node in this execution so far, without those that n8n invents for an execution that crashed. */
export function runsOf(context: IExecuteFunctions): readonly ITaskData[] {
	const runs = engineOf(context).runData?.[context.getNode().name] ?? [];
	return runs.filter(({ data, executionStatus }) => {
		const [item] = data?.['main']?.[0] ?? [];
		const isInvented = item?.json['isArtificialRecoveredEventItem'] === true;
		return executionStatus !== 'crashed' && !isInvented;
	});
}

/** Whether a run called sub-workflows before the execution of this ID began: IDs grow. Without their IDs it counts as one. */
function isCallBefore({ data, metadata }: ITaskData, id: string): boolean {
	const items = (data?.['main'] ?? []).flatMap((output) => output ?? []);
	const calls = [{ metadata }, ...items].flatMap((each) => each.metadata?.subExecution ?? []);
	return calls.length === 0
		? metadata?.subExecutionsCount !== undefined
		: calls.some(({ executionId }) => Number(executionId) < Number(id));
}

/** The source of the input items; null where n8n throws because there is none, as in a run without a trigger. */
export function sourceOf(context: IExecuteFunctions): ISourceData | null {
	try {
		return context.getInputSourceData();
	} catch {
		return null;
	}
}

/** Whether the time limit of the workflow is over. n8n then carries out no sub-workflow that the node waits for. */
export function isPastTimeLimit(context: IExecuteFunctions): boolean {
	const { additionalData } = context as unknown as Internals;
	return Date.now() >= (additionalData?.executionTimeoutTimestamp ?? Infinity);
}

/** Index of the first output of Agent with Tools that has tool calls. */
export const FIRST_TOOL = 2;

/** Whether the calls of all tools of an Agent with Tools leave through one output, by its form. */
export function isSingleOutput(values: { toolSource?: unknown; outputMode?: unknown }): boolean {
	return values.toolSource === 'json' || values.outputMode === 'single';
}

/** Tells by its index whether an output of an Agent with Tools has tool calls. The one for errors comes after them. */
export function isToolOutput({ parameters }: INode): (output: number) => boolean {
	const { tool } = objectOf(parameters['tools']);
	const count = isSingleOutput(parameters) ? 1 : [tool ?? []].flat().length;
	return (output) => output >= FIRST_TOOL && output < FIRST_TOOL + count;
}

/** Whether the items of this run come from a tool call of Agent with Tools, whose model reads what goes back. */
export function isToolCall(context: IExecuteFunctions): boolean {
	const { runData = {}, nodes } = engineOf(context);
	const own = context.getNode().name;
	const after = context.getChildNodes(own);
	for (let from = sourceOf(context); from;) {
		const { previousNode: name, previousNodeOutput = 0, previousNodeRun = 0 } = from;
		const node = nodes[name];
		if (name !== own && node?.type.endsWith('.functionCallingAgent') === true)
			return (
				isToolOutput(node)(previousNodeOutput) && after.some((each) => each.name === name)
			);
		from = runData[name]?.[previousNodeRun]?.source[0] ?? null;
	}
	return false;
}

/** Whether the visitor of a chat may read the output of the node: n8n's Chat Trigger comes before it. */
export function isInChat(context: IExecuteFunctions): boolean {
	const before = context.getParentNodes(context.getNode().name);
	return before.some(({ type }) => type === CHAT_TRIGGER_NODE_TYPE) && !isToolCall(context);
}

/** What identifies an execution; undefined where n8n does not tell. The calls of n8n's own Agents have no ID. */
function factsOf(id = '', data?: Partial<IRunExecutionData>, retryOf?: string) {
	return {
		id,
		/** A random secret of the execution, which its retries have, too. */
		token: data?.resumeToken,
		/** The execution that this one retries. */
		retryOf,
		/** The execution that called this one as a sub-workflow, and its workflow. */
		parent: data?.parentExecution,
		/** Whether n8n has kept node runs from before its start that called sub-workflows, as a retry does. */
		keepsCalls: Object.values(data?.resultData?.runData ?? {})
			.flat()
			.some((run) => isCallBefore(run, id)),
	};
}

/** The running execution, and those that called it. */
export function executionOf(context: NodeContext) {
	const { runExecutionData, additionalData = {} } = context as unknown as Internals;
	const { hooks, rootExecutionMode = context.getMode() } = additionalData;
	const current = factsOf(context.getExecutionId(), runExecutionData, hooks?.retryOf);
	return {
		current,
		isRetry: rootExecutionMode === 'retry',
		/** Whether this execution itself is the retry, and not one that called it. */
		isRetried: context.getMode() === 'retry',
		/** This execution, the one that called it, and so on. */
		chain: async () => {
			const chain = [current];
			for (;;) {
				const id = chain.at(-1)!.parent?.executionId;
				if (id === undefined || chain.some((each) => each.id === id)) return chain;
				chain.push(factsOf(id, await additionalData.getRunExecutionData?.(id)));
			}
		},
	};
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
