import type { IRunData, ISourceData } from 'n8n-workflow';

/** An output of the run of a node. */
export interface RunRef {
	readonly node: string;
	readonly run: number;
	readonly output: number;
}

/**
 * The items of an output of a run.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (runData)
 * Without it: undefined; Agent with Tools takes each item for a question.
 */
export function itemsAt(runs: IRunData, { node, run, output }: RunRef) {
	return runs[node]?.[run]?.data?.['main']?.[output];
}

/**
 * The outputs of runs that a run received its items from.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (runData)
 * Without it: none; Agent with Tools takes each item for a question.
 */
export function sourcesOf(runs: IRunData, { node, run }: RunRef): RunRef[] {
	return (runs[node]?.[run]?.source ?? []).flatMap(toRefs);
}

/**
 * The output of a run that a source names; none where there is no source.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (runData)
 * Without it: it names no node, and what is looked for there is missing.
 */
export function toRefs(source: ISourceData | null): RunRef[] {
	if (source === null) return [];
	const { previousNode: node, previousNodeOutput = 0, previousNodeRun = 0 } = source;
	return [{ node, run: previousNodeRun, output: previousNodeOutput }];
}

/** Names the output of a run. */
export function keyOf({ node, run, output }: RunRef): string {
	return `${node} ${run}/${output}`;
}

/**
 * The nodes that have run behind an output of a run, before the node of that run itself.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (runData)
 * Without it: none; an error does not name them.
 */
export function ranBehind(runs: IRunData, start: RunRef): Set<string> {
	const found = new Map([[keyOf(start), start]]);
	// A map can grow while it is iterated.
	for (const ref of found.values())
		for (const [node, ran] of Object.entries(runs))
			for (const [run, { source }] of node === start.node ? [] : ran.entries()) {
				const isNext = source
					.flatMap(toRefs)
					.some((from) =>
						ref === start
							? keyOf(from) === keyOf(ref)
							: from.node === ref.node && from.run === ref.run,
					);
				if (isNext) found.set(keyOf({ node, run, output: 0 }), { node, run, output: 0 });
			}
	return new Set([...found.values()].slice(1).map(({ node }) => node));
}
