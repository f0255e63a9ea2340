import { type IExecuteFunctions, type INode } from 'n8n-workflow';

import { objectOf } from '../../client/json';
import { nodeOf } from '../engine/context';
import { runDataOf, sourceOf } from '../engine/runs';
import { workflowOf } from '../engine/workflow';

/** Index of the first output of Agent with Tools that has tool calls. */
export const FIRST_TOOL = 2;

/** Whether the calls of all tools of an Agent with Tools leave through one output, by its form. */
export function isSingleOutput(values: { toolSource?: unknown; outputMode?: unknown }): boolean {
	return values.toolSource === 'json' || values.outputMode === 'single';
}

/** Tells by its index whether an output of an Agent with Tools has tool calls. The one for errors comes after them. */
export function isToolOutput({
	parameters,
}: Pick<INode, 'parameters'>): (output: number) => boolean {
	const { tool } = objectOf(parameters['tools']);
	const count = isSingleOutput(parameters) ? 1 : [tool ?? []].flat().length;
	return (output) => output >= FIRST_TOOL && output < FIRST_TOOL + count;
}

/** Whether the items of this run come from a tool call of Agent with Tools, whose model reads what goes back. */
export function isToolCall(context: IExecuteFunctions): boolean {
	const runData = runDataOf(context) ?? {};
	const { nodes } = workflowOf(context);
	const own = nodeOf(context).name;
	for (let from = sourceOf(context); from;) {
		const { previousNode: name, previousNodeOutput = 0, previousNodeRun = 0 } = from;
		const node = nodes[name];
		if (name !== own && node?.type.endsWith('.functionCallingAgent') === true)
			return (
				isToolOutput(node)(previousNodeOutput) &&
				context.getChildNodes(own).some((each) => each.name === name)
			);
		from = runData[name]?.[previousNodeRun]?.source[0] ?? null;
	}
	return false;
}
