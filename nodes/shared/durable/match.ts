import { grouped, type PaidCall } from './call';

/** By what calls are recognized. */
export type Recognition = 'all' | 'place' | 'hash';

/** Gives a call a name: calls of the same name are the same one. Undefined for a call to which the rule does not apply. */
type Rule = (call: PaidCall) => unknown;

const BY_HASH: Rule = ({ hash }) => hash;
const BY_PLACE: Rule = ({ hash, run, item }) => [hash, run, item];

/** The rules in their order. */
const RULES: Readonly<Record<Recognition, readonly Rule[]>> = {
	/** Of calls with the same hash first that of the same key and place. */
	all: [
		({ hash, key, run, item }) => [hash, key, run, item],
		({ hash, key }) => (key === '' ? undefined : [hash, key]),
		BY_PLACE,
		BY_HASH,
	],
	/** An item of a rest is the one of its place. */
	place: [BY_PLACE],
	/** The calls of a tool have no place: an agent makes them in any order. */
	hash: [BY_HASH],
};

/**
 * Finds for each item the call that an earlier try of the same execution made for what it asks for. A call belongs to one
 * item only; of several that fit, the oldest.
 *
 * @returns `found`: the earlier call of each. `inPlace`: for one without, the call of its place that none has taken, which
 *   asked for something else.
 */
export function match<A extends PaidCall, C extends PaidCall>(
	asked: readonly A[],
	earlier: readonly C[],
	recognition: Recognition,
) {
	const found = new Map<A, C>();
	const taken = new Set<C>();
	for (const rule of RULES[recognition]) {
		const free = earlier.filter((call) => !taken.has(call) && rule(call) !== undefined);
		const named = grouped(free, (call) => JSON.stringify(rule(call)));
		for (const call of asked) {
			const first = found.has(call)
				? undefined
				: named.get(JSON.stringify(rule(call)))?.shift();
			if (first === undefined) continue;
			found.set(call, first);
			taken.add(first);
		}
	}
	const placeOf = ({ run, item }: PaidCall) => `${run} ${item}`;
	const left = earlier.filter((call) => !taken.has(call) && recognition !== 'hash');
	const byPlace = new Map(left.map((call) => [placeOf(call), call]));
	const inPlace = new Map<A, C>();
	for (const call of asked) {
		const other = byPlace.get(placeOf(call));
		if (other !== undefined && !found.has(call)) inPlace.set(call, other);
	}
	return { found, inPlace };
}
