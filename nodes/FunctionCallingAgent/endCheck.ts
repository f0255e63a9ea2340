import type { IExecuteData, IExecuteFunctions, ISourceData } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { counted } from '../client/values';
import { setCustomData } from '../shared/chat/reportCall';
import { engineOf, startWaitingNode } from '../shared/run/engine';
import { hint } from '../shared/run/hints';
import { loopNodes, readDrawing } from './drawing';
import type { EmittedCall } from './matching';
import type { AgentState } from './state';

/** Key of the tools whose results are missing: in the check, and in the execution's custom data, there or `none`. */
const OPEN_CALLS = 'agent_video_open_calls';

/**
 * Turns the end of an execution while tool calls are open into an error: a branch that ends without an item never runs the
 * node again, and n8n ends the execution with success.
 *
 * n8n has no function for that. So a run of the node is put at the end of the engine's list of due runs, which comes when
 * everything else has run, and is taken away when all results are back. The calls also leave a hint in the run's output
 * and a value in the execution's custom data, by which the execution can be found in n8n's list.
 */
export function watchOpenCalls(
	context: IExecuteFunctions,
	state: AgentState,
	{ source, calledNow }: { readonly source: ISourceData | null; readonly calledNow: boolean },
): void {
	const open = branchCalls(state);
	const { stack = [], destination } = engineOf(context);
	// "Execute step" on the node or on a node of a branch ends before the result comes back.
	const drawing = destination === undefined ? undefined : readDrawing(context);
	const isStep = drawing !== undefined && loopNodes(drawing).has(destination!);
	const tools = toolNames(open);
	if (calledNow) {
		const step = isStep
			? '. "Execute step" has run this node only. Execute the whole workflow to run the tools and get the answer.'
			: '';
		hint(context, `Waiting for ${tools.join(', ')}${step}`, 'info');
	}

	const { name } = context.getNode();
	const planned = stack.findIndex((entry) => openTools(entry) && entry.node.name === name);
	if (planned >= 0) stack.splice(planned, 1);
	if (open.length > 0 && !isStep) {
		const mark: object = { [OPEN_CALLS]: tools };
		const check: IExecuteData = {
			node: context.getExecuteData().node,
			data: { main: [[{ json: { [OPEN_CALLS]: tools } }]] },
			source: { main: [source] },
			metadata: mark,
		};
		// The check of an agent that runs in the branch of another one comes before the check of that one.
		const first = stack.findIndex(openTools);
		stack.splice(first < 0 ? stack.length : first, 0, check);
	}
	report(context, [...tools, ...stack.flatMap((entry) => openTools(entry) ?? [])]);
}

/** Whether this run of the node is the check. */
export function isEndCheck(context: IExecuteFunctions): boolean {
	return openTools(context.getExecuteData()) !== undefined;
}

/**
 * The error about the missing results; undefined if other nodes are still due, and the check is put at the end again: in
 * the execution order v0, or if a node, such as a Merge, can run without the data that it waits for at another input.
 */
export function checkEnd(context: IExecuteFunctions, state: AgentState): InputError | undefined {
	const { stack = [] } = engineOf(context);
	if (stack.some((entry) => openTools(entry) === undefined) || startWaitingNode(context)) {
		stack.push(context.getExecuteData());
		return undefined;
	}

	const open = branchCalls(state);
	const names = toolNames(open);
	return new InputError(
		names.length === 1 ? `Tool ${names[0]}` : `Tools ${names.join(', ')}`,
		`returned no item for ${counted(open.length, 'call')}`,
		'The branch has ended before it reached this node again. Switch on Always Output Data in the settings of its last node, and connect every output of its nodes, error outputs as well',
	);
}

/** The calls that are out in a branch. */
export function branchCalls({ open }: AgentState): EmittedCall[] {
	return open.filter((call): call is EmittedCall => call.position !== undefined);
}

function toolNames(calls: readonly EmittedCall[]): string[] {
	return [...new Set(calls.map(({ envelope }) => envelope.tool))];
}

/** Sets the execution's custom data to the tools of all agents whose results are missing. */
function report(context: Partial<IExecuteFunctions>, tools: readonly string[]): void {
	if (tools.length === 0 && context.customData?.get(OPEN_CALLS) === undefined) return;
	setCustomData(context, OPEN_CALLS, [...new Set(tools)].join(', ') || 'none');
}

/** The tools whose results a check waits for; undefined if the entry is no check. */
function openTools({ metadata = {} }: IExecuteData): readonly string[] | undefined {
	return (metadata as { readonly [OPEN_CALLS]?: readonly string[] })[OPEN_CALLS];
}
