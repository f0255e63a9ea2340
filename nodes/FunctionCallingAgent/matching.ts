/**
 * Matching: decides for each item that reaches the node whether it is part of a tool result, and of which call, or a
 * question that begins a conversation of its own.
 *
 * The trace tells the tool calls that an item was made from. Without any it is a question; but never if all that its run
 * has received came from tool calls. Otherwise its `tool_call`, if it still has one, names the call, which must be one of
 * the origins: another open call contradicts its link. Without `tool_call` the origins decide. All of them have their
 * results: a late item, which is ignored. One call: its result. If they include several calls of one run, even of those
 * with a result, as an aggregate of all results does, the item may belong to any of them, and is not matched: nothing is
 * guessed.
 */
import type { INodeExecutionData, ISourceData } from 'n8n-workflow';

import { fromJson, isJsonObject } from '../client/json';
import {
	countItemsBefore,
	itemAt,
	traceItems,
	type ItemRef,
	type Runs,
} from '../shared/run/itemTrace';
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
 * - `lost`: it may belong to any of the calls, as it has lost its link, or `tool_call` contradicts the link.
 */
export interface Match {
	readonly kind: 'question' | 'outcome' | 'result' | 'late' | 'lost';
	/** The open calls that it may belong to. */
	readonly calls: readonly Call[];
}

/** The items that have reached the node, and where from. */
export interface Arrival {
	/** The run that the items come from; null without one. */
	readonly source: ISourceData | null;
	readonly items: readonly INodeExecutionData[];
	/** Number of conversations under way. */
	readonly conversations: number;
}

/**
 * Matches the items of an arrival to the open calls.
 *
 * @param runs The runs of this execution so far, and this node, with its outputs for tool calls as its own.
 * @param open The calls that wait for their result.
 * @returns One match per item.
 */
export function matchItems(
	runs: Runs,
	{ source, items, conversations }: Arrival,
	open: readonly Call[],
): Match[] {
	const isFirstRun = source === null || runs.runData[runs.node] === undefined;
	if (isFirstRun) return items.map(() => ({ kind: 'question', calls: [] }));
	const { ends, originsOf } = traceItems(runs, source);
	// Whatever the links say, no loop through the tools asks more than has come in.
	let left = ends.own ? (ends.other ? countItemsBefore(runs) : 0) - conversations : Infinity;
	return items.map((item, index): Match => {
		const origins = originsOf(index);
		const sent = origins.flatMap((ref) => {
			const envelope = envelopeOf(itemAt(runs.runData, ref));
			const isCall = envelope !== undefined && runs.isOwn(ref.output);
			return isCall ? [{ envelope, run: ref.run, place: placeOf(ref) }] : [];
		});
		const carried = envelopeOf(item);
		const named = sent.filter(({ envelope }) => isSame(envelope, carried));
		const asked = named.length > 0 ? named : sent;
		const places = new Map(asked.map(({ place, run }) => [place, run]));
		const calls = open.filter(({ record }) => places.has(record.place!));
		const others = open.filter((call) => isSame(toEnvelope(call), carried));
		if (named.length === 0 && others.length > 0)
			return { kind: 'lost', calls: [...calls, ...others] };
		if (asked.length === 0) {
			left -= 1;
			if (left < 0) return { kind: 'lost', calls: open };
			return { kind: origins.length > 0 ? 'outcome' : 'question', calls };
		}
		const [first] = calls;
		if (first === undefined) return { kind: 'late', calls };
		const ofRun = asked.filter(({ run }) => run === places.get(first.record.place!));
		return { kind: calls.length === 1 && ofRun.length === 1 ? 'result' : 'lost', calls };
	});
}

/** The position of an item that has left this node, as text. */
export function placeOf({ run, output, item }: Omit<ItemRef, 'node'>): string {
	return `${run}/${output}/${item}`;
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
