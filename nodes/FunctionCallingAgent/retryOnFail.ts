import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { AgentState, ConversationSlot } from './state';

/** Range and default of n8n's setting Max. Tries. */
const TRIES = { min: 2, max: 5, default: 3 };

/**
 * Whether n8n will discard these outputs and run the node again: *Retry On Fail* does so when the first item of the
 * first output is an error, until the tries are used up.
 */
export function willBeRetried(
	context: IExecuteFunctions,
	{ retries }: AgentState,
	outputs: readonly INodeExecutionData[][],
): boolean {
	const { retryOnFail, maxTries } = context.getNode();
	const failed = outputs[0]?.[0]?.json['error'] !== undefined;
	// As n8n does: 0 means the default, too.
	const wanted = maxTries === undefined || maxTries === 0 ? TRIES.default : maxTries;
	const tries = Math.min(TRIES.max, Math.max(TRIES.min, wanted));
	return retryOnFail === true && failed && retries + 1 < tries;
}

/** Resets the discarded outcomes for the next try: failed requests are sent again; everything else stays as it is. */
export function prepareRetry(state: AgentState, slots: readonly ConversationSlot[]): void {
	state.retries += 1;
	for (const slot of slots) {
		slot.emitted = false;
		if (slot.conversation?.phase.kind === 'asking') delete slot.failure;
	}
}
