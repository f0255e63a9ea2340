import {
	NodeConnectionTypes,
	type IBinaryKeyData,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { checkTaskId, queryTask } from '../client/video/task';
import { waitForTasks } from '../client/video/waitForTasks';
import { waitResult, type WaitResult } from '../client/video/waitResult';
import { downloadFile } from '../shared/download';
import { toNodeError } from '../shared/errors';
import { n8nClock, n8nService } from '../shared/host';
import { mapItems } from '../shared/items';
import { readText } from '../shared/parameters';
import { pollOptions, readSchedule } from '../shared/pollOptions';

/** Queries under way at once. */
const QUERIES = 10;
/** Files downloaded at once. */
const DOWNLOADS = 3;
const IDLE_TIMEOUT_MS = 30_000;

export class WaitForVideo implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Wait for Video',
		name: 'waitForVideo',
		icon: {
			light: 'file:../../icons/waitForVideo.svg',
			dark: 'file:../../icons/waitForVideo.dark.svg',
		},
		group: ['transform'],
		version: 1,
		subtitle: '={{ $parameter.download ? "wait and download" : "wait" }}',
		description: 'Wait until videos are finished, and download them',
		defaults: { name: 'Wait for Video' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main, NodeConnectionTypes.Main],
		outputNames: ['Completed', 'Failed'],
		usableAsTool: true,
		credentials: [{ name: 'agentVideoApi', required: true }],
		properties: [
			{
				displayName: 'Task ID',
				name: 'taskId',
				type: 'string',
				required: true,
				default: '={{ $json.task_id }}',
				placeholder: 'e.g. task-0001',
				description: 'The task to wait for, as Create Video gives it',
			},
			{
				displayName: 'Download Video',
				name: 'download',
				type: 'boolean',
				default: true,
				description: 'Whether to get the file as binary data, not only its URL',
			},
			{
				displayName: 'Put Output File in Field',
				name: 'binaryProperty',
				type: 'string',
				default: 'video',
				hint: 'The name of the output binary field to put the file in',
				displayOptions: { show: { download: [true] } },
			},
			{
				displayName: 'Options',
				name: 'options',
				type: 'collection',
				placeholder: 'Add option',
				default: {},
				options: pollOptions,
			},
		],
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const { taskIds, waitOf } = await waitForItems(this).catch((error: unknown) => {
			throw toNodeError(this.getNode(), error, 0);
		});
		const items = await mapItems(this, { concurrency: DOWNLOADS }, async (item) => {
			const json = waitResult(waitOf.get(checkTaskId(taskIds[item]!))!);
			const binary = await download(this, item, json);
			return { json, binary, pairedItem: { item } };
		});
		const isCompleted = ({ json }: INodeExecutionData) => json['status'] === 'completed';
		return [items.filter(isCompleted), items.filter((item) => !isCompleted(item))];
	}
}

/** Waits for the tasks of all items; a task that stands in several items is asked for once. */
async function waitForItems(context: IExecuteFunctions) {
	const taskIds = context
		.getInputData()
		.map((_item, index) => readText(context, 'taskId', index).trim());
	// An empty one stops the node before the first query, unless the others are to go on.
	if (!context.continueOnFail()) taskIds.forEach(checkTaskId);

	const { http } = await n8nService(context, 0);
	const waits = await waitForTasks(
		n8nClock(context),
		[...new Set(taskIds)].filter((taskId) => taskId !== ''),
		async (taskId) => await queryTask(http, taskId, IDLE_TIMEOUT_MS),
		{ schedule: readSchedule(context), concurrency: QUERIES },
	);
	return { taskIds, waitOf: new Map(waits.map((wait) => [wait.taskId, wait])) };
}

async function download(
	context: IExecuteFunctions,
	itemIndex: number,
	{ task_id: taskId, status, video_url: url = '' }: WaitResult,
): Promise<IBinaryKeyData> {
	if (status !== 'completed' || context.getNodeParameter('download', itemIndex) !== true)
		return {};

	const property = readText(context, 'binaryProperty', itemIndex).trim() || 'video';
	const file = await downloadFile(context, {
		url,
		fileName: `${taskId}.mp4`,
		mimeType: 'video/mp4',
		subject: { task_id: taskId, video_url: url },
	});
	return { [property]: file };
}
