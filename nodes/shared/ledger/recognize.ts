import type { Call } from './call';

/** Gives a call the name by which it is found. It does not apply to a call without a name. */
type Rule = (call: Call) => readonly unknown[];

const RULES: readonly Rule[] = [
	({ fingerprint, run, item }) => [fingerprint, run, item],
	({ fingerprint }) => [fingerprint],
	({ key }) => (key === '' ? [] : [key]),
	({ place, values }) => [place, values],
	({ place, run, item }) => [place, run, item],
	({ source, run, item }) => (source === undefined ? [] : [source, run, item]),
];
const TOOL_RULES: readonly Rule[] = [({ fingerprint }) => [fingerprint], ({ key }) => [key]];
const NAMELESS = '[]';

/**
 * Finds for each item the call that an earlier try of the same execution made for it. A call belongs to one item only.
 *
 * First by what was entered: the items before the node may come in another order than in the earlier try. Then by key, by an
 * equal item with equal values, or by position where the item is equal: a key or a text with a time in it differs in every try. Calls of
 * a tool have no position, as an agent makes them in any order: the oldest one is taken.
 *
 * @returns The calls by index of the item.
 */
export function recognize<C extends Call>(
	asked: readonly Call[],
	earlier: readonly C[],
	isTool = false,
): ReadonlyMap<number, C> {
	const rules = isTool ? TOOL_RULES : RULES;
	const found = new Map<number, C>();
	const taken = new Set<C>();
	for (const rule of rules) {
		const known = new Map<string, C[]>();
		// The oldest call of each name comes last.
		for (const call of earlier.toReversed()) {
			const name = JSON.stringify(rule(call));
			if (taken.has(call) || name === NAMELESS) continue;
			known.set(name, known.get(name) ?? []);
			known.get(name)!.push(call);
		}
		for (const call of asked) {
			if (found.has(call.item)) continue;
			const name = JSON.stringify(rule(call));
			const match = known.get(name)?.pop();
			if (match === undefined) continue;
			found.set(call.item, match);
			taken.add(match);
		}
	}
	return found;
}
