import type { IExecuteFunctions } from 'n8n-workflow';

import { isToolRun } from '../shared/run/nodeContext';

/**
 * How a run polls: staying in the process, or with the execution saved between the queries. As a tool it stays, and its
 * results leave through the first output, the only one that an agent reads.
 */
export type WaitMode = 'inPlace' | 'suspend' | 'tool';

/** n8n's context knows which node an "Execute step" is for, though its type does not say so. */
interface WithStartData {
	readonly runExecutionData?: {
		readonly startData?: {
			readonly destinationNode?: string | { readonly nodeName?: string };
		};
	};
}

/**
 * The mode of this run. Suspending would cut off a streamed response and give an agent the node's input for an answer;
 * after an "Execute step" of this node n8n would not run it again. There it polls in place whatever the form says.
 */
export function readWaitMode(context: IExecuteFunctions): WaitMode {
	if (isToolRun(context)) return 'tool';
	const wanted = context.getNodeParameter('waitMode', 0, 'inPlace');
	const stays = context.isStreaming() || destinationOf(context) === context.getNode().name;
	return wanted === 'suspend' && !stays ? 'suspend' : 'inPlace';
}

function destinationOf(context: IExecuteFunctions): string | undefined {
	const { runExecutionData } = context as unknown as WithStartData;
	const destination = runExecutionData?.startData?.destinationNode;
	return typeof destination === 'string' ? destination : destination?.nodeName;
}
