import type { IExecuteFunctions } from 'n8n-workflow';

/** How often n8n runs the node until it succeeds. It takes 0 for the default. */
export function triesOf(context: IExecuteFunctions): number {
	const { retryOnFail, maxTries = 0 } = context.getNode();
	return retryOnFail === true ? Math.min(5, Math.max(2, maxTries || 3)) : 1;
}

/** The tries of a run, by the entry of the engine: it is the same for all. n8n makes the helpers again for each try. */
const tries = new WeakMap<object, Set<object>>();

/** Whether n8n tries this run again if it fails. Ask it in each try, as often as you like. */
export function isTriedAgain(context: IExecuteFunctions): boolean {
	const data = context.getExecuteData();
	const begun = (tries.get(data) ?? new Set()).add(context.helpers);
	tries.set(data, begun);
	return begun.size < triesOf(context);
}
