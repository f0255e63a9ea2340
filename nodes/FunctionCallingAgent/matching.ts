/**
 * Matching: decides for each item that reaches the node whether it is the result of a tool call, and of which, or a question
 * that begins a conversation of its own.
 *
 * 1. The ways: the runs that the items come from are followed backwards by their sources, to outputs of this node or to where
 *    the execution began. Loop Over Items and other agents keep items of earlier runs: those are followed, too, but only for
 *    calls, never for questions.
 * 2. No call on the ways: every item is a question. Nothing that came through a tool output is one, nor what a Merge has put
 *    beside it.
 * 3. Otherwise an item names its call by `tool_call`, or by n8n's own item linking, of which any error means that it has no
 *    single link. Both count only for a call on the ways. If they name two calls, the item is lost.
 * 4. Behind a node that runs foreign code once for several items n8n links by position: there only `tool_call` counts.
 * 5. An item that names no call is a question where no exact way has a call, and n8n links it to where one began. Otherwise it
 *    belongs to the one that is open, if its run has sent no other one this way.
 * 6. An item of a call that has its result is late. What may belong to several calls is lost: nothing is guessed.
 */
import type { ExecutionError, INode, INodeExecutionData } from 'n8n-workflow';

import { isJsonObject } from '../client/json';
import { itemsAt, keyOf, sourcesOf, toRefs, type RunRef } from '../shared/engine/runs';
import { FOREIGN, LOOP } from '../shared/engine/workflow';
import type { Arrival } from './arrival';
import type { Call } from './state';
import { ENVELOPE } from './properties';

/** The types of the fields of an envelope: a tool's own field of this name may have some of them. */
const TYPES = { id: 'string', tool: 'string', round: 'number', conversation: 'number' } as const;
const FIELDS = Object.keys(TYPES) as (keyof typeof TYPES)[];

/**
 * What an item is for the node:
 * - `question`, which begins a conversation;
 * - `result`: the result of the one call;
 * - `late`: every call that it may come from has its result;
 * - `lost`: it may belong to any of the calls, or be a question: it has lost its link, or `tool_call` contradicts that, or a
 *   Merge has put results and questions together.
 */
export interface Match {
	readonly kind: 'question' | 'result' | 'late' | 'lost';
	/** The open calls that it may belong to; a lost item of a run without any has none. */
	readonly calls: readonly Call[];
	/**
	 * The error of a node in the branch that passed this item on as it came in (*On Error: Continue*): the model reads it in place
	 * of the item.
	 */
	readonly error?: ExecutionError | undefined;
}

/**
 * Matches the items of an arrival to the open calls.
 *
 * @param open The calls that wait for their result.
 * @returns One match per item.
 */
export function matchItems(arrival: Arrival, open: readonly Call[]): Match[] {
	const { items, name, linkedItem } = arrival;
	const { calls, isCalled, asked, kept, isForeign, errors } = waysOf(arrival, open);
	if (calls.length === 0) return items.map(() => ({ kind: 'question', calls: [] }));
	const left = calls.flatMap(({ call }) => call ?? []);
	if (isCalled && asked.size > 0) return items.map(() => ({ kind: 'lost', calls: left }));
	const byItem = new Map(calls.map((each) => [each.item, each]));
	// Of two with the same name the nearest counts.
	const byName = new Map(calls.map((each) => [each.name, each] as const).reverse());
	const [first] = calls.filter(({ call }) => call !== undefined);
	const isOne = left.length === 1 && calls.filter(({ run }) => run === first!.run).length === 1;
	const only = isOne && asked.size === 0 ? first : undefined;
	const isLinking = !isForeign && (calls.length > 1 || asked.size > 0);
	const linkTo = (node: string, item: number) => (isLinking ? linkedItem(node, item) : undefined);
	const matches = items.map((item, index): Match => {
		const carried = byName.get(envelopeOf(item));
		const linked = byItem.get(linkTo(name, index)!);
		if (carried && linked && carried.name !== linked.name)
			return { kind: 'lost', calls: [carried.call ?? [], linked.call ?? []].flat() };
		const named = linked ?? carried ?? only;
		if (named?.call) {
			const error = errors.get(JSON.stringify(item.json));
			return { kind: 'result', calls: [named.call], error };
		}
		if (named || (isCalled && left.length === 0)) return { kind: 'late', calls: [] };
		const isQuestion = [...asked].some((node) => linkTo(node, index));
		return { kind: isQuestion ? 'question' : 'lost', calls: isQuestion ? [] : left };
	});
	// Links that are written by hand may lead from an old result to a question: no loop asks more than has come in.
	const isTooMany = matches.filter(({ kind }) => kind === 'question').length > kept;
	return matches.map((match) =>
		isTooMany && match.kind === 'question' ? { kind: 'lost', calls: left } : match,
	);
}

/** The ways back from an arrival, and the calls on them. */
function waysOf({ runs, nodes, name, isOwn, source }: Arrival, open: readonly Call[]) {
	const isEnd = (ref: RunRef) => ref.node === name || sourcesOf(runs, ref).length === 0;
	const sent = (ref: RunRef) => ref.node === name && isOwn(ref.output);
	const exact = walk(toRefs(source), (ref) => (ref.node === name ? [] : sourcesOf(runs, ref)));
	const keeps = ({ node }: RunRef) =>
		node !== name && [LOOP, nodes[name]?.type].includes(nodes[node]?.type);
	const all = walk(exact, (ref) => {
		if (ref.node === name) return [];
		const ran = (runs[ref.node] ?? []).slice(keeps(ref) ? 0 : ref.run, ref.run + 1);
		return ran.flatMap((run) => run.source.flatMap(toRefs));
	});
	const byPlace = new Map(open.map((call) => [call.record.place, call]));
	const between = all.filter((ref) => ref.node !== name);
	const received = (ref: RunRef) =>
		sourcesOf(runs, ref).flatMap((each) => itemsAt(runs, each) ?? []);
	return {
		/** The calls that have left the node on the ways; those that are open with their record. */
		calls: all.filter(sent).flatMap((ref) =>
			(itemsAt(runs, ref) ?? []).map((item, index) => {
				const call = byPlace.get(placeOf({ ...ref, item: index }));
				return { item, call, run: ref.run, name: envelopeOf(item) };
			}),
		),
		/** Whether one of them is on a way that the items have certainly come. */
		isCalled: exact.some(sent),
		/** The nodes that other ways begin at. */
		asked: new Set(exact.filter((ref) => isEnd(ref) && !sent(ref)).map(({ node }) => node)),
		/** How many items have certainly come to nodes that keep some. */
		kept: exact.filter(keeps).flatMap(received).length,
		isForeign: between.some(
			(ref) => runsForeignCode(nodes[ref.node]) && received(ref).length > 1,
		),
		/**
		 * The errors of nodes, by the JSON of the items that they have passed: with *On Error: Continue* a node that fails
		 * passes its input on, which may be the tool call.
		 */
		errors: new Map(
			between.flatMap((ref) => {
				const error = runs[ref.node]?.[ref.run]?.error;
				const passed = error ? itemsAt(runs, ref) : [];
				return (passed ?? []).map(({ json }) => [JSON.stringify(json), error] as const);
			}),
		),
	};
}

/** All outputs of runs on the ways from some of them, the nearest first. */
function walk(start: readonly RunRef[], next: (ref: RunRef) => readonly RunRef[]): RunRef[] {
	const found = new Map(start.map((ref) => [keyOf(ref), ref]));
	// A map can grow while it is iterated.
	for (const ref of found.values())
		for (const more of next(ref)) if (!found.has(keyOf(more))) found.set(keyOf(more), more);
	return [...found.values()];
}

function runsForeignCode({ type, disabled, parameters = {} }: Partial<INode> = {}): boolean {
	const { mode, functionCode, jsCode, pythonCode } = parameters;
	const isForeign = disabled !== true && FOREIGN.test(`${type} ${String(mode)}`);
	return isForeign && ![functionCode, jsCode, pythonCode].join('\n').includes('pairedItem');
}

/** The position of an item that has left this node, as text. */
export function placeOf({ run, output, item }: Omit<RunRef, 'node'> & { item: number }): string {
	return `${run}/${output}/${item}`;
}

/** The `tool_call` of an item as text; undefined if the field is missing or of another shape, as a tool's own field is. */
export function envelopeOf(item: Partial<INodeExecutionData> = {}): string | undefined {
	const value = item.json?.[ENVELOPE];
	const isEnvelope =
		isJsonObject(value) &&
		Object.keys(value).length === FIELDS.length &&
		FIELDS.every((name) => typeof value[name] === TYPES[name]);
	if (!isEnvelope) return undefined;
	const { id, tool, round, conversation } = value;
	// Not as JSON, which takes long for halves of surrogate pairs. The length says where the ID ends.
	return [round, conversation, String(id).length, id, tool].join(' ');
}

/**
 * The JSON of the item of a call, with what identifies it: the number of the model's reply that requested it, from 1, and the
 * number of the conversation, from 0.
 */
export function toCallJson({ slot, record }: Call) {
	const { id, name: tool, round } = record;
	const envelope = { id, tool, round, conversation: slot.number };
	return { ...(record.arguments as object), [ENVELOPE]: envelope };
}
