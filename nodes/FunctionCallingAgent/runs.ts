import type {
	IExecuteFunctions,
	INodeExecutionData,
	IRunData,
	ISourceData,
	IWorkflowDataProxyData,
} from 'n8n-workflow';

import { runDataOf, sourceOf } from '../shared/engine/nodeRun';
import { workflowOf } from '../shared/engine/workflow';
import { isToolOutput } from '../shared/run/toolCall';

/** An output of the run of a node. */
export interface RunRef {
	readonly node: string;
	readonly run: number;
	readonly output: number;
}

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

export function itemsAt(runs: IRunData, { node, run, output }: RunRef) {
	return runs[node]?.[run]?.data?.['main']?.[output];
}

/** The runs that a run received its items from. */
export function sourcesOf(runs: IRunData, { node, run }: RunRef): readonly (ISourceData | null)[] {
	return runs[node]?.[run]?.source ?? [];
}

export function toRefs(sources: readonly (ISourceData | null)[]): RunRef[] {
	return sources.flatMap((source) => (source === null ? [] : toRef(source)));
}

export function toRef(source: ISourceData): RunRef {
	const { previousNode: node, previousNodeOutput = 0, previousNodeRun = 0 } = source;
	return { node, run: previousNodeRun, output: previousNodeOutput };
}

/** Names the output of a run. */
export function keyOf({ node, run, output }: RunRef): string {
	return `${node} ${run}/${output}`;
}

/** The nodes that have run behind an output of a run, before the node of that run itself. */
export function ranBehind(runs: IRunData, start: RunRef): Set<string> {
	const found = new Map([[keyOf(start), start]]);
	// A map can grow while it is iterated.
	for (const ref of found.values())
		for (const [node, ran] of Object.entries(runs))
			for (const [run, { source }] of node === start.node ? [] : ran.entries()) {
				const isNext = toRefs(source).some((from) =>
					ref === start
						? keyOf(from) === keyOf(ref)
						: from.node === ref.node && from.run === ref.run,
				);
				if (isNext) found.set(keyOf({ node, run, output: 0 }), { node, run, output: 0 });
			}
	return new Set([...found.values()].slice(1).map(({ node }) => node));
}
