import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import {
	booleanField,
	filledByModel,
	listField,
	notInTools,
	shownFor,
	textField,
} from '../shared/form/fields';
import { downloadFields, fileOptions, pollOptions } from '../shared/wait/options';
import { fileGroup } from '../shared/files/downloadLimits';
import {
	choiceOption,
	countOption,
	numberOption,
	optionsProperty,
	optionTable,
	propertiesOf,
} from '../shared/form/options';
import { ledgerOptions } from '../shared/ledger/ledgerOption';
import { isToolRun } from '../shared/run/nodeContext';
import { isFailedConnected } from './outputs';

/** Which tasks one run takes from the task ledger. */
export const ledgerTaskOptions = optionTable({
	maximumTasks: countOption('Maximum Tasks', {
		help: 'How many tasks to take from the task ledger. Tasks that no run has taken yet come first.',
		default: 50,
	}),
	minimumAge: numberOption('Minimum Age', {
		unit: 'Minutes',
		help: 'Younger tasks stay in the task ledger: the execution that created them may still wait for them',
		default: 15,
	}),
});

const { onFailed } = optionTable({
	onFailed: choiceOption<'auto' | 'output' | 'fail'>('On Failed Videos', {
		help: 'What happens when a video fails, is not finished in time or cannot be downloaded. The node fails only when all videos are finished; the error names every task ID.',
		default: 'auto',
		choices: [
			['Fail If Failed Is Not Connected', 'auto', 'Otherwise as Send to Failed Output'],
			['Send to Failed Output', 'output', 'Each leaves through Failed with its reason'],
			['Fail the Node', 'fail', 'Also if the output Failed is connected'],
		],
	}),
});

/** The options of Wait for Video. */
export const waitForVideoOptions: INodeProperties = optionsProperty([
	pollOptions.maximumWait.property,
	{ ...onFailed.property, noDataExpression: true },
	...[fileOptions.fileName, fileOptions.downloadThumbnail, fileOptions.thumbnailProperty].map(
		({ property }) => notInTools(property),
	),
	...propertiesOf(ledgerTaskOptions).map((property) =>
		notInTools(shownFor(property, { '/tasks': 'ledger' })),
	),
	notInTools(fileGroup.property),
	pollOptions.concurrency.property,
	ledgerOptions.taskLedger.property,
]);

/** Whether a failed video fails the node instead of leaving through the output Failed. */
export function readFailsNode(context: IExecuteFunctions): boolean {
	const choice = onFailed.read(context, 0);
	if (choice !== 'auto') return choice === 'fail';
	return !isToolRun(context) && !isFailedConnected(context);
}

const [taskId, taskIdInTools] = filledByModel(
	textField('Task ID', 'taskId', {
		required: true,
		default: '={{ $json.task_id }}',
		placeholder: 'e.g. task-0001',
		description: 'The task to wait for, as returned by Create Video',
	}),
	{ key: 'task_id', help: 'The task_id that was returned when the video was created' },
);

const [, waitInTools] = filledByModel(
	booleanField(
		'Wait Until Finished',
		'waitUntilFinished',
		'Whether to wait for the video. If not, its status is returned.',
	),
	{
		key: 'wait',
		help: 'true waits for the video, for up to 10 minutes; false returns its status now',
		type: 'boolean',
		fallback: 'true',
	},
);

const inNode = (field: INodeProperties, values: Readonly<Record<string, string>>) =>
	notInTools(shownFor(field, values));

/** The form of Wait for Video. */
export const waitProperties: INodeProperties[] = [
	notInTools(
		listField('Tasks', 'tasks', {
			noDataExpression: true,
			choices: [
				['From Input', 'input', 'Wait for the task of each input item'],
				['From the Task Ledger', 'ledger', 'Collect what no execution has finished'],
			],
			default: 'input',
			description:
				'Which tasks to wait for. From the task ledger, the node runs once for all its items.',
		}),
	),
	inNode(taskId!, { tasks: 'input' }),
	taskIdInTools!,
	inNode(
		listField('Which Tasks', 'ledgerTasks', {
			noDataExpression: true,
			choices: [
				['All Open', 'all'],
				['By Idempotency Key', 'key'],
				['By Workflow', 'workflow'],
			],
			default: 'all',
			description: 'Which of the open tasks to collect',
		}),
		{ tasks: 'ledger' },
	),
	inNode(
		textField('Idempotency Key', 'idempotencyKey', {
			required: true,
			placeholder: 'e.g. order-1001',
			description: 'The key with which Create Video created the tasks',
		}),
		{ tasks: 'ledger', ledgerTasks: 'key' },
	),
	inNode(
		textField('Workflow ID', 'workflowId', {
			required: true,
			default: '={{ $workflow.id }}',
			description:
				'The workflow that created the tasks: the last part of its address in the editor. By default this workflow.',
		}),
		{ tasks: 'ledger', ledgerTasks: 'workflow' },
	),
	notInTools(
		listField('Wait Mode', 'waitMode', {
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
			description:
				'How to wait for videos that are still generating. In a streaming chat and with "Execute step", a node that is to suspend polls in place.',
		}),
	),
	waitInTools!,
	...downloadFields,
	waitForVideoOptions,
];
