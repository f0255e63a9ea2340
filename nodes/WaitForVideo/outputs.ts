import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { canPlanRuns, isToolRun, stackOf } from '../shared/engine/runs';
import { isConnected, workflowOf } from '../shared/engine/workflow';
import type { deliver } from '../shared/wait/deliver';
import type { WaitMode } from '../shared/wait/poll';
import { waitForm } from './properties';

/** Outputs of Wait for Video by index. As a tool all results use the first one, the only one that an agent reads. */
export const [COMPLETED, FAILED, GENERATING] = [0, 1, 2] as const;
const NAMES = ['Completed', 'Failed', 'Generating'] as const;
/** What became of the videos of each output. */
const ENDINGS = [['completed'], ['failed', 'unsent'], ['generating']] as const;

/** The outputs; only Ask Once has the third one, for videos that are not finished yet. */
export const WAIT_OUTPUTS = `={{ ${JSON.stringify(NAMES)}
	.slice(0, $parameter.waitMode === 'once' ? 3 : 2)
	.map((displayName) => ({ type: 'main', displayName })) }}` as const;

/**
 * The mode of this run. The node polls in place whatever the form says where suspending does not work: it would cut off
 * a streamed response, and n8n does not resume a node that was started with "Execute step".
 */
export function readWaitMode(context: IExecuteFunctions): WaitMode {
	const { waitUntilFinished, waitMode } = waitForm.fields;
	if (isToolRun(context)) return waitUntilFinished.read(context, 0) ? 'inPlace' : 'once';
	const mode = waitMode.read(context, 0);
	const { destination } = workflowOf(context);
	const isStep = destination === context.getNode().name;
	const canSuspend = !context.isStreaming() && !isStep && canPlanRuns(context);
	return mode === 'suspend' && !canSuspend ? 'inPlace' : mode;
}

/** The items by output. An error goes on where On Error says so: where Failed leads nowhere, as from other nodes. */
export function toOutputs(
	context: IExecuteFunctions,
	delivered: Awaited<ReturnType<typeof deliver>>,
): INodeExecutionData[][] {
	if (isToolRun(context)) return [delivered.map(({ item }) => item)];
	// n8n itself moves errors to an error output. Without one the node continues, in the older form of On Error as well.
	const hasErrorOutput = context.getNode().onError === 'continueErrorOutput';
	const errorOutput = hasErrorOutput || isConnected(context, FAILED) ? 'failed' : 'completed';
	const outputs = ENDINGS.map((endings: readonly string[]) =>
		delivered.flatMap(({ item, ending = errorOutput }) =>
			endings.includes(ending) ? [item] : [],
		),
	);
	return outputs.slice(0, outputs[GENERATING]!.length > 0 ? 3 : 2);
}

/**
 * Suspends the execution. At this time n8n runs the node again, with the same input.
 *
 * n8n resumes a suspended execution by passing the input of the node on to its first output, without running the node.
 * So this entry of the execution stack gets no items, and an entry that runs the node follows it.
 */
export async function suspendUntil(context: IExecuteFunctions, resumeMs: number): Promise<void> {
	const entry = context.getExecuteData();
	stackOf(context)!.unshift({ ...entry, node: context.getNode() });
	entry.data = { main: [] };
	await context.putExecutionToWait(new Date(resumeMs));
}

/**
 * Checks the connections before the first poll.
 *
 * @throws InputError for an output that leads back to the node: it would run again without a pause, and without an end.
 */
export function checkConnections(context: IExecuteFunctions, mode: WaitMode): void {
	const { name } = context.getNode();
	const outputs = workflowOf(context).connections?.[name]?.['main'] ?? [];
	const waiting = mode === 'once' ? [COMPLETED, GENERATING] : [COMPLETED];
	const looping = waiting.find((index) => outputs[index]?.some(({ node }) => node === name));
	if (looping === undefined) return;
	throw new InputError(
		NAMES[looping],
		'is connected to the input of this node',
		'Remove that connection: to wait for a video, set Wait Mode to Poll in Place or Suspend Between Polls',
	);
}
