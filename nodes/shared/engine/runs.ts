import type {
	IExecuteFunctions,
	INode,
	IRunData,
	ISourceData,
	ISupplyDataFunctions,
	ITaskData,
	ITaskDataConnections,
	ITaskMetadata,
	NodeExecutionHint,
} from 'n8n-workflow';

import { withoutUndefined } from '../../client/json';
import { internalsOf, missing, nodeOf } from './context';
import { workflowOf, type Wire } from './workflow';

/**
 * The runs of all nodes so far.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js
 * Without it: undefined. Agent with Tools calls no branches, as it would take their results for questions.
 */
export function runDataOf(context: object) {
	return internalsOf(context).runExecutionData?.resultData?.runData;
}

/**
 * The index of this run of the node.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/node-execution-context/node-execution-context.js
 * Without it: undefined; `$runIndex` tells the same, but takes long.
 */
export function runIndexOf(context: object): number | undefined {
	return internalsOf(context).runIndex;
}

/**
 * The runs of a node in this execution so far, by default of this one, without those that n8n invents for an execution that crashed.
 *
 * n8n 2.41.1, n8n/dist/constants.js
 * Without it: invented runs count as runs, so that a retry may not recognize a turn of a conversation.
 */
export function runsOf(
	context: IExecuteFunctions,
	name = nodeOf(context).name,
): readonly ITaskData[] {
	const runs = runDataOf(context)?.[name] ?? [];
	return runs.filter(({ data, executionStatus }) => {
		const [item] = data?.['main']?.[0] ?? [];
		const isInvented = item?.json['isArtificialRecoveredEventItem'] === true;
		return executionStatus !== 'crashed' && !isInvented;
	});
}

/**
 * The source of the input items; null where n8n throws because there is none, as in a run without a trigger.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/node-execution-context/base-execute-context.js
 * Without it: null. Agent with Tools takes the items for questions, and its tool nodes do not run.
 */
export function sourceOf(context: IExecuteFunctions): ISourceData | null {
	try {
		return context.getInputSourceData();
	} catch {
		return null;
	}
}

/**
 * Whether the node runs as a tool of an AI agent: n8n gives such a node a type name that ends in "Tool".
 *
 * n8n 2.41.1, n8n/dist/tool-generation/ai-tools.js
 * Without it: a tool answers as an ordinary node: with all fields, and with an error where a video fails.
 */
export function isToolRun(context: Pick<IExecuteFunctions, 'getNode'>): boolean {
	return nodeOf(context).type.endsWith('Tool');
}

/**
 * What a model gave this tool of n8n's AI Agent beyond what its fields ask the model for: n8n adds any argument to the item.
 * Empty elsewhere; Agent with Tools sends none of them.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/requests-response.js
 * Without it: empty; a model can choose the session of somebody else.
 */
export function undeclaredArguments(context: IExecuteFunctions): readonly unknown[] {
	const { name, parameters } = context.getNode();
	const { nodes } = workflowOf(context);
	const caller = nodes[sourceOf(context)?.previousNode ?? ''];
	if (caller?.type.endsWith('.functionCallingAgent') === true) return [];
	// The run has them, too, but a Retry removes one that has failed.
	const asked = (stackOf(context) ?? []).flatMap(
		({ metadata }) => metadata?.subNodeExecutionData?.actions ?? [],
	);
	const given = asked.find(
		(each) => each.nodeName === name && each.runIndex === runIndexOf(context),
	);
	const fields = JSON.stringify(parameters).matchAll(/\$fromAI\(\s*\\?['"`]([^'"`\\]+)/gi);
	const declared = new Set(Array.from(fields, ([, argument]) => argument));
	return Object.entries(given?.action.input ?? {}).flatMap(([key, value]) =>
		declared.has(key) ? [] : [value],
	);
}

/**
 * Whether n8n continues the agent of this tool before it runs the tool, as in the legacy order: the model is given an empty text.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js
 * Without it: false; in the legacy order the result of the tool is lost.
 */
export function isToolTooLate(
	context: IExecuteFunctions | ISupplyDataFunctions,
): context is IExecuteFunctions {
	// AI Agent up to version 2.2, and n8n's MCP trigger, run the tool within their own run.
	const isOwnRun =
		isToolRun(context) && !context.isToolExecution() && 'getExecuteData' in context;
	// Without an execution n8n's own Agents run it: they wait for it.
	const { executionData } = internalsOf(context).runExecutionData ?? {};
	return isOwnRun && executionData !== undefined && workflowOf(context).isLegacyOrder;
}

/**
 * Keeps n8n from adding an empty item to the first output of this run, as its setting *Always Output Data* does: the run
 * is one of many, and the items of another one are the output.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js
 * Without it: with that setting an empty item goes on.
 */
export function ignoreAlwaysOutputData(context: IExecuteFunctions): void {
	const data = context.getExecuteData();
	data.node = { ...data.node, alwaysOutputData: false };
}

/**
 * Makes an error of this run end the execution, whatever *On Error* says.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js
 * Without it: with *On Error: Continue* the error is an item.
 */
export function stopOnError(context: IExecuteFunctions): void {
	const data = context.getExecuteData();
	data.node = { ...data.node, onError: 'stopWorkflow' };
	context.continueOnFail = () => false;
}

/**
 * What a run has counted and said so far. n8n drops it where the node asks it to run tools: the run that goes on is another one.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/requests-response.js (prepareRequestingNodeForResuming)
 * Without it: the run has the tokens and attributes since its last tools only.
 */
export function notesOf(context: IExecuteFunctions) {
	const { tokenUsage, tracing } = context.getExecuteData().metadata ?? {};
	return { metadata: withoutUndefined({ tokenUsage, tracing }), hints: hintsOf(context) };
}

/**
 * Makes the tools that this run asks for read other nodes by the links of the first item of this source: n8n links to that item
 * whichever one a call is for. By itself n8n looks for the source in the list of the inputs, by the index of the run.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/requests-response.js (prepareRequestedNodesForExecution)
 * Without it: in a later run of the node `$('name').item` of a tool reads an item of another run, or nothing.
 */
export function linkTools(context: IExecuteFunctions, source: ISourceData): void {
	const data = context.getExecuteData();
	data.metadata = { ...data.metadata, preservedSourceOverwrite: source };
}

/**
 * The hints of a run so far.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/node-execution-context/execute-context.js
 * Without it: none; a hint may stand below the output twice, and those before connected tool nodes have run are lost.
 */
export function hintsOf(context: object): readonly NodeExecutionHint[] {
	return internalsOf(context).hints ?? [];
}

/** The tries of a run, by the entry of the engine. */
const tries = new WeakMap<object, Set<object>>();

/** How many tries of this run have begun. */
function triesOf(context: IExecuteFunctions): number {
	const data = context.getExecuteData();
	const begun = (tries.get(data) ?? new Set()).add(context.helpers);
	tries.set(data, begun);
	return begun.size;
}

/**
 * Whether this is the first try of a run: n8n does not save that it is another one, so that a run that is suspended then begins
 * from the first try again.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (getRetryParams)
 * Without it: true; with *Retry On Fail* a suspended wait for a lost video does not end.
 */
export const isFirstTry = (context: IExecuteFunctions) => triesOf(context) === 1;

/**
 * Whether n8n tries this run again if it fails. Ask it in each try, as often as you like. The entry of the engine is the same for
 * all tries; n8n makes the helpers again for each. It takes 0 tries for the default.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (getRetryParams), node-execution-context/execute-context.js
 * Without it: true in each try; what is kept for the next one stays until the execution ends.
 */
export function isTriedAgain(context: IExecuteFunctions): boolean {
	const { retryOnFail, maxTries = 0 } = nodeOf(context);
	const isLeft = triesOf(context) < Math.min(5, Math.max(2, maxTries || 3));
	return retryOnFail === true && isLeft;
}

/** State of a node that n8n's own Agents run: they have no execution, and call it once. */
const ownValues = new WeakMap<object, Record<string, unknown>>();

/**
 * The state of a node within one execution, by name. n8n saves it with the execution: it survives retries and suspension.
 *
 * n8n 2.41.1, n8n-workflow/dist/cjs/node-helpers.js
 * Without it: an error before anything is sent.
 *
 * @throws InputError where n8n has an execution and no such state.
 */
export function nodeValues(context: object): Record<string, unknown> {
	try {
		// n8n gives sub-nodes a node context too, but their type lacks the method.
		return (context as Pick<IExecuteFunctions, 'getContext'>).getContext('node');
	} catch {
		if (internalsOf(context).runExecutionData?.executionData !== undefined)
			throw missing('what a node has done before');
		const values = ownValues.get(context) ?? {};
		ownValues.set(context, values);
		return values;
	}
}

/** An output of the run of a node. */
export interface RunRef {
	readonly node: string;
	readonly run: number;
	readonly output: number;
}

/**
 * The items of an output of a run.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (runData)
 * Without it: undefined; Agent with Tools takes each item for a question.
 */
export function itemsAt(runs: IRunData, { node, run, output }: RunRef) {
	return runs[node]?.[run]?.data?.['main']?.[output];
}

/**
 * The outputs of runs that a run received its items from.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (runData)
 * Without it: none; Agent with Tools takes each item for a question.
 */
export function sourcesOf(runs: IRunData, { node, run }: RunRef): RunRef[] {
	return (runs[node]?.[run]?.source ?? []).flatMap(toRefs);
}

/**
 * Whether an output of a run has the items that the run received: a node that is not answered in time passes them on.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (runData)
 * Without it: false; what a node passes on counts as an answer.
 */
export function isPassedOn(runs: IRunData, ref: RunRef): boolean {
	const jsonOf = (each: RunRef) => JSON.stringify(itemsAt(runs, each)?.map(({ json }) => json));
	return sourcesOf(runs, ref).some((from) => jsonOf(from) === jsonOf(ref));
}

/**
 * The output of a run that a source names; none where there is no source.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (runData)
 * Without it: it names no node, and what is looked for there is missing.
 */
export function toRefs(source: ISourceData | null): RunRef[] {
	if (source === null) return [];
	const { previousNode: node, previousNodeOutput = 0, previousNodeRun = 0 } = source;
	return [{ node, run: previousNodeRun, output: previousNodeOutput }];
}

/** How many runs of a node have been looked at for wrong sources, by the list of its runs. */
const restored = new WeakMap<readonly ITaskData[], number>();

/**
 * Restores the sources of runs that n8n has resumed, as it does when the tools of their node have run: of such a source only the
 * node is right. n8n replaces its output with the first one, and its run with that of the node that is resumed. Also n8n's item
 * linking follows the sources. In the order v1 a node runs with what has reached it last: from the last run of the other node,
 * and there from the last output.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/requests-response.js (handleRequest), workflow-execute.js (nodesToAdd)
 * Without it: Agent with Tools takes for a question what an AI Agent with tools returns for a call.
 */
export function restoreSources(context: Partial<IExecuteFunctions>): void {
	const data = context.getExecuteData?.();
	const { isLegacyOrder, wires } = workflowOf(context);
	const runs = runDataOf(context) ?? {};
	const { source, metadata } = data ?? {};
	const late = { startTime: Infinity, executionIndex: Infinity };
	const current = { source: source?.['main'] ?? [], metadata, ...late };
	const own = data?.node.name;
	for (const name of isLegacyOrder ? [] : new Set([...Object.keys(runs), own ?? ''])) {
		const ran = runs[name] ?? [];
		const first = restored.get(ran) ?? 0;
		restored.set(ran, ran.length);
		const all = name === own ? [...ran, current] : ran;
		if (!all.slice(first).some(wasResumed)) continue;
		const ways = wires().filter(({ to }) => to === name);
		const used = new Set<string>();
		for (const [index, task] of all.entries()) {
			const [from = null] = task.source;
			if (from !== null && index >= first && wasResumed(task))
				Object.assign(from, lastSource(runs, ways, task, used));
			for (const ref of toRefs(from)) used.add(keyOf(ref));
		}
	}
}

/**
 * Whether n8n has resumed the node of a run, as after the tools that the node has asked for.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/requests-response.js (handleRequest)
 * Without it: Agent with Tools takes the items of its run for questions again, where n8n has no result of the tools; and
 * `restoreSources` restores nothing.
 */
export const wasResumed = ({ metadata }: { readonly metadata?: ITaskMetadata | undefined }) =>
	metadata?.nodeWasResumed === true;

/** The output of the last run of another node before a task that has items for the node of the task, and is not used yet. */
function lastSource(
	runs: IRunData,
	ways: readonly Wire[],
	task: Pick<ITaskData, 'source' | 'startTime' | 'executionIndex'>,
	used: ReadonlySet<string>,
): Partial<ISourceData> | undefined {
	const node = task.source[0]!.previousNode;
	const outputs = ways.filter(({ from }) => from === node);
	// In a Retry n8n counts the runs from 0 again.
	const isBefore = ({ startTime, executionIndex }: ITaskData) =>
		startTime < task.startTime ||
		(startTime === task.startTime && executionIndex < task.executionIndex);
	const refs = (runs[node] ?? []).flatMap((ran, run) =>
		isBefore(ran) ? outputs.map(({ output }) => ({ node, run, output })) : [],
	);
	const last = refs.findLast((ref) => itemsAt(runs, ref)?.length && !used.has(keyOf(ref)));
	return last && { previousNodeOutput: last.output, previousNodeRun: last.run };
}

/** Names the output of a run. */
export function keyOf({ node, run, output }: RunRef): string {
	return `${node} ${run}/${output}`;
}

/**
 * The nodes that have run behind an output of a run, before the node of that run itself.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (runData)
 * Without it: none; an error does not name them.
 */
export function ranBehind(runs: IRunData, start: RunRef): Set<string> {
	const found = new Map([[keyOf(start), start]]);
	// A map can grow while it is iterated.
	for (const ref of found.values())
		for (const [node, ran] of Object.entries(runs))
			for (const [run, { source }] of node === start.node ? [] : ran.entries()) {
				const isNext = source
					.flatMap(toRefs)
					.some((from) =>
						ref === start
							? keyOf(from) === keyOf(ref)
							: from.node === ref.node && from.run === ref.run,
					);
				if (isNext) found.set(keyOf({ node, run, output: 0 }), { node, run, output: 0 });
			}
	return new Set([...found.values()].slice(1).map(({ node }) => node));
}

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
 * Suspends the execution. At this time n8n runs the node again, with the same input.
 *
 * n8n resumes a suspended execution by disabling the node of the run that is due first, so that its input passes on. Therefore
 * this run has no items any more, and one that runs the node follows it. In *Retry with currently saved workflow* all runs of a
 * node share one node object: this run is saved as one of the node that began the execution, which does not run again.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (handleWaitingState), n8n/dist/executions/execution.service.js
 * Without it: such a Retry after a kill passes tasks on as completed videos.
 */
export async function suspendUntil(context: IExecuteFunctions, resumeMs: number): Promise<void> {
	const entry = context.getExecuteData();
	stackOf(context)!.unshift({ ...entry, node: context.getNode() });
	entry.data = { main: [] };
	// With this mark n8n reports no run of that node.
	const metadata = { nodeWasResumed: true };
	const saved = { ...entry, node: beginningOf(context) ?? entry.node, metadata };
	Object.assign(entry, { toJSON: () => saved });
	await context.putExecutionToWait(new Date(resumeMs));
}

/** The node that began the execution. With *Always Output Data* it would run all others with an empty item. */
function beginningOf(context: IExecuteFunctions): INode | undefined {
	const runs = runDataOf(context) ?? {};
	const { nodes, wires } = workflowOf(context);
	const all = wires();
	const began = all.find(
		({ from }) =>
			runs[from] !== undefined &&
			nodes[from]!.alwaysOutputData !== true &&
			!all.some(({ to }) => to === from),
	);
	return nodes[began?.from ?? ''];
}

/**
 * Starts a node that waits for data at another of its inputs and can run without, as n8n does when no other node is due: the
 * result of a tool call may come through such a Merge. One that waits for what comes out of a node that ends stays: it would go
 * on without, and the rest would come to nothing.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (waitingExecution)
 * Without it: false; the agent fails for a call whose Merge could have run.
 *
 * @param ends The nodes whose runs are due last: what leads back to them may spare them their end.
 * @returns Whether there is such a node.
 */
export function startWaitingNode(context: IExecuteFunctions, ends: readonly string[]): boolean {
	const { workflow, runExecutionData } = internalsOf(context);
	const stack = stackOf(context) ?? [];
	const { waitingExecution = {}, waitingExecutionSource } = runExecutionData?.executionData ?? {};
	const names = Object.keys(waitingExecution);
	const before = (name: string) => workflow!.getParentNodes!(name, 'main', 1);
	const behind = (name: string) => workflow!.getChildNodes!(name, 'main', 1);
	for (const [name, runs] of Object.entries(waitingExecution)) {
		const [run = 0] = Object.keys(runs).map(Number);
		const inputs = runs[run]?.['main'] ?? [];
		const back = firstOf(ends, name, behind);
		const isBlocked =
			workflow!.getParentNodes!(name).some((parent) => names.includes(parent)) ||
			firstOf(ends, name, before).some((end) => !back.includes(end));
		const node = workflowOf(context).nodes[name];
		if (node === undefined || isBlocked || !canStart(context, node, inputs)) continue;
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

/** Those of some nodes that come first on the ways from a node, along which `next` leads. */
function firstOf(
	some: readonly string[],
	start: string,
	next: (name: string) => readonly string[],
): readonly string[] {
	const found = new Set(next(start));
	// A set can grow while it is iterated.
	for (const name of found)
		for (const more of some.includes(name) ? [] : next(name)) found.add(more);
	return some.filter((name) => found.has(name));
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
