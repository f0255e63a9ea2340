import type { IRunExecutionData, IWorkflowExecuteAdditionalData, Workflow } from 'n8n-workflow';

/** What n8n's context has, though its type does not declare it. */
interface Internals {
	readonly runExecutionData?: Partial<IRunExecutionData>;
	readonly runIndex?: number;
	readonly workflow?: Partial<Workflow>;
	readonly additionalData?: Partial<IWorkflowExecuteAdditionalData> & {
		readonly hooks?: { readonly retryOf?: string };
	};
}

/** The fields of n8n's context that its type does not declare. Only this folder reads them. */
export function internalsOf(context: object): Internals {
	return context;
}
