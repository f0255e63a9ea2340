import type { INodeProperties } from 'n8n-workflow';

import { booleanField, listField, textField } from '../shared/form/fields';
import { filledByModel, notInTools, shownFor } from '../shared/form/fromAi';
import { downloadFields } from '../shared/wait/options';
import { waitForVideoOptions } from './options';

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
