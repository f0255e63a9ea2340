import type { INodeProperties } from 'n8n-workflow';

import { filledByModel, notInTools } from '../shared/form/fromAi';
import { waitForVideoOptions } from './options';

/** The form of Wait for Video. */
export const waitProperties: INodeProperties[] = [
	...filledByModel(
		{
			displayName: 'Task ID',
			name: 'taskId',
			type: 'string',
			required: true,
			default: '={{ $json.task_id }}',
			placeholder: 'e.g. task-0001',
			description: 'The task to wait for, as returned by Create Video',
		},
		{ key: 'task_id', help: 'The task_id that was returned when the video was created' },
	),
	notInTools({
		displayName: 'Wait Mode',
		name: 'waitMode',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Poll in Place',
				value: 'inPlace',
				description:
					'Poll every few seconds. The execution stays in memory: a restart of n8n ends it.',
			},
			{
				name: 'Suspend Between Polls',
				value: 'suspend',
				description:
					'Poll about once a minute. Meanwhile the execution is saved: it survives a restart and does not occupy a worker.',
			},
		],
		default: 'inPlace',
		description: 'How to wait for videos that are still generating',
	}),
	notInTools({
		displayName:
			'Connect the output "Still Generating" to the input of this node. Each step takes about 60 seconds. In a streaming chat, as a tool of an agent and with "Execute step" the node polls in place.',
		name: 'suspendNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { waitMode: ['suspend'] } },
	}),
	notInTools({
		displayName: 'Download Video',
		name: 'download',
		type: 'boolean',
		default: true,
		description: 'Whether to download the file as binary data',
	}),
	notInTools({
		displayName: 'Put Output File in Field',
		name: 'binaryProperty',
		type: 'string',
		default: 'video',
		hint: 'The name of the output binary field to put the file in',
		displayOptions: { show: { download: [true] } },
	}),
	waitForVideoOptions,
];
