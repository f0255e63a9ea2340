import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type ILoadOptionsFunctions,
	type INodeExecutionData,
	type INodeListSearchResult,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { searchItems } from '../shared/form/resourceLocator';
import { createVideos } from './execute';
import { VIDEO_MODEL_ITEMS } from './modelProperties';
import { createVideoProperties } from './properties';

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
		properties: createVideoProperties,
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
