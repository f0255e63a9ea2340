import { booleanOption, optionTable } from '../form/options';

const help = (what: string, table: string) =>
	`Whether to record ${what} in the data table ${table} of this project, where a retry of the execution finds them`;

/** Whether a node writes its ledger: of tasks, or of the calls of Super Assistant and their replies. */
export const ledgerOptions = optionTable({
	taskLedger: booleanOption('Task Ledger', {
		help: help('the tasks and their results', 'agent_video_tasks'),
		default: true,
	}),
	callLedger: booleanOption('Call Ledger', {
		help: help('the calls and their replies', 'agent_video_calls'),
		default: true,
	}),
});
