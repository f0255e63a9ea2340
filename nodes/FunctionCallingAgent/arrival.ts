import type {
	IExecuteFunctions,
	INodeExecutionData,
	IPairedItemData,
	IRunData,
	IWorkflowDataProxyData,
} from 'n8n-workflow';

import { InputError } from '../client/errors';
import { nodeOf } from '../shared/engine/context';
import {
	isPassedOn,
	itemsAt,
	keyOf,
	runDataOf,
	sourceOf,
	sourcesOf,
	toRefs,
	type RunRef,
} from '../shared/engine/runs';
import { asksPerson, batchOutput, LOOP, workflowOf } from '../shared/engine/workflow';
import { isToolOutput } from '../shared/run/nodeContext';

export type Arrival = ReturnType<typeof arrivalOf>;

/** The items that have reached the node, and the runs that they may have come from. */
export function arrivalOf(context: IExecuteFunctions) {
	const runs: IRunData = runDataOf(context) ?? {};
	const agent = nodeOf(context);
	const source = sourceOf(context);
	const [from] = toRefs(source);
	let proxy: IWorkflowDataProxyData | undefined;
	return {
		...{ runs, source, name: agent.name, nodes: workflowOf(context).nodes },
		/** Whether what came from this output of the node belongs to it, and to nothing else. */
		isOwn: isToolOutput(agent),
		/** Its items; also those that n8n leaves out with *Execute Once*. */
		items: (from && itemsAt(runs, from)) ?? context.getInputData(),
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

/** How much a return counts that brings back more items than came out; any other return counts 1. */
const GROWTH = 4;

/** An item of an output of a run; the first one by default. */
interface ItemRef extends RunRef {
	readonly item?: number;
}

/** Returns in a row: the sum of what they count, see `GROWTH`, and what the latest one counts. */
interface Returns {
	readonly times: number;
	readonly last: number;
}

/**
 * Follows the runs that an arrival has come from, whatever its links say, and counts the outcomes of the node among them. A
 * way ends where it cannot be endless: where Loop Over Items has its items from, at a call of another agent, which limits
 * them, and at the answer of a person.
 *
 * @returns The returns in a row. One that multiplies the items counts more, as it multiplies the requests as well.
 */
export function countReturns({ runs, nodes, name, isOwn, source, items }: Arrival): Returns {
	const seen = new Set<string>();

	/** Where an item is from by its link; none if that is missing or leads to nothing, as one of pinned data may. */
	const linked = (ref: ItemRef): ItemRef[] =>
		[itemsAt(runs, ref)?.[ref.item ?? 0]?.pairedItem ?? []].flat().flatMap((each) => {
			const link: IPairedItemData = typeof each === 'number' ? { item: each } : each;
			const { item, sourceOverwrite: other } = link;
			const [from] = other ? toRefs(other) : sourcesOf(runs, ref);
			return from && itemsAt(runs, from)?.[item] ? [{ ...from, item }] : [];
		});

	function before(ref: ItemRef): ItemRef[] {
		const from = nodes[ref.node];
		const received = sourcesOf(runs, ref);
		// A Retry may run in a workflow where the node has been removed.
		if (from === undefined) return received;
		const isOther = from.type === nodes[name]?.type && ref.node !== name;
		// When its time limit is over, such a node passes on what it got. Its other outputs have no answer.
		const isAnswered = asksPerson(from) && ref.output === 0 && !isPassedOn(runs, ref);
		if ((isOther && isToolOutput(from)(ref.output)) || isAnswered) return [];
		const isBatch = from.type === LOOP && ref.output === batchOutput(from.typeVersion);
		// Loop Over Items links what it repeats.
		const [link] = isBatch ? linked(ref) : [];
		return link ? [link] : received;
	}

	let [times, last, { length }] = [0, 0, items];
	let ways: ItemRef[] = toRefs(source);
	for (;;) {
		const outcomes: ItemRef[] = [];
		// A list can grow while it is iterated.
		for (const ref of ways) {
			if (seen.has(keyOf(ref))) continue;
			seen.add(keyOf(ref));
			if (ref.node === name && !isOwn(ref.output)) outcomes.push(ref);
			else ways.push(...before(ref));
		}
		if (outcomes.length === 0) return { times, last };
		const ended = outcomes.flatMap((ref) => itemsAt(runs, ref) ?? []).length;
		const count = length > ended ? GROWTH : 1;
		last ||= count;
		times += count;
		length = ended;
		ways = outcomes.flatMap(before);
	}
}

/** Maximum sum of what returns in a row count. */
const MAX_RETURNS = 10;
const ENDED =
	'Use Loop Over Items for a list, or an IF with an exit, and lead errors to nodes that do not lead back';

/**
 * Stops a loop through an outcome that the drawing never ends.
 *
 * @throws InputError when an outcome has led back too often.
 */
export function checkReturns({ times }: Returns): void {
	if (times <= MAX_RETURNS) return;
	const problem = 'has led back to the input too often in a row';
	throw new InputError('Answer, Stopped or Error', problem, ENDED);
}

/**
 * Whether an error may come out with *On Error: Continue*: nothing has led back yet, or this return is the first beyond
 * `MAX_RETURNS`.
 */
export const comesOut = ({ times, last }: Returns) =>
	times === 0 || (times > MAX_RETURNS && times - last <= MAX_RETURNS);
