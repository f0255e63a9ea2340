import type { IExecuteFunctions } from 'n8n-workflow';

/** State of a node that n8n's own Agents run: they have no execution, and call it once. */
const ownValues = new WeakMap<object, Record<string, unknown>>();

/** The state of a node within one execution, by name; n8n saves it with the execution. */
export function nodeValues(context: object): Record<string, unknown> {
	try {
		// n8n gives sub-nodes a node context too, but their type lacks the method.
		return (context as Pick<IExecuteFunctions, 'getContext'>).getContext('node');
	} catch {
		const values = ownValues.get(context) ?? {};
		ownValues.set(context, values);
		return values;
	}
}
