import type { IPairedItemData } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { itemsAt, keyOf, sourcesOf, toRef, toRefs, type RunRef } from '../shared/engine/runs';
import { asksPerson, batchOutput, LOOP } from '../shared/engine/workflow';
import { isToolOutput } from '../shared/run/toolCall';
import type { Arrival } from './arrival';

/** What a time counts in which the questions become more. */
const GROWTH = 4;

/** An item of an output of a run; the first one by default. */
interface ItemRef extends RunRef {
	readonly item?: number;
}

/**
 * Follows the runs that an arrival has come from, whatever its links say, and counts the outcomes of the node among them. A
 * way ends where it cannot be endless: where Loop Over Items has its items from, at a call of another agent, which limits
 * them, and at the answer of a person.
 *
 * @returns How often in a row an outcome has led back. A time with more questions than outcomes counts more, as their number
 *   grows with each.
 */
export function countReturns({ runs, nodes, name, isOwn, source, items }: Arrival): number {
	const seen = new Set<string>();
	const jsonOf = (ref: RunRef) => JSON.stringify(itemsAt(runs, ref)?.map(({ json }) => json));

	/** Where an item is from by its link; none if that is missing or leads to nothing, as one of pinned data may. */
	const linked = (ref: ItemRef): ItemRef[] =>
		[itemsAt(runs, ref)?.[ref.item ?? 0]?.pairedItem ?? []].flat().flatMap((each) => {
			const link: IPairedItemData = typeof each === 'number' ? { item: each } : each;
			const from = link.sourceOverwrite ?? sourcesOf(runs, ref)[link.input ?? 0];
			const isThere = from && itemsAt(runs, toRef(from))?.[link.item];
			return isThere ? [{ ...toRef(from), item: link.item }] : [];
		});

	function before(ref: ItemRef): ItemRef[] {
		const from = nodes[ref.node]!;
		const isOther = from.type === nodes[name]!.type && ref.node !== name;
		const received = toRefs(sourcesOf(runs, ref));
		// When its time limit is over, such a node passes on what it got. Its other outputs have no answer.
		const isAnswered =
			asksPerson(from) &&
			ref.output === 0 &&
			received.every((each) => jsonOf(each) !== jsonOf(ref));
		if ((isOther && isToolOutput(from)(ref.output)) || isAnswered) return [];
		const isBatch = from.type === LOOP && ref.output === batchOutput(from.typeVersion);
		// Loop Over Items links what it repeats.
		const [link] = isBatch ? linked(ref) : [];
		return link ? [link] : received;
	}

	let [times, { length }] = [0, items];
	let ways: ItemRef[] = toRefs([source]);
	for (;;) {
		const outcomes: ItemRef[] = [];
		// A list can grow while it is iterated.
		for (const ref of ways) {
			if (seen.has(keyOf(ref))) continue;
			seen.add(keyOf(ref));
			if (ref.node === name && !isOwn(ref.output)) outcomes.push(ref);
			else ways.push(...before(ref));
		}
		if (outcomes.length === 0) return times;
		const ended = outcomes.flatMap((ref) => itemsAt(runs, ref) ?? []).length;
		times += length > ended ? GROWTH : 1;
		length = ended;
		ways = outcomes.flatMap(before);
	}
}

/** How often in a row an outcome may lead back. */
export const MAX_RETURNS = 10;
const ENDED =
	'Use Loop Over Items for a list, or an IF with an exit, and lead errors to nodes that do not lead back';

/**
 * Ends what the drawing does not.
 *
 * @throws InputError when an outcome has led back too often.
 */
export function checkReturns(times: number): void {
	if (times <= MAX_RETURNS) return;
	const problem = `has led back to the input ${MAX_RETURNS} times in a row`;
	throw new InputError('Answer, Stopped or Error', problem, ENDED);
}
