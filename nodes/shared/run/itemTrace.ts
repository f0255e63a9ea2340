/** Traces items back through the runs of an execution, by what n8n records of runs and items. */
import type { INode, IPairedItemData, IRunData, ISourceData } from 'n8n-workflow';

/** Position of an item among the outputs of the runs of a node. */
export interface ItemRef {
	readonly node: string;
	readonly run: number;
	readonly output: number;
	readonly item: number;
}

/** The runs of an execution, and the node whose items are looked for. */
export interface Runs {
	readonly runData: IRunData;
	/** The nodes of the workflow by name. */
	readonly nodes: Readonly<Record<string, INode | undefined>>;
	/** Name of the node. */
	readonly node: string;
	/** Whether what came from this output of the node belongs to it, and to nothing else. */
	readonly isOwn: (output: number) => boolean;
}

/** The runs that a run received its items from. */
type Sources = readonly (ISourceData | null)[];

/**
 * Nodes that run foreign code once for all items, or with this mode for each item. Where the code makes no links, n8n links
 * what comes out by position.
 */
const CODE_NODES = new Map([
	['n8n-nodes-base.code', 'runOnceForEachItem'],
	['n8n-nodes-base.executeWorkflow', 'each'],
	['n8n-nodes-base.function', 'never'],
]);
/** Loop Over Items, which keeps the items of its earlier runs, as another node of the same type does. */
const LOOP = 'n8n-nodes-base.splitInBatches';

/**
 * Creates a trace of the items that a run has output, back to the items of the node that they were made from.
 *
 * 1. Runs: n8n records for each run the runs that it received its items from. Followed backwards, they end at an output of
 *    the node, or at a trigger. If all end at own outputs, links to runs that end elsewhere are ignored: an item of
 *    `$('Node').first()`, for example, brings its link along.
 * 2. Items: n8n records for each item the items it was made from (item linking). Where a node has lost the link of an item,
 *    or may have reordered the items, every item that its run received is a possible origin.
 */
export function traceItems(runs: Runs, source: ISourceData) {
	const { runData, nodes, node, isOwn } = runs;
	/** The origins of all items that a run received, for the runs that have lost links. */
	const ofRuns = new Map<Sources, readonly ItemRef[]>();
	/** Whether runs end at own outputs only. */
	const owned = new Map<string, boolean>();

	/** Where the way of an item ends: at own outputs, and elsewhere. */
	function endsOf(start: ItemRef) {
		const seen = new Map([[runOf(start), start]]);
		const ends = { own: false, other: false };
		for (const ref of seen.values()) {
			const isBuffer = [LOOP, nodes[node]?.type].includes(nodes[ref.node]?.type);
			const ran = (runData[ref.node] ?? []).slice(isBuffer ? 0 : ref.run, ref.run + 1);
			const refs = ran.flatMap((run) => firstRefs(run.source));
			if (ref.node === node) ends[isOwn(ref.output) ? 'own' : 'other'] = true;
			else if (refs.length === 0) ends.other = true;
			else for (const each of refs) if (!seen.has(runOf(each))) seen.set(runOf(each), each);
		}
		for (const key of ends.other ? [runOf(start)] : seen.keys()) owned.set(key, !ends.other);
		return ends;
	}

	const ends = endsOf(toRef(source, 0));
	const isOwned = (ref: ItemRef) => owned.get(runOf(ref)) ?? !endsOf(ref).other;

	/** The items that an item is linked to, as far as its links can be true. */
	function linksOf(ref: ItemRef, sources: Sources): ItemRef[] {
		if (isReordering(nodes[ref.node])) return [];
		const links = linkedRefs(runData, sources, ref);
		return ends.other ? links : links.filter(isOwned);
	}

	function originsOf(start: readonly ItemRef[]): readonly ItemRef[] {
		const origins: ItemRef[] = [];
		const seen = new Set<string>();
		const queue = [...start];
		for (const ref of queue) {
			const key = `${runOf(ref)}/${ref.item}`;
			if (seen.has(key)) continue;
			seen.add(key);
			const sources = runData[ref.node]?.[ref.run]?.source ?? [];
			const linked = ref.node === node ? [] : linksOf(ref, sources);
			if (ref.node === node) origins.push(ref);
			else if (linked.length > 0) queue.push(...linked);
			else {
				const known = ofRuns.get(sources) ?? originsOf(receivedRefs(runData, sources));
				ofRuns.set(sources, known);
				queue.push(...known);
			}
		}
		return origins;
	}

	return {
		ends,
		/** The items of the node that an item of the run was made from. */
		originsOf: (item: number) => originsOf([toRef(source, item)]),
	};
}

/** Number of items in the runs of all nodes that the node has not led to. */
export function countItemsBefore({ runData, node }: Runs): number {
	const behind = new Set([node]);
	const runs = Object.entries(runData);
	// A set can grow while it is iterated.
	for (const name of behind) {
		for (const [next, ran] of runs) {
			const sources = ran.flatMap((run) => run.source);
			if (sources.some((source) => source?.previousNode === name)) behind.add(next);
		}
	}
	const before = runs.flatMap(([name, ran]) => (behind.has(name) ? [] : ran));
	return before.flatMap(({ data }) => (data?.['main'] ?? []).flat()).length;
}

/** The JSON of an item and all that n8n keeps with it. */
export function itemAt(runData: IRunData, ref: ItemRef) {
	return itemsAt(runData, ref)?.[ref.item];
}

function isReordering({ type = '', disabled, parameters = {} }: Partial<INode> = {}): boolean {
	const { mode, functionCode, jsCode, pythonCode } = parameters;
	const eachMode = CODE_NODES.get(type);
	if (eachMode === undefined || mode === eachMode || disabled === true) return false;
	return ![functionCode, jsCode, pythonCode].join('\n').includes('pairedItem');
}

function firstRefs(sources: Sources): ItemRef[] {
	return sources.flatMap((source) => (source === null ? [] : toRef(source, 0)));
}

function receivedRefs(runData: IRunData, sources: Sources): ItemRef[] {
	return firstRefs(sources).flatMap((ref) =>
		[...(itemsAt(runData, ref) ?? []).keys()].map((item) => ({ ...ref, item })),
	);
}

/** The items that an item is linked to; none if a link is missing or leads to nothing, as one of pinned data may. */
function linkedRefs(runData: IRunData, sources: Sources, ref: ItemRef): ItemRef[] {
	return [itemAt(runData, ref)?.pairedItem ?? []].flat().flatMap((each) => {
		const link: IPairedItemData = typeof each === 'number' ? { item: each } : each;
		const source = link.sourceOverwrite ?? sources[link.input ?? 0];
		const linked = source && toRef(source, link.item);
		return linked && itemAt(runData, linked) ? [linked] : [];
	});
}

function itemsAt(runData: IRunData, { node, run, output }: ItemRef) {
	return runData[node]?.[run]?.data?.['main']?.[output];
}

/** Names the output of a run. */
function runOf({ node, run, output }: ItemRef): string {
	return `${node} ${run}/${output}`;
}

function toRef(source: ISourceData, item: number): ItemRef {
	const { previousNode, previousNodeOutput = 0, previousNodeRun = 0 } = source;
	return { node: previousNode, run: previousNodeRun, output: previousNodeOutput, item };
}
