/** A paid call that an earlier try of an execution has made, or may have made. */
export interface EarlierCall {
	/** Hash of what was entered. */
	readonly fingerprint: string;
	/** Idempotency key; empty for none. */
	readonly key: string;
	/** Index of the node's run. */
	readonly run: number;
	/** Index of the item. */
	readonly item: number;
}

/** A call that an item asks for. */
export type AskedCall = Omit<EarlierCall, 'run'>;

/**
 * Finds for each item the call that an earlier try of the same execution made for it. A call belongs to one item only.
 *
 * First by what was entered: the items before the node may come in another order than in the earlier try. Then by
 * position, because a text with a time or a random number in it differs in every try. Calls of a tool have no position,
 * as an agent makes them in any order: the oldest one is taken.
 *
 * @param run Index of the run of the items; `tool` for a call of a tool; `text` where the position tells nothing.
 * @returns The calls by index of the item.
 */
export function recognize<E extends EarlierCall>(
	asked: readonly AskedCall[],
	earlier: readonly E[],
	run: number | 'tool' | 'text',
): ReadonlyMap<number, E> {
	const position = (call: EarlierCall) => (typeof run === 'string' ? [] : [call.run, call.item]);
	const rules: readonly ((call: EarlierCall) => unknown[])[] = [
		(call) => [call.fingerprint, ...position(call)],
		(call) => [call.fingerprint],
		...(run === 'text' ? [] : [(call: EarlierCall) => [call.key, ...position(call)]]),
	];
	const found = new Map<number, E>();
	const taken = new Set<E>();
	for (const rule of rules) {
		const known = new Map<string, E[]>();
		// The oldest call of each name comes last.
		for (const call of earlier.toReversed()) {
			if (taken.has(call)) continue;
			const name = JSON.stringify(rule(call));
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
