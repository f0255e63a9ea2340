import { taskState } from '../../client/video/taskState';
import type { Row } from '../engine/dataTable';
import { taskIdOf } from './taskTable';

export type State = 'none' | 'claimed' | 'sent' | 'open' | 'done' | 'failed';

/** What a state means, and what each event makes of it. */
interface StateRow {
	/** To the item of a retry that made the call. */
	readonly toRetry: 'sends it' | 'does not know its outcome' | 'takes its result';
	/** To another call with the same key. */
	readonly toKey: 'is free' | 'has an owner' | 'is in flight' | 'has a video';
	readonly events: Readonly<Record<string, State>>;
}

/** The states of a paid call, as its rows in the ledger show them. In the state `none` it has no row. */
export const STATES: Readonly<Record<State, StateRow>> = {
	none: {
		toRetry: 'sends it',
		toKey: 'is free',
		events: { 'has a key, or is of a retry': 'claimed', 'is sent': 'sent' },
	},
	claimed: {
		toRetry: 'sends it',
		toKey: 'has an owner',
		events: { 'is sent': 'sent', 'yields, or stands for a minute': 'none' },
	},
	sent: {
		toRetry: 'does not know its outcome',
		toKey: 'is in flight',
		events: {
			'is answered, or gets a task ID': 'open',
			'certainly fails, or is deleted': 'none',
		},
	},
	open: {
		toRetry: 'takes its result',
		toKey: 'has a video',
		events: { 'is completed': 'done', fails: 'failed' },
	},
	done: { toRetry: 'takes its result', toKey: 'has a video', events: {} },
	/** With a task: one without has none to take, see `isMade`. */
	failed: { toRetry: 'takes its result', toKey: 'is free', events: {} },
};

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
