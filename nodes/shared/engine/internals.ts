import type {
	IExecuteFunctions,
	INode,
	IWorkflowBase,
	IRunExecutionData,
	IWorkflowExecuteAdditionalData,
	Workflow,
} from 'n8n-workflow';

import { InputError } from '../../client/errors';

/** What n8n's context has, though its type does not declare it. */
interface Internals {
	readonly runExecutionData?: Partial<IRunExecutionData>;
	readonly runIndex?: number;
	readonly node?: INode;
	readonly workflow?: Partial<Workflow>;
	readonly additionalData?: Partial<IWorkflowExecuteAdditionalData> & {
		readonly hooks?: {
			readonly retryOf?: string;
			readonly workflowData?: Partial<IWorkflowBase>;
		};
	};
}

/**
 * The fields of n8n's context that its type does not declare. Only this folder reads them.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/node-execution-context/node-execution-context.js
 * Without it: each field is undefined; what reads it says what follows.
 */
export function internalsOf(context: object): Internals {
	return context;
}

/**
 * The node of a context. Its `getNode` copies all parameters each time it is asked.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/node-execution-context/node-execution-context.js
 * Without it: the copy, which takes as long as the form is large.
 */
export function nodeOf(context: Pick<IExecuteFunctions, 'getNode'>): INode {
	return internalsOf(context).node ?? context.getNode();
}

/** The error where something of n8n is missing without which a call could be paid for twice, or its result be lost. */
export function missing(what: string): InputError {
	const hint =
		'Nothing was sent. Use a version of n8n that the documentation of this package names';
	return new InputError('This version of n8n', `does not tell ${what}`, hint);
}
