import type { INodeProperties } from 'n8n-workflow';

import { filledByModel } from '../shared/form/fromAi';
import { resourceLocator } from '../shared/form/resourceLocator';
import { VIDEO_MODEL_ITEMS, videoProperties, videoToolProperties } from './modelProperties';
import { createVideoOptions } from './options';
import { videoReferences } from './references';

/** The form of Create Video. */
export const createVideoProperties: INodeProperties[] = [
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
			placeholder: 'e.g. A lighthouse at dawn, waves breaking slowly, filmed from a drone',
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
];
