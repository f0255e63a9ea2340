import { form, toggle } from '../form/form';

/** Whether a node writes the ledger of tasks. */
export const taskLedgerField = toggle('Task Ledger', {
	help: 'Whether to record the tasks and their results in the data table agent_video_tasks of this project, where a retry of the execution finds them',
	default: true,
});

/** The option as a run reads it: for its first item, and it applies to all. */
export const { taskLedger } = form({ taskLedger: taskLedgerField }, 'options.').fields;
