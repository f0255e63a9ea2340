/**
 * Matching: decides for each item that reaches the node whether it is part of a tool result, and of which call, or a
 * question that begins a conversation of its own.
 *
 * 1. Trace. n8n records for each run of a node the runs that it received its items from, and for each item the items it
 *    was made from (item linking). Followed backwards, both end at an item that left this node before, or at a trigger.
 *    Where a node has lost the link of an item, every item that its run received is a possible origin.
 * 2. Decide. Without a tool call among its origins the item is a question. Otherwise its `tool_call`, if it still has one,
 *    names the call, which must be one of the origins: if it is another open call, the item contradicts its link. Without
 *    `tool_call` the origins decide. All of them have their results: a late item, which is ignored. One call: its result. If
 *    they include several calls of one run, even of those with a result, as an aggregate of all results does, the item may
 *    belong to any of them, and is not matched: nothing is guessed.
 *
 * What cannot be seen: n8n links items by position if a node returns as many as it received without `pairedItem`. A Code
 * node that reorders the items of several calls and drops `tool_call` therefore swaps their results.
 */
import type {
	INodeExecutionData,
	IPairedItemData,
	IRunData,
	ISourceData,
	ITaskData,
} from 'n8n-workflow';

/** Key in the JSON of a tool call item: which call it is. */
export const ENVELOPE = 'tool_call';

/** Number of fields of an envelope: a tool's own field of this name may have some of them. */
const ENVELOPE_FIELDS = 4;

/** Identifies a tool call, in the JSON of the item that leaves the node. */
export interface Envelope {
	readonly id: string;
	readonly tool: string;
	/** Number of the model's reply that requested the call, from 1. */
	readonly round: number;
	/** Number of the conversation, from 0. */
	readonly conversation: number;
}

/** Position of an item among the outputs of a node's run. */
export interface Position {
	readonly run: number;
	readonly output: number;
	readonly item: number;
}

/** A tool call that has left the node and has no result yet. */
export interface EmittedCall {
	readonly envelope: Envelope;
	readonly position: Position;
}

/** What an item is for the node. */
export type Match =
	/** `isFromOutcome`: it was made from an answer or another outcome of the node. */
	| { readonly kind: 'question'; readonly isFromOutcome: boolean }
	| { readonly kind: 'result'; readonly call: EmittedCall }
	/** Every call that it comes from has its result. */
	| { readonly kind: 'late' }
	/** It may belong to any of the calls: it has lost its link, or `tool_call` contradicts the link. */
	| {
			readonly kind: 'unmatched';
			readonly problem: 'lost' | 'contradiction';
			readonly calls: readonly EmittedCall[];
	  };

/** The items that have reached the node, and where from. */
export interface Arrival {
	/** Name of the node. */
	readonly node: string;
	/** The run that the items come from; null without one. */
	readonly source: ISourceData | null;
	readonly items: readonly INodeExecutionData[];
	/** Whether tool calls leave the node through the output with this index. */
	readonly isToolOutput: (output: number) => boolean;
}

/**
 * Matches the items of an arrival to the open calls.
 *
 * @param runData The runs of this execution so far.
 * @param open The calls that wait for their result.
 * @returns One match per item.
 */
export function matchItems(
	runData: IRunData,
	{ node, source, items, isToolOutput }: Arrival,
	open: readonly EmittedCall[],
): Match[] {
	const originsOf = tracer(runData, node);
	const isFirstRun = source === null || runData[node] === undefined;
	return items.map((item, index) => {
		const origins = isFirstRun ? [] : originsOf(toRef(source, index));
		const calls = origins.flatMap((position) => {
			const envelope = envelopeOf(itemAt(runData, { node, ...position }));
			return envelope && isToolOutput(position.output) ? [{ position, envelope }] : [];
		});
		const match = decide(calls, envelopeOf(item), open);
		return match ?? { kind: 'question', isFromOutcome: origins.length > 0 };
	});
}

/** The `tool_call` of an item; undefined if the field is missing or of another shape, as a tool's own field is. */
export function envelopeOf(item: INodeExecutionData | undefined): Envelope | undefined {
	const value = item?.json[ENVELOPE];
	if (typeof value !== 'object' || value === null) return undefined;
	const { id, tool, round, conversation } = value as Partial<Envelope>;
	const isEnvelope =
		Object.keys(value).length === ENVELOPE_FIELDS &&
		typeof id === 'string' &&
		typeof tool === 'string' &&
		typeof round === 'number' &&
		typeof conversation === 'number';
	return isEnvelope ? { id, tool, round, conversation } : undefined;
}

/**
 * @param origins The tool calls that the item may come from, open or not.
 * @param carried The call that the item itself names.
 * @returns Undefined if the item belongs to no call.
 */
function decide(
	origins: readonly EmittedCall[],
	carried: Envelope | undefined,
	open: readonly EmittedCall[],
): Match | undefined {
	const isCarried = ({ envelope }: EmittedCall) => carried && isSame(envelope, carried);
	const named = origins.filter(isCarried);
	const asked = named.length > 0 ? named : origins;
	const candidates = open.filter(({ position }) =>
		asked.some((call) => isSame(call.position, position)),
	);
	const other = named.length > 0 ? undefined : open.find(isCarried);
	if (other !== undefined) {
		return { kind: 'unmatched', problem: 'contradiction', calls: [...candidates, other] };
	}
	const [first] = candidates;
	if (first === undefined) return asked.length === 0 ? undefined : { kind: 'late' };
	const ofRun = asked.filter(({ position }) => position.run === first.position.run);
	return candidates.length === 1 && ofRun.length === 1
		? { kind: 'result', call: first }
		: { kind: 'unmatched', problem: 'lost', calls: candidates };
}

function isSame<T extends object>(a: T, b: T): boolean {
	return Object.entries(a).every(([key, value]) => b[key as keyof T] === value);
}

/** Reference to an output item of any node. */
interface ItemRef extends Position {
	readonly node: string;
}

/** Creates a function that finds the items of `node` that an item was made from. */
function tracer(runData: IRunData, node: string): (start: ItemRef) => readonly Position[] {
	/** The origins of all items that a run received, for the runs that have lost links. */
	const ofRuns = new Map<ITaskData, readonly Position[]>();

	function originsOfRun(task: ITaskData): readonly Position[] {
		const known = ofRuns.get(task);
		if (known !== undefined) return known;
		const sources = task.source.filter((source) => source !== null);
		const received = sources.flatMap((source) =>
			(itemsAt(runData, toRef(source, 0)) ?? []).map((_item, index) => toRef(source, index)),
		);
		const origins = originsOfAll(received);
		ofRuns.set(task, origins);
		return origins;
	}

	function originsOfAll(start: readonly ItemRef[]): readonly Position[] {
		const origins = new Map<string, Position>();
		const seen = new Set<string>();
		const queue = [...start];
		const add = (position: Position) => origins.set(keyOf(position), position);
		for (const ref of queue) {
			const key = `${ref.node} ${keyOf(ref)}`;
			if (seen.has(key)) continue;
			seen.add(key);
			const task = runData[ref.node]?.[ref.run];
			if (ref.node === node) add({ run: ref.run, output: ref.output, item: ref.item });
			else if (task !== undefined) {
				const linked = linkedRefs(runData, task, itemAt(runData, ref));
				queue.push(...linked);
				if (linked.length === 0) originsOfRun(task).forEach(add);
			}
		}
		return [...origins.values()];
	}

	return (start) => originsOfAll([start]);
}

/** The items that an item is linked to; none if a link is missing or leads to nothing, as one of pinned data may. */
function linkedRefs(
	runData: IRunData,
	task: ITaskData,
	item: INodeExecutionData | undefined,
): ItemRef[] {
	return [item?.pairedItem ?? []].flat().flatMap((each) => {
		const link: IPairedItemData = typeof each === 'number' ? { item: each } : each;
		const source = link.sourceOverwrite ?? task.source[link.input ?? 0];
		if (source === null || source === undefined) return [];
		const ref = toRef(source, link.item);
		return itemAt(runData, ref) === undefined ? [] : [ref];
	});
}

function itemAt(runData: IRunData, ref: ItemRef) {
	return itemsAt(runData, ref)?.[ref.item];
}

function itemsAt(runData: IRunData, { node, run, output }: ItemRef) {
	return runData[node]?.[run]?.data?.['main']?.[output];
}

function toRef(source: ISourceData, item: number): ItemRef {
	const { previousNode, previousNodeOutput = 0, previousNodeRun = 0 } = source;
	return { node: previousNode, run: previousNodeRun, output: previousNodeOutput, item };
}

function keyOf({ run, output, item }: Position): string {
	return `${run}/${output}/${item}`;
}
