import { shown } from '../../client/values';
import { taskState } from '../../client/video/taskState';
import type { Row } from '../engine/dataTable';
import { taskIdOf } from './taskTable';

/** A reservation that its owner has not prolonged for this time is void: the owner is gone. */
export const RESERVATION_MS = 60_000;
/** How often reservations are prolonged. */
export const PROLONG_MS = RESERVATION_MS / 4;
/**
 * A call is answered or fails within its timeout, by default two minutes. After this time without an answer its
 * execution counts as stopped.
 */
const ANSWER_MS = 3 * 60_000;
/** How many videos a key makes at most, each after the one before it has failed. */
export const MAX_ATTEMPTS = 3;

/** What a state means to another execution with the same key. */
type Meaning = 'free' | 'wait' | 'report' | 'reuse' | 'again';

type State =
	'none' | 'claimed' | 'reserved' | 'sent' | 'unknown' | 'open' | 'done' | 'rejected' | 'failed';

/** What a call in this state means to another execution with the same key, and what each event makes of it. */
type StateRow = readonly [toOthers: Meaning, events: Readonly<Record<string, State>>];

/**
 * The states of a paid call, as its row in the ledger shows them: docs/architecture.md has them as a diagram. A call in the
 * state `none` has no row, or one that is void.
 */
export const STATES: Readonly<Record<State, StateRow>> = {
	none: ['free', { 'has a key or a limit': 'claimed', 'has neither': 'sent' }],
	claimed: ['wait', { 'is the first, within the limit': 'reserved', 'yields, expires': 'none' }],
	reserved: ['wait', { 'is sent': 'sent', 'is given back, expires': 'none' }],
	sent: [
		'wait',
		{ 'is answered': 'open', 'certainly fails': 'none', 'is not answered': 'unknown' },
	],
	unknown: ['report', { 'gets its task ID': 'open', 'is deleted, sent again': 'none' }],
	open: ['reuse', { 'is completed': 'done', fails: 'failed', 'is moderated': 'rejected' }],
	done: ['reuse', {}],
	rejected: ['reuse', {}],
	failed: ['again', { 'is tried again': 'claimed' }],
};

/** The specification has no status for it: the same prompt would fail again. */
const MODERATION =
	/^(rejected|blocked|denied)|moderation|moderated|sensitive|prohibited|(content|safety|usage) (policy|policies)|审核|敏感|违规/i;

/** The state of a row. */
export function stateOf(row: Row, nowMs: number): State {
	const status = String(row['status']);
	// Without a time, which a person may have cleared, a call would be waited for without end.
	const isYoung = (ms: number) => nowMs - Date.parse(row['sent_at'] as string) <= ms;
	if (isReservation(row)) return isYoung(RESERVATION_MS) ? (status as State) : 'none';
	if (status === 'sent' && taskIdOf(row) === '') return isYoung(ANSWER_MS) ? 'sent' : 'unknown';
	if (taskState({ status }) === 'failed')
		return MODERATION.test(`${status} ${shown(row['error'])}`) ? 'rejected' : 'failed';
	return row['finished_at'] ? 'done' : 'open';
}

/** Whether a row is the reservation of an idempotency key. With a task ID the word is one of the service. */
export function isReservation(row: Row): boolean {
	return ['claimed', 'reserved'].includes(String(row['status'])) && taskIdOf(row) === '';
}

/** What the video of a row means to an execution with the same key. */
export function meaningOf(row: Row, nowMs: number): Meaning {
	const [toOthers] = STATES[stateOf(row, nowMs)];
	return toOthers === 'again' && attemptOf(row) >= MAX_ATTEMPTS ? 'reuse' : toOthers;
}

/** Which video of its key a row is, from 1. */
export function attemptOf({ attempt }: Row): number {
	return Number(attempt) || 1;
}

/** Whether a row has the idempotency key of another one: keys are those of a workflow, unless both are shared on purpose. */
export function hasKeyOf(row: Row, own: Row): boolean {
	if (row['idempotency_key'] !== own['idempotency_key']) return false;
	const isShared = [row, own].every(({ key_scope: scope }) => scope === 'project');
	return isShared || !row['workflow_id'] || row['workflow_id'] === own['workflow_id'];
}
