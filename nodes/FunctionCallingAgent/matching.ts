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
import type {
	ExecutionError,
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	IPairedItemData,
	IRunData,
	ISourceData,
} from 'n8n-workflow';

import { isJsonObject } from '../client/json';
import { asksPerson, batchOutput, FOREIGN, LOOP, workflowOf } from '../shared/engine/workflow';
import { runDataOf, sourceOf } from '../shared/engine/nodeRun';
import { isToolOutput } from '../shared/run/toolCall';
import type { Call } from './state';
import { ENVELOPE } from './tools';

/** The types of the fields of an envelope: a tool's own field of this name may have some of them. */
const TYPES = { id: 'string', tool: 'string', round: 'number', conversation: 'number' } as const;
const FIELDS = Object.keys(TYPES) as (keyof typeof TYPES)[];

/**
 * What an item is for the node:
 * - `question`, which begins a conversation;
 * - `result`: the result of the one call;
 * - `late`: every call that it comes from has its result;
 * - `lost`: it may belong to any of the calls, as it has lost its link, or `tool_call` contradicts the link.
 */
export interface Match {
	readonly kind: 'question' | 'result' | 'late' | 'lost';
	/** The open calls that it may belong to. */
	readonly calls: readonly Call[];
	/** Why the item of a result is none. */
	readonly error?: ExecutionError | undefined;
}

/** The items that have reached the node, and what they are matched by. */
export function arrivalOf(context: IExecuteFunctions) {
	const runs = runDataOf(context) ?? {};
	const { nodes } = workflowOf(context);
	const agent = context.getNode();
	const { name } = agent;
	const source = sourceOf(context);
	return {
		...{ runs, nodes, name },
		/** The nodes that it leads to, and itself. */
		behind: [name, ...context.getChildNodes(name).map((child) => child.name)],
		/** Whether what came from this output of the node belongs to it, and to nothing else. */
		isOwn: isToolOutput(agent),
		/** The run that the items come from; null without one. */
		source,
		/** Its items; also those that n8n leaves out with *Execute Once*. */
		items: (source && itemsAt(runs, toRef(source, 0))) ?? context.getInputData(),
	};
}

type Arrival = ReturnType<typeof arrivalOf>;

/**
 * Matches the items of an arrival to the open calls.
 *
 * @param open The calls that wait for their result.
 * @param begun Number of conversations so far.
 * @returns One match per item.
 */
export function matchItems(arrival: Arrival, open: readonly Call[], begun: number): Match[] {
	const { runs: runData, name, behind, isOwn, source, items } = arrival;
	const isFirstRun = source === null || runData[name] === undefined;
	if (isFirstRun) return items.map(() => ({ kind: 'question', calls: [] }));
	const { isCalled, isAsked, errors, originsOf } = traceItems(arrival, source);
	const byEnvelope = new Map(
		open.map((call) => [envelopeOf({ json: toCallJson(call) }), call] as const),
	);
	// Whatever the links say, no loop through the tools asks more than has come in.
	const before = Object.keys(runData).filter((node) => isAsked && !behind.includes(node));
	const asked = before.flatMap((node) =>
		runData[node]!.flatMap((run) => run.data?.['main'] ?? []),
	);
	let left = isCalled ? asked.flat().length - begun : Infinity;
	return items.map((item, index): Match => {
		const origins = originsOf(index);
		const sent = origins
			.filter(({ output }) => isOwn(output))
			.map((ref) => ({ ...ref, envelope: envelopeOf(itemsAt(runData, ref)?.[ref.item]) }));
		const carried = envelopeOf(item);
		const named = sent.filter(({ envelope }) => envelope === carried);
		const meant = named.length > 0 ? named : sent;
		const places = new Map(meant.map((ref) => [placeOf(ref), ref.run]));
		const calls = open.filter(({ record }) => places.has(record.place!));
		const other = byEnvelope.get(carried);
		if (named.length === 0 && other) return { kind: 'lost', calls: [...calls, other] };
		if (meant.length === 0) {
			left -= 1;
			if (left < 0) return { kind: 'lost', calls: open };
			return { kind: 'question', calls };
		}
		const [first] = calls;
		if (first === undefined) return { kind: 'late', calls };
		const ofRun = meant.filter(({ run }) => run === places.get(first.record.place!));
		const isOne = calls.length === 1 && ofRun.length === 1;
		const error = errors.get(JSON.stringify(item.json));
		return isOne ? { kind: 'result', calls, error } : { kind: 'lost', calls };
	});
}

/** What a time counts in which the questions become more. */
const GROWTH = 4;

/**
 * Follows the runs that an arrival has come from, whatever its links say, and counts the outcomes of the node among them. A
 * way ends where it cannot be endless: where Loop Over Items has its items from, at a call of another agent, which limits
 * them, and at the answer of a person.
 *
 * @returns How often in a row an outcome has led back, and how often of these an error, since the last answer. A time with more
 *   questions than outcomes counts more, as their number grows with each.
 */
export function countReturns({ runs: runData, nodes, name, isOwn, source, items }: Arrival) {
	const seen = new Set<string>();
	const jsonOf = (ref: ItemRef) => JSON.stringify(itemsAt(runData, ref)?.map(({ json }) => json));

	function before(ref: ItemRef): ItemRef[] {
		const from = nodes[ref.node]!;
		const isOther = from.type === nodes[name]!.type && ref.node !== name;
		const sources = sourcesOf(runData, ref);
		const received = firstRefs(sources);
		// When its time limit is over, such a node passes on what it got. Its other outputs have no answer.
		const isAnswered =
			asksPerson(from) &&
			ref.output === 0 &&
			received.every((each) => jsonOf(each) !== jsonOf(ref));
		if ((isOther && isToolOutput(from)(ref.output)) || isAnswered) return [];
		// Loop Over Items links what it repeats.
		const isBatch = from.type === LOOP && ref.output === batchOutput(from.typeVersion);
		const [link] = isBatch ? linkedRefs(runData, sources, ref) : [];
		return link ? [link] : received;
	}

	let [times, failures, isFailing, { length }] = [0, 0, true, items];
	let ways = firstRefs([source]);
	for (;;) {
		const outcomes: ItemRef[] = [];
		// A list can grow while it is iterated.
		for (const ref of ways) {
			if (seen.has(runOf(ref))) continue;
			seen.add(runOf(ref));
			if (ref.node === name && !isOwn(ref.output)) outcomes.push(ref);
			else ways.push(...before(ref));
		}
		if (outcomes.length === 0) return { times, failures };
		const ended = outcomes.flatMap((ref) => itemsAt(runData, ref) ?? []);
		times += length > ended.length ? GROWTH : 1;
		isFailing &&= ended.every(({ json }) => json['error'] !== undefined);
		if (isFailing) failures = times;
		length = ended.length;
		ways = outcomes.flatMap(before);
	}
}

/** The position of an item that has left this node, as text. */
export function placeOf({ run, output, item }: Omit<ItemRef, 'node'>): string {
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

/** Position of an item among the outputs of the runs of a node. */
interface ItemRef {
	readonly node: string;
	readonly run: number;
	readonly output: number;
	readonly item: number;
}

/** The runs that a run received its items from. */
type Sources = readonly (ISourceData | null)[];

/**
 * Creates a trace of the items that a run has output, back to the items of the node that they were made from.
 *
 * 1. Runs: n8n records for each run the runs that it received its items from. Followed backwards, they end at an output of
 *    the node, or at a trigger. Links to other runs are ignored: an item of `$('Node').first()`, for example, brings its link
 *    along.
 * 2. Items: n8n records for each item the items it was made from (item linking). Where a node has lost the link of an item,
 *    or may have reordered the items, every item that its run received is a possible origin.
 */
function traceItems({ runs: runData, nodes, name, isOwn }: Arrival, source: ISourceData) {
	/** The runs of the trace, by name. */
	const runs = walk([toRef(source, 0)], runOf, (ref) => {
		if (ref.node === name) return [];
		const isBuffer = [LOOP, nodes[name]?.type].includes(nodes[ref.node]?.type);
		const ran = (runData[ref.node] ?? []).slice(isBuffer ? 0 : ref.run, ref.run + 1);
		return ran.flatMap((run) => firstRefs(run.source));
	});
	const ends = [...runs.values()].filter(
		(ref) => ref.node === name || firstRefs(sourcesOf(runData, ref)).length === 0,
	);
	/**
	 * The errors of nodes, by the JSON of the items that they have passed: with *On Error: Continue* a node that fails passes
	 * its input on, which may be the tool call.
	 */
	const errors = new Map(
		[...runs.values()].flatMap((ref) => {
			const run = ref.node === name ? undefined : runData[ref.node]?.[ref.run];
			const passed = run?.error && itemsAt(runData, ref);
			return (passed ?? []).map(({ json }) => [JSON.stringify(json), run?.error] as const);
		}),
	);
	const itemsOf = (ref: ItemRef) =>
		(itemsAt(runData, ref) ?? []).map((_each, item) => ({ ...ref, item }));
	const itemOf = (ref: ItemRef) => `${runOf(ref)}/${ref.item}`;
	/** The origins of all items that a run received, for the runs that have lost links. */
	const ofRuns = new Map<Sources, readonly ItemRef[]>();

	function originsOf(start: readonly ItemRef[]): readonly ItemRef[] {
		const traced = walk(start, itemOf, (ref) => {
			if (ref.node === name) return [];
			const sources = sourcesOf(runData, ref);
			const links = isReordering(nodes[ref.node]) ? [] : linkedRefs(runData, sources, ref);
			const linked = links.filter((link) => runs.has(runOf(link)));
			if (linked.length > 0) return linked;
			const known = ofRuns.get(sources) ?? originsOf(firstRefs(sources).flatMap(itemsOf));
			ofRuns.set(sources, known);
			return known;
		});
		return [...traced.values()].filter((ref) => ref.node === name);
	}

	return {
		/** Whether a run of the trace is one of the node that called tools, and whether one is anything else. */
		isCalled: ends.some((ref) => ref.node === name && isOwn(ref.output)),
		isAsked: ends.some((ref) => ref.node !== name || !isOwn(ref.output)),
		errors,
		/** The items of the node that an item of the run was made from. */
		originsOf: (item: number) => originsOf([toRef(source, item)]),
	};
}

function isReordering({ type, disabled, parameters = {} }: Partial<INode> = {}): boolean {
	const { mode, functionCode, jsCode, pythonCode } = parameters;
	const isForeign = disabled !== true && FOREIGN.test(`${type} ${String(mode)}`);
	return isForeign && ![functionCode, jsCode, pythonCode].join('\n').includes('pairedItem');
}

function firstRefs(sources: Sources): ItemRef[] {
	return sources.flatMap((source) => (source === null ? [] : toRef(source, 0)));
}

/** The items that an item is linked to; none if a link is missing or leads to nothing, as one of pinned data may. */
function linkedRefs(runData: IRunData, sources: Sources, ref: ItemRef): ItemRef[] {
	return [itemsAt(runData, ref)?.[ref.item]?.pairedItem ?? []].flat().flatMap((each) => {
		const link: IPairedItemData = typeof each === 'number' ? { item: each } : each;
		const source = link.sourceOverwrite ?? sources[link.input ?? 0];
		const linked = source && toRef(source, link.item);
		return linked && itemsAt(runData, linked)?.[linked.item] ? [linked] : [];
	});
}

function itemsAt(runData: IRunData, { node, run, output }: ItemRef) {
	return runData[node]?.[run]?.data?.['main']?.[output];
}

/** All that is found on the ways from a start, by its key. */
function walk<T>(start: readonly T[], keyOf: (each: T) => string, next: (each: T) => readonly T[]) {
	const found = new Map(start.map((each) => [keyOf(each), each]));
	// A map can grow while it is iterated.
	for (const each of found.values())
		for (const more of next(each)) if (!found.has(keyOf(more))) found.set(keyOf(more), more);
	return found;
}

/** Names the output of a run. */
function runOf({ node, run, output }: ItemRef): string {
	return `${node} ${run}/${output}`;
}

function toRef(source: ISourceData, item: number): ItemRef {
	const { previousNode, previousNodeOutput = 0, previousNodeRun = 0 } = source;
	return { node: previousNode, run: previousNodeRun, output: previousNodeOutput, item };
}

/** The runs that the run of an item received its items from. */
function sourcesOf(runData: IRunData, { node, run }: Pick<ItemRef, 'node' | 'run'>): Sources {
	return runData[node]?.[run]?.source ?? [];
}
