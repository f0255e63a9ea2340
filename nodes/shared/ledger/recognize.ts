/** A paid call that an earlier try of an execution has made, or may have made. */
export interface EarlierCall {
	/** Hash of the key and what was entered, as all others. */
	readonly fingerprint: string;
	/** The same without the queries of URLs: a signed URL differs every time. */
	readonly values: string;
	/** Of the input item and the form, where the form reads nothing but this item. */
	readonly place: string;
	/** Of the input item and the form; only of a call that n8n has kept with the data of all nodes. */
	readonly source?: string;
	/** Idempotency key; empty for none. */
	readonly key: string;
	/** Index of the node's run; -1 where it tells nothing. */
	readonly run: number;
	/** Index of the item. */
	readonly item: number;
}

/** The name of a call to which a rule gives none. */
const NAMELESS = '[]';

/** A call that an item asks for. */
export type AskedCall = Omit<EarlierCall, 'run'>;

/**
 * Finds for each item the call that an earlier try of the same execution made for it. A call belongs to one item only.
 *
 * First by what was entered: the items before the node may come in another order than in the earlier try. Then by key, or
 * by position where the item is equal, because a text with a time or a random number in it differs in every try. Calls of
 * a tool have no position, as an agent makes them in any order: the oldest one is taken.
 *
 * @param run Index of the run of the items; `tool` for a call of a tool.
 * @returns The calls by index of the item.
 */
export function recognize<E extends EarlierCall>(
	asked: readonly AskedCall[],
	earlier: readonly E[],
	run: number | 'tool',
): ReadonlyMap<number, E> {
	const isTool = run === 'tool';
	const position = (call: EarlierCall) => (isTool ? [] : [call.run, call.item]);
	/** A rule does not apply to a call to which it gives no name. */
	const rules: readonly ((call: EarlierCall) => readonly unknown[])[] = [
		(call) => [call.fingerprint, ...position(call)],
		(call) => [call.fingerprint],
		({ key }) => (key === '' && !isTool ? [] : [key]),
		(call) => (isTool ? [] : [call.key, call.place, ...position(call)]),
		({ source, ...call }) =>
			isTool || source === undefined ? [] : [source, ...position(call)],
	];
	const found = new Map<number, E>();
	const taken = new Set<E>();
	for (const rule of rules) {
		const known = new Map<string, E[]>();
		// The oldest call of each name comes last.
		for (const call of earlier.toReversed()) {
			const name = JSON.stringify(rule(call));
			if (taken.has(call) || name === NAMELESS) continue;
			known.set(name, known.get(name) ?? []);
			known.get(name)!.push(call);
		}
		for (const call of asked) {
			if (found.has(call.item)) continue;
			const name = JSON.stringify(rule({ ...call, run: Number(run) }));
			const match = known.get(name)?.pop();
			if (match === undefined) continue;
			found.set(call.item, match);
			taken.add(match);
		}
	}
	return found;
}
