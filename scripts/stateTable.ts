import { STATES, TO_KEY, type State } from '../nodes/shared/durable/states';
import { markdownTable } from './markdownTable';

type StateRow = (typeof STATES)[State];

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
