import type { IExecuteFunctions, ISourceData, ITaskData } from 'n8n-workflow';

import { internalsOf } from './internals';

/**
 * The runs of all nodes so far.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js
 * Without it: undefined. Agent with Tools calls no branches, as it would take their results for questions.
 */
export function runDataOf(context: object) {
	return internalsOf(context).runExecutionData?.resultData?.runData;
}

/**
 * The index of this run of the node.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/node-execution-context/node-execution-context.js
 * Without it: undefined; `$runIndex` tells the same, but takes long.
 */
export function runIndexOf(context: object): number | undefined {
	return internalsOf(context).runIndex;
}

/**
 * The runs of this node in this execution so far, without those that n8n invents for an execution that crashed.
 *
 * n8n 2.41.1, n8n/dist/constants.js
 * Without it: invented runs count as runs, so that a retry may not recognize a turn of a conversation.
 */
export function runsOf(context: IExecuteFunctions): readonly ITaskData[] {
	const runs = runDataOf(context)?.[context.getNode().name] ?? [];
	return runs.filter(({ data, executionStatus }) => {
		const [item] = data?.['main']?.[0] ?? [];
		const isInvented = item?.json['isArtificialRecoveredEventItem'] === true;
		return executionStatus !== 'crashed' && !isInvented;
	});
}

/**
 * The source of the input items; null where n8n throws because there is none, as in a run without a trigger.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/node-execution-context/base-execute-context.js
 * Without it: null. Agent with Tools takes the items for questions, and its tool nodes do not run.
 */
export function sourceOf(context: IExecuteFunctions): ISourceData | null {
	try {
		return context.getInputSourceData();
	} catch {
		return null;
	}
}
