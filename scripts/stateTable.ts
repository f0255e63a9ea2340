import { TO_KEY, type State } from '../nodes/shared/durable/states';
import { markdownTable } from './markdownTable';

/** What a state means, and what each event makes of it. */
interface StateRow {
	/** To the item of a retry that made the call. */
	readonly toRetry: 'sends it' | 'does not know its outcome' | 'takes its result';
	readonly events: Readonly<Record<string, State>>;
}

/** What each state means, and where it leads. */
export const STATES: Readonly<Record<State, StateRow>> = {
	none: {
		toRetry: 'sends it',
		events: { 'has a key, or is of a retry': 'claimed', 'is sent': 'sent' },
	},
	claimed: {
		toRetry: 'sends it',
		events: { 'is sent': 'sent', 'yields, or stands for a minute': 'none' },
	},
	sent: {
		toRetry: 'does not know its outcome',
		events: {
			'is answered, or gets a task ID': 'open',
			'certainly fails, or is deleted': 'none',
		},
	},
	open: {
		toRetry: 'takes its result',
		events: { 'is completed': 'done', fails: 'failed' },
	},
	done: { toRetry: 'takes its result', events: {} },
	/** With a task: one without has none to take, see `isMade`. */
	failed: { toRetry: 'takes its result', events: {} },
};

const HEAD = ['state', 'what the rows show', "n8n's _Retry_", 'another execution with its key'];

const SHOWN: Readonly<Record<State, string>> = {
	none: 'no row',
	claimed: 'the key is being taken, nothing was sent',
	sent: 'sent, no `task_id`: under way, or unknown once its execution has ended',
	open: 'a `task_id`, no `finished_at`',
	done: 'a `task_id` and `finished_at`',
	failed: 'a `task_id`, and `status` says that the video failed',
};

const RETRY: Readonly<Record<StateRow['toRetry'], string>> = {
	'sends it': 'sends it',
	'does not know its outcome': 'fails the item; sends it only with _Retry If Outcome Is Unknown_',
	'takes its result': 'takes the task, sends nothing',
};

const KEY: Readonly<Record<(typeof TO_KEY)[State], string>> = {
	'is free': 'sends its own',
	'has an owner': 'waits; sends its own once that claim is gone, after a minute at most',
	'is in flight':
		'waits up to 90 s for the answer, not if it was sent over 3 minutes ago; then fails and names the row',
	'has a video': 'takes the task, sends nothing',
};

/** What becomes of a call in each state, as a Markdown table. */
export function stateTable(): string {
	const rows = Object.entries(STATES).map(([state, { toRetry }]) => [
		state === 'none' ? '–' : `\`${state}\``,
		SHOWN[state as State],
		RETRY[toRetry],
		KEY[TO_KEY[state as State]],
	]);
	return markdownTable(HEAD, rows);
}
