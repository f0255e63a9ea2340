import type { IExecuteFunctions } from 'n8n-workflow';

import { ServiceError } from '../../client/errors';
import { engineOf, executionOf, stopOnError } from './engine';
import type { NodeContext } from './nodeContext';

/** How often in a row a workflow may be called by its own calls. */
const MAX_CALLS = 10;
const MESSAGE = `A workflow has called itself ${MAX_CALLS} times in a row`;
const ADVICE =
	'Nothing was sent. Use Loop Over Items in place of the call, or call another workflow';

/** The executions that have begun calls without an end. */
const endless = new Set<string>();

/** The execution that has begun each one, by its data: n8n reads the executions in between from its database. */
const roots = new WeakMap<object, string>();

async function findRoot(context: NodeContext): Promise<string> {
	const chain = await executionOf(context).chain();
	const { id } = context.getWorkflow();
	const own = chain.filter(({ parent }) => parent !== undefined && parent.workflowId === id);
	const root = chain.at(-1)!.id;
	if (own.length > MAX_CALLS) endless.add(root);
	return root;
}

/**
 * Ends a workflow that calls itself without an end, as a sub-workflow or a tool, also through other workflows: each call is
 * an execution of its own. Then all that the first one has begun ends: an agent would call such a tool again.
 *
 * @returns What checks the same before each request, as other calls of the execution may have gone on.
 * @throws ServiceError when it has been called too often.
 */
export async function checkSelfCalls(context: NodeContext): Promise<() => void> {
	const { executionData = {} } = engineOf(context as IExecuteFunctions);
	const root = roots.get(executionData) ?? (await findRoot(context));
	roots.set(executionData, root);
	function check(): void {
		if (!endless.has(root)) return;
		if ('getExecuteData' in context) stopOnError(context);
		throw new ServiceError('limit', MESSAGE, ADVICE);
	}
	check();
	return check;
}
