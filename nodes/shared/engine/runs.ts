import type { IExecuteFunctions, ISourceData, ITaskData } from 'n8n-workflow';

import { internalsOf } from './internals';

/** The runs of all nodes so far. */
export function runDataOf(context: object) {
	return internalsOf(context).runExecutionData?.resultData?.runData;
}

/** The index of this run of the node. */
export function runIndexOf(context: object): number | undefined {
	return internalsOf(context).runIndex;
}

/** The runs of this node in this execution so far, without those that n8n invents for an execution that crashed. */
export function runsOf(context: IExecuteFunctions): readonly ITaskData[] {
	const runs = runDataOf(context)?.[context.getNode().name] ?? [];
	return runs.filter(({ data, executionStatus }) => {
		const [item] = data?.['main']?.[0] ?? [];
		const isInvented = item?.json['isArtificialRecoveredEventItem'] === true;
		return executionStatus !== 'crashed' && !isInvented;
	});
}

/** The source of the input items; null where n8n throws because there is none, as in a run without a trigger. */
export function sourceOf(context: IExecuteFunctions): ISourceData | null {
	try {
		return context.getInputSourceData();
	} catch {
		return null;
	}
}
