import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type ILoadOptionsFunctions,
	type INodeExecutionData,
	type INodeListSearchResult,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { resourceLocator, searchItems } from '../shared/form/resourceLocator';
import { filledByModel } from '../shared/form/fromAi';
import { createVideos } from './execute';
import { createVideoOptions } from './options';
import { VIDEO_MODEL_ITEMS, videoProperties, videoToolProperties } from './modelProperties';
import { videoReferences } from './references';

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
		subtitle:
			'={{ ($parameter.options?.dryRun ? "dry run: " : "") + ($parameter.references?.file?.length ? "files" : "text") + " to video with " + ($parameter.model || "no model") }}',
		description:
			'Start the generation of a video. Returns the task_id that Wait for Video needs.',
		defaults: { name: 'Create Video' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		credentials: [{ name: 'agentVideoApi', required: true }],
		properties: [
			resourceLocator(
				{
					displayName: 'Model',
					name: 'model',
					default: {
						mode: 'list',
						value: VIDEO_MODEL_ITEMS[0]!.value,
						cachedResultName: VIDEO_MODEL_ITEMS[0]!.name,
					},
					required: true,
					description: 'The model that generates the video',
				},
				{
					searchListMethod: 'searchVideoModels',
					placeholder: 'e.g. video-m1',
				},
			),
			...filledByModel(
				{
					displayName: 'Prompt',
					name: 'prompt',
					type: 'string',
					typeOptions: { rows: 4 },
					required: true,
					default: '',
					placeholder:
						'e.g. A lighthouse at dawn, waves breaking slowly, filmed from a drone',
					description: 'What the video shows, and how it is filmed',
				},
				{
					key: 'prompt',
					help: 'What the video shows and how it is filmed: subject, movement, camera, light and mood, in a sentence or two',
				},
			),
			...videoReferences,
			...videoProperties,
			...videoToolProperties,
			createVideoOptions,
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
		return [await createVideos(this)];
	}
}
