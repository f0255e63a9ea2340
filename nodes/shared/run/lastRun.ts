import type { IExecuteData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { asJson } from '../../client/json';
import { engineOf, startWaitingNode } from './engine';
import { runsOf, sourceOf } from '../engine/runs';

/** Key of what a planned run is for, in the engine's entry of it, and in its item. */
const MARK = 'agent_video_last_run';

/**
 * Plans another run of this node for when everything else has run, in place of the one that was planned before. n8n has no
 * function for that: the run is put at the end of the engine's list of due runs. An error that is thrown there ends the
 * execution after all items have gone on that were output: a run that throws loses its own.
 *
 * @param mark What the run is for, as JSON; undefined to plan none.
 */
export function planLastRun(context: IExecuteFunctions, mark: object | undefined): void {
	const { stack = [] } = engineOf(context);
	const { node } = context.getExecuteData();
	const planned = stack.findIndex((entry) => entry.node.name === node.name && isLastRun(entry));
	if (planned >= 0) stack.splice(planned, 1);
	if (mark !== undefined) addLastRun(context, mark, [{ json: { [MARK]: asJson(mark) } }]);
}

/** Plans another last run of this node, with these items, beside those that are planned already. */
export function addLastRun(
	context: IExecuteFunctions,
	mark: object,
	items: INodeExecutionData[],
): void {
	const { stack = [] } = engineOf(context);
	const { node } = context.getExecuteData();
	const entry: IExecuteData = {
		// A try would bring the same error again.
		node: { ...node, retryOnFail: false },
		data: { main: [items] },
		source: { main: [sourceOf(context)] },
		metadata: { [MARK]: mark } as object,
	};
	// The run of an agent in the branch of another one comes before the run of that one.
	const first = stack.findIndex(isLastRun);
	stack.splice(first < 0 ? stack.length : first, 0, entry);
}

/** What this run was planned for; undefined if it is not the last one. */
export function lastRunMark<T>(context: IExecuteFunctions): T | undefined {
	return markOf<T>(context.getExecuteData());
}

/** Index of this run of the node; of a last run that repeats another one, the index that its mark has. */
export function runIndexOf(context: IExecuteFunctions): number {
	return lastRunMark<{ readonly run?: number }>(context)?.run ?? runsOf(context).length;
}

/** What the last runs are for that are planned now: of this node, or of all nodes. */
export function plannedMarks<T>(context: IExecuteFunctions, node?: string): T[] {
	const { stack = [] } = engineOf(context);
	const entries = stack.filter((entry) => entry.node.name === (node ?? entry.node.name));
	return entries.map((entry) => markOf<T>(entry)).filter((mark) => mark !== undefined);
}

/**
 * Puts this last run at the end again if other nodes are due: in the execution order v0, or if a node, such as a Merge, can
 * run without the data that it waits for at another input.
 *
 * @returns Whether it has; this run must return null then.
 */
export function postponeLastRun(context: IExecuteFunctions): boolean {
	const { stack = [] } = engineOf(context);
	if (stack.every(isLastRun) && !startWaitingNode(context)) return false;
	stack.push(context.getExecuteData());
	return true;
}

function markOf<T>({ metadata = {} }: IExecuteData): T | undefined {
	return (metadata as { readonly [MARK]?: T })[MARK];
}

function isLastRun(entry: IExecuteData): boolean {
	return markOf(entry) !== undefined;
}
