import type { IExecuteFunctions } from 'n8n-workflow';

import { internalsOf, missing } from './internals';

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
