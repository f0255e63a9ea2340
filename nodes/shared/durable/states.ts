import { taskState } from '../../client/video/tasks';
import type { Row } from '../engine/dataTable';
import { taskIdOf } from './taskTable';

/** The states of a paid call, as its rows in the ledger show them. In the state `none` it has no row. */
export type State = 'none' | 'claimed' | 'sent' | 'open' | 'done' | 'failed';

/** What a state means to another call with the same key. */
export const TO_KEY = {
	none: 'is free',
	claimed: 'has an owner',
	sent: 'is in flight',
	open: 'has a video',
	done: 'has a video',
	failed: 'is free',
} as const satisfies Record<State, string>;

/**
 * The state of a row. A word that is none of ours, as a person may have typed it, counts as sent or answered: it frees
 * nothing.
 */
export function stateOf(row: Row): State {
	const status = String(row['status']);
	if (taskState({ status }) === 'failed') return 'failed';
	if (taskIdOf(row) !== '') return row['finished_at'] ? 'done' : 'open';
	return status === 'claimed' ? 'claimed' : 'sent';
}

/**
 * What an execution that wants the key does next: insert a claim, send the call of its claim, remove its claim, or read again
 * later. `use`: it takes the video of this call, or waits for its answer.
 */
type Decision = 'claim' | 'send' | 'withdraw' | 'wait' | { readonly use: Row };

/**
 * Decides who sends the call of a key, so that at most one is sent.
 *
 * Each claim is inserted before its owner reads, so of two claims at least one owner sees the other; and each is sent by a
 * compare-and-set of its own row, which fails if somebody has removed it. That the lowest ID goes first is needed only so that
 * one of them goes on.
 *
 * @param calls The main rows of all calls of the key, the oldest first, the own one among them or not.
 */
export function decide(calls: readonly Row[], own: string): Decision {
	const meaning = (row: Row) => TO_KEY[stateOf(row)];
	// It may be the own call: a person has edited its row.
	const made = calls.findLast((each) => ['has a video', 'is in flight'].includes(meaning(each)));
	if (made !== undefined) return { use: made };
	const claims = calls.filter((each) => meaning(each) === 'has an owner');
	const mine = claims.find(({ call }) => call === own);
	const others = claims.filter(({ call }) => call !== own);
	if (mine === undefined) return others.length === 0 ? 'claim' : 'wait';
	if (others.length === 0) return 'send';
	return others.some(({ id }) => id! < mine['id']!) ? 'withdraw' : 'wait';
}
