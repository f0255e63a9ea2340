import type {
	IExecuteFunctions,
	IRunExecutionData,
	ISupplyDataFunctions,
	ITaskData,
	RelatedExecution,
} from 'n8n-workflow';

import { internalsOf, missing } from './internals';

/**
 * Whether the time limit of the workflow is over. n8n then carries out no sub-workflow that the node waits for.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (hasExecutionTimedOut)
 * Without it: false; what is written last is lost after the limit.
 */
export function isPastTimeLimit(context: object): boolean {
	const { additionalData } = internalsOf(context);
	return Date.now() >= (additionalData?.executionTimeoutTimestamp ?? Infinity);
}

/** Whether a run called sub-workflows before the execution of this ID began: IDs grow. Without their IDs it counts as one. */
function isCallBefore({ data, metadata }: ITaskData, id: string): boolean {
	const items = (data?.['main'] ?? []).flatMap((output) => output ?? []);
	const calls = [{ metadata }, ...items].flatMap((each) => each.metadata?.subExecution ?? []);
	return calls.length === 0
		? metadata?.subExecutionsCount !== undefined
		: calls.some(({ executionId }) => Number(executionId) < Number(id));
}

/** What identifies an execution; undefined where n8n does not tell. The calls of n8n's own Agents have no ID. */
function factsOf(id = '', data?: Partial<IRunExecutionData>, retriedId?: string) {
	return {
		id,
		/** Identifies the execution and its retries: a random secret, but for a caller that was started by hand. */
		token: data?.resumeToken,
		/** The execution that this one retries. */
		retriedId,
		/** The execution that called this one as a sub-workflow, and its workflow. */
		parent: data?.parentExecution,
		/** Whether n8n has kept node runs from before its start that called sub-workflows, as a retry does. */
		keepsCalls: Object.values(data?.resultData?.runData ?? {})
			.flat()
			.some((run) => isCallBefore(run, id)),
	};
}

/**
 * Modes in which n8n saves no token of an execution until it has ended. It tells all calls when the execution began, which a
 * retry keeps. The same applies to evaluations, but many begin at once.
 */
const UNSAVED = new Set(['manual', 'cli']);

function tokenOf({ executionContext, workflowId }: RelatedExecution, data?: IRunExecutionData) {
	if (executionContext === undefined || executionContext.source === 'evaluation')
		return undefined;
	const { source, establishedAt } = executionContext;
	return UNSAVED.has(source) ? `${workflowId} ${establishedAt}` : data?.resumeToken;
}

/**
 * The running execution, and those that called it.
 *
 * n8n 2.41.1, n8n-workflow/dist/cjs/run-execution-data-factory.js, n8n-core/dist/execution-engine/execution-lifecycle-hooks.js,
 * n8n-core/dist/execution-engine/execution-context.js, n8n/dist/workflow-execute-additional-data.js
 * Without it: a retry fails before anything is sent, as it may have been paid for already.
 */
export function executionOf(context: IExecuteFunctions | ISupplyDataFunctions) {
	const { runExecutionData, additionalData = {} } = internalsOf(context);
	const { hooks, rootExecutionMode = context.getMode(), getRunExecutionData } = additionalData;
	const mode = context.getMode();
	const current = factsOf(context.getExecutionId(), runExecutionData, hooks?.retryOf);
	return {
		current,
		isRetry: rootExecutionMode === 'retry',
		/** Whether this execution itself is the retry, and not one that called it. */
		isRetried: mode === 'retry',
		/**
		 * This execution, the one that called it, and so on.
		 *
		 * @throws InputError in a retry where n8n does not tell of what.
		 */
		chain: async () => {
			const isCalled = rootExecutionMode !== mode;
			const isLost = isCalled && (!current.parent || !getRunExecutionData);
			const chain = [current];
			let { parent } = current;
			while (parent && !chain.some(({ id }) => id === parent!.executionId)) {
				const data = await getRunExecutionData?.(parent.executionId);
				const facts = factsOf(parent.executionId, data);
				chain.push({ ...facts, token: tokenOf(parent, data) });
				({ parent } = facts);
			}
			if (rootExecutionMode === 'retry' && (isLost || chain.some(({ token }) => !token)))
				throw missing('which execution this one retries');
			return chain;
		},
	};
}
