import {
	NodeConnectionTypes,
	type IDataObject,
	type IExecuteFunctions,
	type ILoadOptionsFunctions,
	type INodeExecutionData,
	type INodeListSearchResult,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { createVideo } from '../client/video/create';
import { videoRequest } from '../client/video/request';
import { VIDEO_FIELDS } from '../client/video/fields';
import { n8nService } from '../shared/host';
import { mapItems } from '../shared/items';
import { listOrText, searchItems } from '../shared/listOrText';
import { readModel, readText } from '../shared/parameters';
import { VIDEO_MODEL_ITEMS, videoProperties } from '../shared/videoProperties';

/** Calls under way at once. */
const CONCURRENCY = 3;
/** The service answers at once with a task; a minute of silence means that something is broken. */
const IDLE_TIMEOUT_MS = 60_000;

export class CreateVideo implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Create Video',
		name: 'createVideo',
		icon: {
			light: 'file:../../icons/createVideo.svg',
			dark: 'file:../../icons/createVideo.dark.svg',
		},
		group: ['transform'],
		version: 1,
		subtitle: '={{ $parameter.model }}',
		description: 'Start the generation of a video; Wait for Video gets the result',
		defaults: { name: 'Create Video' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		credentials: [{ name: 'agentVideoApi', required: true }],
		properties: [
			listOrText(
				{
					displayName: 'Model',
					name: 'model',
					default: {
						mode: 'list',
						value: VIDEO_MODEL_ITEMS[0]!.value,
						cachedResultName: VIDEO_MODEL_ITEMS[0]!.name,
					},
					required: true,
					description: 'The model that makes the video',
				},
				{
					searchListMethod: 'searchVideoModels',
					textLabel: 'By Code',
					placeholder: 'e.g. video-m1',
				},
			),
			{
				displayName: 'Prompt',
				name: 'prompt',
				type: 'string',
				typeOptions: { rows: 4 },
				required: true,
				default: '',
				placeholder:
					'e.g. A lighthouse at dawn, waves breaking slowly, filmed from a drone',
				description: 'What the video shows',
			},
			...videoProperties,
		],
	};

	methods = {
		listSearch: {
			searchVideoModels(
				this: ILoadOptionsFunctions,
				filter?: string,
			): Promise<INodeListSearchResult> {
				return searchItems(VIDEO_MODEL_ITEMS, filter);
			},
		},
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const items = await mapItems(
			this,
			{ concurrency: CONCURRENCY, describeDone },
			async (item) => {
				const request = videoRequest(
					readModel(this, item),
					readText(this, 'prompt', item),
					Object.fromEntries(
						VIDEO_FIELDS.map(({ key }) => [key, readText(this, key, item)]),
					),
				);
				const { http } = await n8nService(this, item);
				const task = await createVideo(http, request, IDLE_TIMEOUT_MS);
				return { json: { ...task }, pairedItem: { item } };
			},
		);
		return [items];
	}
}

function describeDone(tasks: readonly IDataObject[]): string {
	if (tasks.length === 0) return '';
	const ids = tasks.map(({ task_id: taskId }) => String(taskId)).join(', ');
	return `Tasks that were created before this and go on: ${ids}`;
}
