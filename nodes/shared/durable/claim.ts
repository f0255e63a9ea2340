import type { Filter } from '../engine/dataTable';
import { STATES, type State } from './states';

/** A call of a key, as its rows show it. */
export interface KeyedCall {
	/** Unique ID of the call. */
	readonly call: string;
	readonly state: State;
	/** ID of its row. It grows with every insert; a row with a lower one may become visible later. */
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

/** The claims of one write; with IDs, those from the lowest to the highest ID. A claim that was sent is none any more. */
export function claimsOf(token: string, ids?: readonly number[]) {
	const range = ids && [
		['id', 'gte', Math.min(...ids)] as const,
		['id', 'lte', Math.max(...ids)] as const,
	];
	const all = [['token', 'eq', token] as const, ['status', 'eq', 'claimed'] as const];
	return { all: [...all, ...(range ?? [])] } satisfies Filter;
}
