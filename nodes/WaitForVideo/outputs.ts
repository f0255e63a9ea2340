import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { engineOf } from '../shared/run/engine';
import { isToolRun } from '../shared/run/nodeContext';

/** The outputs of Wait for Video, in their order. */
export const WAIT_OUTPUTS = ['Still Generating', 'Completed', 'Failed'] as const;

const STILL_GENERATING = 0;
const COMPLETED = 1;

/**
 * How the node polls: in place, in the running process; or suspended, with the execution saved between polls. As a tool
 * it polls in place, and all results use the first output, the only one that an agent reads.
 */
export type WaitMode = 'inPlace' | 'suspend' | 'tool';

/**
 * The mode of this run. The node polls in place whatever the form says where suspending does not work: it would cut off
 * a streamed response, and n8n does not resume a node that was started with "Execute step".
 */
export function readWaitMode(context: IExecuteFunctions): WaitMode {
	if (isToolRun(context)) return 'tool';
	const mode = context.getNodeParameter('waitMode', 0, 'inPlace');
	const isStep = engineOf(context).destination === context.getNode().name;
	const canSuspend = !context.isStreaming() && !isStep;
	return mode === 'suspend' && canSuspend ? 'suspend' : 'inPlace';
}

/** The items by output, in the order of WAIT_OUTPUTS. */
export function onOutputs({
	stillGenerating = [],
	completed = [],
	failed = [],
}: Partial<
	Record<'stillGenerating' | 'completed' | 'failed', INodeExecutionData[]>
>): INodeExecutionData[][] {
	return [stillGenerating, completed, failed];
}

/**
 * Checks the connections of the outputs before the first poll, so that no result is lost on an output without a
 * connection.
 *
 * @throws InputError when the connections do not fit the mode.
 */
export function checkConnections(context: IExecuteFunctions, mode: WaitMode): void {
	const { connections } = engineOf(context);
	if (mode === 'tool' || connections === undefined) return;

	const { name } = context.getNode();
	const outputs = connections[name]?.['main'] ?? [];
	const targets = outputs[STILL_GENERATING] ?? [];
	const [other] = targets.filter(({ node }) => node !== name);
	if (mode === 'suspend' && (targets.length === 0 || other !== undefined)) {
		throw new InputError(
			'Still Generating',
			other === undefined ? 'is not connected' : `is connected to ${other.node}`,
			'Connect this output to the input of this node and to nothing else, or set Wait Mode to Poll in Place',
		);
	}
	if (mode === 'inPlace' && other !== undefined && (outputs[COMPLETED] ?? []).length === 0) {
		throw new InputError(
			'Completed',
			`is not connected, but Still Generating is connected to ${other.node}`,
			'Move that connection to the output Completed: it gets the finished videos',
		);
	}
}
