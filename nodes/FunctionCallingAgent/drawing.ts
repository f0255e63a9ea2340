import type { IExecuteData, IExecuteFunctions } from 'n8n-workflow';

import { InputError, rejectMistakes } from '../client/errors';
import { counted } from '../client/values';
import { setCustomData } from '../shared/chat/finishReply';
import { engineOf, sourceOf, startWaitingNode } from '../shared/run/engine';
import { textOf } from '../shared/chat/schemaForm';
import { hint } from '../shared/run/hints';
import { isSingleOutput, toolForm } from './properties';
import type { Call } from './state';

/** Indexes of the outputs. */
export const ANSWER = 0;
export const STOPPED = 1;
export const FIRST_TOOL = 2;

type Drawing = NonNullable<ReturnType<typeof readDrawing>>;

/** The node as it is drawn in the workflow; undefined in an n8n that does not show it. */
export function readDrawing(context: IExecuteFunctions) {
	const { connections, isTrigger } = engineOf(context);
	if (connections === undefined) return undefined;
	const { name, onError } = context.getNode();
	const hasErrorOutput = onError === 'continueErrorOutput';
	return { name, connections, toolOutputs: readToolOutputs(context), hasErrorOutput, isTrigger };
}

/** What the errors call the outputs for tool calls, in their order. */
export function readToolOutputs(context: IExecuteFunctions): string[] {
	const values = toolForm.read(context, 0);
	if (isSingleOutput(values)) return ['Tool Calls'];
	return values.tools.map(({ name }, index) => `Tool ${textOf(name) || index + 1}`);
}

const STRAIGHT = 'leads straight back to the input';
const SHIFTED =
	'n8n keeps connections by position: after a tool was removed, each later tool leads to the branch of another. Check where each tool output leads';
const USE = 'Only tool branches lead back. Connect this output to the nodes that use it';

/**
 * Checks that every tool call can come back as a result, before the first request is paid for.
 *
 * @param needsBranches Whether tool calls can leave the node.
 * @throws InputError that names the output and says what to draw.
 */
export function checkDrawing(drawing: Drawing | undefined, needsBranches: boolean): void {
	if (drawing === undefined) return;
	const { name, connections, toolOutputs, hasErrorOutput } = drawing;
	const errorOutput = FIRST_TOOL + toolOutputs.length;
	const labels = ['Answer', 'Stopped', ...toolOutputs, 'Error'];
	const leadsBack = (from: readonly string[]) => reachable(drawing, from).has(name);
	// A removed tool leaves its connection, or an additional empty slot and the branch of the last tool, to which nothing
	// leads any more. n8n never removes the slot, so alone it means nothing.
	const slots = connections[name]?.['main'] ?? [];
	const removed = slots.slice(errorOutput + (hasErrorOutput ? 1 : 0));
	const [left] = removed.flatMap((targets) => targets ?? []);
	const lost = `are left of an output that no longer exists, to ${left?.node}`;
	const remove = `${SHIFTED}, and delete the connection without a label`;
	rejectMistakes('Connections', [[left !== undefined, lost, remove]]);
	const [orphan] = removed.length > 0 ? orphans(drawing) : [];
	const connect = `${SHIFTED} and connect them again. Delete ${orphan} only if no tool needs it`;
	const leads = 'which leads back to this node';
	rejectMistakes(`Nothing leads to ${orphan},`, [[orphan !== undefined, leads, connect]]);
	const failed = removed.length > 0 ? targetsOf(drawing, name, errorOutput) : [];
	const branch = `leads to ${failed[0]}, the branch of a tool`;
	rejectMistakes('Error', [[leadsBack(failed), branch, SHIFTED]]);
	for (const output of [ANSWER, STOPPED, errorOutput]) {
		const isStraight = targetsOf(drawing, name, output).includes(name);
		rejectMistakes(labels[output]!, [[isStraight, STRAIGHT, USE]]);
	}
	const between = `Connect its output to the nodes that run it, and the last of them to the input of ${name}`;
	const back = `Connect the last node of the branch to the input of ${name}`;
	for (const [index, label] of needsBranches ? toolOutputs.entries() : []) {
		const targets = targetsOf(drawing, name, FIRST_TOOL + index);
		rejectMistakes(label, [
			[targets.length === 0, 'has no branch', between],
			[targets.includes(name), STRAIGHT, between],
			[!leadsBack(targets), 'has a branch that does not lead back', back],
		]);
	}
}

/** The names of the nodes in the branches of the tools, with the node itself. */
function loopNodes(drawing: Drawing): ReadonlySet<string> {
	const { name, toolOutputs } = drawing;
	const outputs = toolOutputs.map((_label, index) => FIRST_TOOL + index);
	const branches = outputs.flatMap((output) => targetsOf(drawing, name, output));
	return new Set([name, ...reachable(drawing, branches)]);
}

/** The names of the nodes that the outputs of a node lead to, or one of the outputs. */
export function targetsOf({ connections }: Drawing, node: string, output?: number): string[] {
	return (connections[node]?.['main'] ?? []).flatMap((targets, index) =>
		index === (output ?? index) ? (targets ?? []).map((target) => target.node) : [],
	);
}

/** The nodes on the ways from these nodes. The ways end at the node of the drawing. */
function reachable(drawing: Drawing, from: readonly string[]): Set<string> {
	const found = new Set(from);
	// A set can grow while it is iterated.
	for (const node of found) {
		const targets = node === drawing.name ? [] : targetsOf(drawing, node);
		for (const target of targets) found.add(target);
	}
	return found;
}

/** The nodes that lead to the node of the drawing although nothing leads to them and they start no execution. */
function orphans(drawing: Drawing): string[] {
	const { name, connections, isTrigger } = drawing;
	const nodes = Object.keys(connections);
	const targets = new Set([name, ...nodes.flatMap((node) => targetsOf(drawing, node))]);
	return nodes.filter(
		(node) => !targets.has(node) && !isTrigger(node) && reachable(drawing, [node]).has(name),
	);
}

/** Key of the tools whose results are missing: in the check, and in the execution's custom data, there or `none`. */
const OPEN_CALLS = 'agent_video_open_calls';

/**
 * Turns the end of an execution while tool calls are open into an error: a branch that ends without an item never runs the
 * node again, and n8n ends the execution with success.
 *
 * n8n has no function for that. So a run of the node is put at the end of the engine's list of due runs, which comes when
 * everything else has run, and is taken away when all results are back. The calls also leave a hint in the run's output
 * and a value in the execution's custom data, by which the execution can be found in n8n's list.
 *
 * @param calledNow Whether this run has sent calls out.
 */
export function watchOpenCalls(
	context: IExecuteFunctions,
	open: readonly Call[],
	calledNow: boolean,
): void {
	const { stack = [], destination } = engineOf(context);
	// "Execute step" on the node or on a node of a branch ends before the result comes back.
	const drawing = destination === undefined ? undefined : readDrawing(context);
	const isStep = drawing !== undefined && loopNodes(drawing).has(destination!);
	const tools = toolsOf(open);
	if (calledNow) {
		const step = isStep
			? '. "Execute step" has run this node only. Execute the whole workflow to run the tools and get the answer.'
			: '';
		hint(context, `Waiting for ${tools.join(', ')}${step}`, 'info');
	}

	const { node } = context.getExecuteData();
	const planned = stack.findIndex((entry) => isCheck(entry) && entry.node.name === node.name);
	if (planned >= 0) stack.splice(planned, 1);
	if (tools.length > 0 && !isStep) {
		const mark: object = { [OPEN_CALLS]: tools };
		const check: IExecuteData = {
			node,
			data: { main: [[{ json: { [OPEN_CALLS]: tools } }]] },
			source: { main: [sourceOf(context)] },
			metadata: mark,
		};
		// The check of an agent that runs in the branch of another one comes before the check of that one.
		const first = stack.findIndex(isCheck);
		stack.splice(first < 0 ? stack.length : first, 0, check);
	}

	const missing = new Set([...tools, ...stack.flatMap((entry) => openTools(entry) ?? [])]);
	const { customData } = context as Partial<IExecuteFunctions>;
	if (missing.size > 0 || customData?.get(OPEN_CALLS) !== undefined)
		setCustomData(context, OPEN_CALLS, [...missing].join(', ') || 'none');
}

/** Whether this run of the node is the check. */
export function isEndCheck(context: IExecuteFunctions): boolean {
	return isCheck(context.getExecuteData());
}

/**
 * The error about the missing results; undefined if other nodes are still due, and the check is put at the end again: in
 * the execution order v0, or if a node, such as a Merge, can run without the data that it waits for at another input.
 */
export function checkEnd(
	context: IExecuteFunctions,
	open: readonly Call[],
): InputError | undefined {
	const { stack = [] } = engineOf(context);
	if (!stack.every(isCheck) || startWaitingNode(context)) {
		stack.push(context.getExecuteData());
		return undefined;
	}
	const names = toolsOf(open);
	return new InputError(
		names.length === 1 ? `Tool ${names[0]}` : `Tools ${names.join(', ')}`,
		`returned no item for ${counted(open.length, 'call')}`,
		'The branch has ended before it reached this node again. Switch on Always Output Data in the settings of its last node, and connect every output of its nodes, error outputs as well',
	);
}

function toolsOf(calls: readonly Call[]): string[] {
	return [...new Set(calls.map(({ record }) => record.name))];
}

/** The tools whose results a check waits for; undefined if the entry is no check. */
function openTools({ metadata = {} }: IExecuteData): readonly string[] | undefined {
	return (metadata as { readonly [OPEN_CALLS]?: readonly string[] })[OPEN_CALLS];
}

function isCheck(entry: IExecuteData): boolean {
	return openTools(entry) !== undefined;
}
