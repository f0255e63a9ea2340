import type { Filter } from '../engine/dataTable';
import { STATES, type State } from './states';

/** A call of a key, as its rows show it. */
export interface KeyedCall {
	/** Unique ID of the call. */
	readonly call: string;
	readonly state: State;
	/** ID of its row, see `Row`. */
	readonly id: number;
}

/**
 * What an execution that wants the key does next: insert a claim, send the call of its claim, remove its claim, or read again
 * later. `use`: it takes the video of this call, or waits for its answer.
 */
type Decision = 'claim' | 'send' | 'withdraw' | 'wait' | { readonly use: KeyedCall };

/**
 * Decides who sends the call of a key, so that at most one is sent.
 *
 * Each claim is inserted before its owner reads, so of two claims at least one owner sees the other; and each is sent by a
 * compare-and-set of its own row, which fails if somebody has removed it. That the lowest ID goes first is needed only so that
 * one of them goes on.
 *
 * @param calls All calls of the key, the oldest first, the own one among them or not.
 */
export function decide(calls: readonly KeyedCall[], own: string): Decision {
	const meaning = ({ state }: KeyedCall) => STATES[state].toKey;
	// It may be the own call: a person has edited its row.
	const made = calls.findLast((each) => ['has a video', 'is in flight'].includes(meaning(each)));
	if (made !== undefined) return { use: made };
	const claims = calls.filter((each) => meaning(each) === 'has an owner');
	const mine = claims.find(({ call }) => call === own);
	const others = claims.filter(({ call }) => call !== own);
	if (mine === undefined) return others.length === 0 ? 'claim' : 'wait';
	if (others.length === 0) return 'send';
	return others.some(({ id }) => id < mine.id) ? 'withdraw' : 'wait';
}

/** All claims of one write that were not sent. */
export function claimsOf(token: string) {
	return {
		all: [['token', 'eq', token] as const, ['status', 'eq', 'claimed'] as const],
	} satisfies Filter;
}

/** Filters of claims, as long as they are claims: those of one write whose rows follow each other together. */
export function theseClaims(
	claims: readonly { readonly id: number; readonly token: string }[],
): readonly Filter[] {
	const groups: (typeof claims)[number][][] = [];
	for (const claim of [...claims].sort((one, other) => one.id - other.id)) {
		const before = groups.at(-1)?.at(-1);
		if (before?.token === claim.token && before.id + 1 === claim.id) groups.at(-1)!.push(claim);
		else groups.push([claim]);
	}
	return groups.map((group) => {
		const range = [
			['id', 'gte', group[0]!.id] as const,
			['id', 'lte', group.at(-1)!.id] as const,
		];
		return { all: [...claimsOf(group[0]!.token).all, ...range] };
	});
}
