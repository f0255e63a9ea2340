import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * How often n8n runs the node until it succeeds. It takes 0 for the default.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (getRetryParams)
 * Without it: 1; each try then ends as if it was the last one.
 */
export function triesOf(context: IExecuteFunctions): number {
	const { retryOnFail, maxTries = 0 } = context.getNode();
	return retryOnFail === true ? Math.min(5, Math.max(2, maxTries || 3)) : 1;
}

/** The tries of a run, by the entry of the engine. */
const tries = new WeakMap<object, Set<object>>();

/**
 * Whether n8n tries this run again if it fails. Ask it in each try, as often as you like. The entry of the engine is the same for
 * all tries; n8n makes the helpers again for each.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/node-execution-context/execute-context.js
 * Without it: true in each try; what is kept for the next one stays until the execution ends.
 */
export function isTriedAgain(context: IExecuteFunctions): boolean {
	const data = context.getExecuteData();
	const begun = (tries.get(data) ?? new Set()).add(context.helpers);
	tries.set(data, begun);
	return begun.size < triesOf(context);
}
