import type { IExecuteFunctions } from 'n8n-workflow';

import type { NodeContext } from './nodeContext';

/** One value that a node keeps in n8n's node context. */
export interface NodeState<T> {
	get(): T | undefined;
	/** Returns the stored value: change that one, as n8n may store a copy. */
	set(value: T): T;
	clear(): void;
}

/**
 * State of a node within one execution, in n8n's node context. n8n saves it with the execution, so the value has to be
 * JSON. It survives *Retry On Fail*, a wait that suspends the execution, and the rounds of a loop; nothing removes it by
 * itself. So `clear` it when the work is done, or the next batch of a loop finds the state of this one.
 *
 * @param key Name of the value, unique within the node.
 */
export function nodeState<T>(context: NodeContext, key: string): NodeState<T> {
	// n8n gives sub-nodes a node context too, but their type lacks the method.
	const values = (context as Pick<IExecuteFunctions, 'getContext'>).getContext('node') as Record<
		string,
		unknown
	>;
	const get = () => values[key] as T | undefined;
	return {
		get,
		set(value) {
			values[key] = value;
			return get()!;
		},
		clear() {
			values[key] = undefined;
		},
	};
}
