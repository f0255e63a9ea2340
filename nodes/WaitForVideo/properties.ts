import { readSwitch } from '../client/values';
import { taskLedgerField } from '../shared/durable/taskTable';
import { displayed, fromAi, inTools, notInTools, property } from '../shared/form/fields';
import {
	changed,
	changedAll,
	choice,
	count,
	field,
	filledByModel,
	form,
	number,
	options,
	trimmed,
	type Fields,
} from '../shared/form/form';
import {
	downloadFields,
	fileFields,
	maximumWaitField,
	pollConcurrencyField,
	type WaitMode,
} from '../shared/wait/poll';

/** Fields that a tool does not have; shown where others have these values. */
const inNode = <F extends Fields>(fields: F, show: Readonly<Record<string, string[]>> = {}) =>
	changedAll((property) => notInTools(displayed(property, { show })), fields);

const runFields = {
	maximumWait: maximumWaitField,
	onFailed: choice('On Failed Videos', {
		noDataExpression: true,
		help: 'What happens when a video fails, is not finished in time or cannot be downloaded. The node fails only when all videos are finished and the others have gone on; the error names every failed task.',
		default: 'auto',
		choices: [
			['Fail If Failed Is Not Connected', 'auto', 'Otherwise as Send to Failed Output'],
			['Send to Failed Output', 'output', 'Each leaves through Failed with its reason'],
			['Fail the Node', 'fail', 'Also if the output Failed is connected'],
		],
	}),
	concurrency: pollConcurrencyField,
};

/** The options of a run: n8n evaluates them for the first item, and they apply to all. */
export const runForm = form(runFields, 'options.');

/** Characters that come with a text that was copied, and are no part of an ID. */
const INVISIBLE = /\p{Cf}|\0/gu;

const taskId = trimmed('Task ID', {
	required: true,
	default: '={{ $json.task_id }}',
	placeholder: 'e.g. task-0001',
	help: 'The task to wait for, as returned by Create Video',
	displayOptions: { hide: { tasks: ['ledger'] } },
});

/** The form of Wait for Video. */
export const waitForm = form({
	...inNode({
		tasks: choice('Tasks', {
			noDataExpression: true,
			choices: [
				['From Input', 'input', 'Wait for the task of each input item'],
				['From the Task Ledger', 'ledger', 'Collect what no execution has finished'],
			],
			default: 'input',
			help: 'Which tasks to wait for. From the task ledger, the node runs once for all its items.',
		}),
	}),
	taskId: filledByModel(
		{ ...taskId, parse: (entered) => taskId.parse(entered).replace(INVISIBLE, '').trim() },
		{ key: 'task_id', help: 'The task_id that was returned when the video was created' },
	),
	...inNode(
		{
			ledgerTasks: choice('Which Tasks', {
				noDataExpression: true,
				choices: [
					['Of a Workflow', 'workflow', 'By default of this one'],
					['Of the Project', 'project', 'Of all its workflows'],
				],
				default: 'workflow',
				help: 'Which of the open tasks to collect',
			}),
			workflowId: trimmed('Workflow ID', {
				required: true,
				default: '={{ $workflow.id }}',
				help: 'The workflow that created the tasks: the last part of its address in the editor. By default this workflow.',
				displayOptions: { show: { ledgerTasks: ['workflow'] } },
			}),
		},
		{ tasks: ['ledger'] },
	),
	waitMode: changed(
		choice<WaitMode>('Wait Mode', {
			noDataExpression: true,
			choices: [
				['Poll in Place', 'inPlace', 'Every few seconds. A restart ends the execution.'],
				[
					'Suspend Between Polls',
					'suspend',
					'Poll about once a minute. Meanwhile the execution is saved: it survives a restart and occupies no worker.',
				],
				['Ask Once', 'once', 'Unfinished videos leave through the output Generating'],
			],
			default: 'inPlace',
			help: 'How to wait for videos that are still generating. In a streaming chat and with "Execute step", a node that is to suspend polls in place.',
		}),
		notInTools,
	),
	waitUntilFinished: field(
		inTools(
			property('boolean', 'Wait Until Finished', {
				help: 'Whether to wait for the video. If not, its status is returned.',
				default: fromAi({
					key: 'wait',
					help: 'true waits for the video, for up to 10 minutes; false returns its status now',
					type: 'boolean',
					fallback: 'true',
				}),
			}),
		),
		(entered = true) => readSwitch(entered, 'Wait Until Finished'),
	),
	...downloadFields,
	options: options({
		...runFields,
		...fileFields,
		...inNode(
			{
				maximumTasks: count('Maximum Tasks', {
					help: 'How many tasks to take from the task ledger. Tasks that no run has taken yet come first.',
					default: 50,
				}),
				minimumAge: number('Minimum Age', {
					unit: 'Minutes',
					help: 'Younger tasks stay in the task ledger: the execution that created them may still wait for them',
					default: 15,
				}),
			},
			{ '/tasks': ['ledger'] },
		),
		taskLedger: taskLedgerField,
	}),
});
