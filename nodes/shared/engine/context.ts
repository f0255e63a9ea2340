import {
	sleep,
	type IExecuteFunctions,
	type INode,
	type NodeExecutionHint,
	type IRunExecutionData,
	type ISupplyDataFunctions,
	type ITaskData,
	type IWorkflowBase,
	type IWorkflowExecuteAdditionalData,
	type RelatedExecution,
	type Workflow,
} from 'n8n-workflow';

import { InputError } from '../../client/errors';
import { canceledError } from '../../client/http/failures';
import type { Clock } from '../../client/ports';

/** What n8n's context has, though its type does not declare it. */
interface Internals {
	readonly runExecutionData?: Partial<IRunExecutionData>;
	readonly runIndex?: number;
	readonly node?: INode;
	readonly hints?: readonly NodeExecutionHint[];
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

/** The executions of the sub-workflows that a run has called. One that returned no item is not among them. */
function callsOf({ data, metadata }: ITaskData): readonly string[] {
	const all = [{ metadata }, ...(data?.['main'] ?? []).flat()];
	return [...new Set(all.flatMap((each) => each?.metadata?.subExecution?.executionId ?? []))];
}

/** Whether a run is that of a tool: it stays where the run of its agent has failed, which calls it again. */
const isOfTool = ({ data }: ITaskData) => !data?.['main'];

/** What identifies an execution; undefined where n8n does not tell. The calls of n8n's own Agents have no ID. */
function factsOf(id = '', data?: Partial<IRunExecutionData>, retriedId?: string) {
	const runs = Object.values(data?.resultData?.runData ?? {}).flat();
	return {
		id,
		/** Identifies the execution and its retries: a random secret, but for a caller that was started by hand. */
		token: data?.resumeToken,
		/** The execution that this one retries. */
		retriedId,
		/** The execution that called this one as a sub-workflow, and its workflow. */
		parent: data?.parentExecution,
		/** The executions of sub-workflows that were called by node runs which n8n has kept: a retry does not call them again. */
		kept: new Set(runs.flatMap((run) => (isOfTool(run) ? [] : callsOf(run)))),
		/**
		 * Whether runs that n8n has kept made calls of which nobody can tell whether a retry makes them again: those of a tool in
		 * an earlier try, whose IDs are lower, as IDs grow; and those that returned no item.
		 */
		hasUnclearCalls: runs.some((run) =>
			isOfTool(run)
				? callsOf(run).some((call) => Number(call) < Number(id))
				: (run.metadata?.subExecutionsCount ?? 0) > callsOf(run).length,
		),
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
		 * @throws InputError in a retry where n8n does not tell of what, as for a caller that is not saved, or not any more.
		 */
		chain: async () => {
			const isCalled = rootExecutionMode !== mode;
			const isLost = isCalled && (!current.parent || !getRunExecutionData);
			const chain = [current];
			let { parent } = current;
			let gone: string | undefined;
			while (parent && !chain.some(({ id }) => id === parent!.executionId)) {
				const data = await getRunExecutionData?.(parent.executionId);
				const facts = factsOf(parent.executionId, data);
				const token = tokenOf(parent, data);
				if (getRunExecutionData && !data && !token) gone = parent.executionId;
				chain.push({ ...facts, token });
				({ parent } = facts);
			}
			if (rootExecutionMode === 'retry' && (isLost || chain.some(({ token }) => !token)))
				throw gone === undefined
					? missing('which execution this one retries')
					: new InputError(
							`Execution ${gone}, which called this one,`,
							'is no longer saved',
							'Nothing was sent. Execute the sub-workflow with this item instead, which pays for all again, except with an Idempotency Key',
						);
			return chain;
		},
	};
}

/** The `sleep` of n8n 2.20 to 2.30 cannot be interrupted, so a sleep is cut into slices of this length. */
const SLEEP_SLICE_MS = 1_000;

/** Sleeps for a time, at most for the length of a slice. Ends early when the signal is aborted. */
export async function sleepSlice(ms: number, end?: AbortSignal): Promise<void> {
	await sleep(Math.min(Math.ceil(ms), SLEEP_SLICE_MS), end).catch(() => undefined);
}

/** One turn of the event loop, see `mapConcurrent`: requests leave and responses are received. */
export async function eventLoopTurn(): Promise<void> {
	await sleep(0);
}

/**
 * The client's clock: real time, with a sleep that rejects when the execution is canceled. It is monotonic: it starts at
 * the wall-clock time and then ignores adjustments of the wall clock, which would end or prolong a wait.
 */
export function n8nClock(context: Pick<IExecuteFunctions, 'getExecutionCancelSignal'>): Clock {
	const signal = context.getExecutionCancelSignal();
	const startMs = Date.now() - performance.now();

	return {
		now: () => Math.round(startMs + performance.now()),
		random: Math.random,
		async sleep(ms, end) {
			const both = end && signal ? AbortSignal.any([end, signal]) : (end ?? signal);
			const endMs = performance.now() + ms;
			for (let leftMs = ms; leftMs > 0; leftMs = endMs - performance.now()) {
				await sleepSlice(leftMs, both);
				if (signal?.aborted) throw canceledError();
				if (end?.aborted) return;
			}
		},
	};
}
