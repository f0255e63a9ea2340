import type {
	IExecuteFunctions,
	INodeExecutionData,
	IRunData,
	IWorkflowDataProxyData,
} from 'n8n-workflow';

import { runDataOf, sourceOf } from '../shared/engine/nodeRun';
import { itemsAt, toRef } from '../shared/engine/runs';
import { workflowOf } from '../shared/engine/workflow';
import { isToolOutput } from '../shared/run/toolCall';

export type Arrival = ReturnType<typeof arrivalOf>;

/** The items that have reached the node, and the runs that they may have come from. */
export function arrivalOf(context: IExecuteFunctions) {
	const runs: IRunData = runDataOf(context) ?? {};
	const agent = context.getNode();
	const source = sourceOf(context);
	let proxy: IWorkflowDataProxyData | undefined;
	return {
		...{ runs, source, name: agent.name, nodes: workflowOf(context).nodes },
		/** Whether what came from this output of the node belongs to it, and to nothing else. */
		isOwn: isToolOutput(agent),
		/** Its items; also those that n8n leaves out with *Execute Once*. */
		items: (source && itemsAt(runs, toRef(source))) ?? context.getInputData(),
		/** The one item of a node that an item of the arrival was made from, by n8n's item linking. */
		linkedItem: (node: string, item: number): INodeExecutionData | undefined => {
			try {
				proxy ??= context.getWorkflowDataProxy(0);
				return proxy.$getPairedItem(node, source, { item }) ?? undefined;
			} catch {
				// There is none, there are several, or a node on the way has made no link.
				return undefined;
			}
		},
	};
}
