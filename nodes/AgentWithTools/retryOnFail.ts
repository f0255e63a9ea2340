import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { AgentState, ConversationSlot } from './state';

/** Tries of a node that n8n allows; what it takes where the node says nothing. */
const TRIES = { min: 2, max: 5, usual: 3 };

/**
 * Whether n8n will run the node again instead of taking these outputs: with *Retry On Fail* it does so when the first
 * item of the first output is an error, until the tries are used up. Counts the try.
 */
export function isRetried(
	context: IExecuteFunctions,
	state: AgentState,
	outputs: readonly INodeExecutionData[][],
): boolean {
	const { retryOnFail, maxTries } = context.getNode();
	const failed = outputs[0]?.[0]?.json['error'] !== undefined;
	if (retryOnFail !== true || !failed) return false;

	const tries = Math.min(
		TRIES.max,
		Math.max(TRIES.min, maxTries === undefined || maxTries === 0 ? TRIES.usual : maxTries),
	);
	state.retries += 1;
	return state.retries < tries;
}

/** Takes outcomes back that n8n will not take: what failed at the service is asked again, the rest stays as it is. */
export function askAgain(slots: readonly ConversationSlot[]): void {
	for (const slot of slots) {
		slot.emitted = false;
		if (slot.conversation !== undefined) delete slot.failure;
	}
}
