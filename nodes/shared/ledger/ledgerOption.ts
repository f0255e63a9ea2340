import { form, toggle } from '../form/form';

const help = (what: string, table: string) =>
	`Whether to record ${what} in the data table ${table} of this project, where a retry of the execution finds them`;

/** Whether a node writes the ledger of tasks. */
export const taskLedgerField = toggle('Task Ledger', {
	help: help('the tasks and their results', 'agent_video_tasks'),
	default: true,
});

/** Whether a node writes the ledger of the calls of Super Assistant and their replies. */
export const callLedgerField = toggle('Call Ledger', {
	help: help('the calls and their replies', 'agent_video_calls'),
	default: true,
});

/** The option as a run reads it: for its first item, and it applies to all. */
export const { taskLedger } = form({ taskLedger: taskLedgerField }, 'options.').fields;
