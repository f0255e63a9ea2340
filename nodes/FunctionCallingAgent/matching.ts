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
import type { INodeExecutionData, IPairedItemData, IRunData, ISourceData } from 'n8n-workflow';

import { fromJson, isJsonObject } from '../client/json';
import type { Call } from './state';

/** Key in the JSON of a tool call item: which call it is. */
export const ENVELOPE = 'tool_call';

/** The types of the fields of an envelope: a tool's own field of this name may have some of them. */
const TYPES = { id: 'string', tool: 'string', round: 'number', conversation: 'number' } as const;
const FIELDS = Object.keys(TYPES) as (keyof typeof TYPES)[];

/** A tool call as it leaves the node: identifies it in the JSON of its item. */
export interface Envelope {
	readonly id: string;
	readonly tool: string;
	/** Number of the model's reply that requested the call, from 1. */
	readonly round: number;
	/** Number of the conversation, from 0. */
	readonly conversation: number;
}

/**
 * What an item is for the node:
 * - `question`, and `outcome`: a question that was made from an answer or another outcome of the node;
 * - `result`: the result of the one call;
 * - `late`: every call that it comes from has its result;
 * - `lost`, `contradiction`: it may belong to any of the calls, as it has lost its link, or `tool_call` contradicts the link.
 */
export interface Match {
	readonly kind: 'question' | 'outcome' | 'result' | 'late' | 'lost' | 'contradiction';
	/** The open calls that it may belong to. */
	readonly calls: readonly Call[];
}

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
	open: readonly Call[],
): Match[] {
	const originsOf = tracer(runData, node);
	const isFirstRun = source === null || runData[node] === undefined;
	return items.map((item, index): Match => {
		const origins = isFirstRun ? [] : originsOf([toRef(source, index)]);
		const sent = origins.flatMap((ref) => {
			const envelope = envelopeOf(itemAt(runData, ref));
			const isCall = envelope !== undefined && isToolOutput(ref.output);
			return isCall ? [{ envelope, run: ref.run, place: placeOf(ref) }] : [];
		});
		const carried = envelopeOf(item);
		const named = sent.filter(({ envelope }) => isSame(envelope, carried));
		const other =
			named.length > 0 ? undefined : open.find((call) => isSame(toEnvelope(call), carried));
		const asked = named.length > 0 ? named : sent;
		const places = new Map(asked.map(({ place, run }) => [place, run]));
		const calls = open.filter(({ record }) => places.has(record.place!));
		if (other !== undefined) return { kind: 'contradiction', calls: [...calls, other] };
		if (asked.length === 0) return { kind: origins.length > 0 ? 'outcome' : 'question', calls };
		const [first] = calls;
		if (first === undefined) return { kind: 'late', calls };
		const ofRun = asked.filter(({ run }) => run === places.get(first.record.place!));
		return { kind: calls.length === 1 && ofRun.length === 1 ? 'result' : 'lost', calls };
	});
}

/** The `tool_call` of an item; undefined if the field is missing or of another shape, as a tool's own field is. */
export function envelopeOf(item: INodeExecutionData | undefined): Envelope | undefined {
	const value = item?.json[ENVELOPE];
	const isEnvelope =
		isJsonObject(value) &&
		Object.keys(value).length === FIELDS.length &&
		FIELDS.every((name) => typeof value[name] === TYPES[name]);
	return isEnvelope ? fromJson<Envelope>(value) : undefined;
}

/** The `tool_call` of the item of a call. */
export function toEnvelope({ slot, record }: Call): Envelope {
	const { id, name: tool, round } = record;
	return { id, tool, round, conversation: slot.number };
}

function isSame(a: Envelope, b: Envelope | undefined): boolean {
	return FIELDS.every((name) => a[name] === b?.[name]);
}

/** Position of an item among the outputs of the runs of a node. */
interface ItemRef {
	readonly node: string;
	readonly run: number;
	readonly output: number;
	readonly item: number;
}

/** The position of an item that has left this node, as text. */
export function placeOf({ run, output, item }: Omit<ItemRef, 'node'>): string {
	return `${run}/${output}/${item}`;
}

/** The runs that a run received its items from. */
type Sources = readonly (ISourceData | null)[];

/** Creates a function that finds the items of `node` that items were made from. */
function tracer(runData: IRunData, node: string) {
	/** The origins of all items that a run received, for the runs that have lost links. */
	const ofRuns = new Map<Sources, readonly ItemRef[]>();

	function originsOf(start: readonly ItemRef[]): readonly ItemRef[] {
		const origins: ItemRef[] = [];
		const seen = new Set<string>();
		const queue = [...start];
		for (const ref of queue) {
			const key = `${ref.node} ${placeOf(ref)}`;
			if (seen.has(key)) continue;
			seen.add(key);
			const sources = runData[ref.node]?.[ref.run]?.source ?? [];
			const linked = ref.node === node ? [] : linkedRefs(runData, sources, ref);
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

	return originsOf;
}

function receivedRefs(runData: IRunData, sources: Sources): ItemRef[] {
	return sources.flatMap((source) => {
		const items = source === null ? [] : (itemsAt(runData, toRef(source, 0)) ?? []);
		return items.map((_item, index) => toRef(source!, index));
	});
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
