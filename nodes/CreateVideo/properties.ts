import type { INodeProperties } from 'n8n-workflow';

import { textField } from '../shared/form/fields';
import { filledByModel } from '../shared/form/fromAi';
import { resourceLocator } from '../shared/form/resourceLocator';
import {
	videoModelItems,
	videoProperties,
	videoReferences,
	videoToolProperties,
} from './modelProperties';
import { createVideoOptions } from './options';
import { waitFields } from './wait';

const first = videoModelItems()[0]!;

/** The form of Create Video. */
export const createVideoProperties: INodeProperties[] = [
	resourceLocator(
		{
			displayName: 'Model',
			name: 'model',
			default: { mode: 'list', value: first.value, cachedResultName: first.name },
			required: true,
			description: 'The model that generates the video. The credential can list your own.',
		},
		{
			searchListMethod: 'searchVideoModels',
			placeholder: 'e.g. video-m1, or video-m1=my-model for a model that behaves like it',
		},
	),
	...filledByModel(
		textField('Prompt', 'prompt', {
			typeOptions: { rows: 4 },
			required: true,
			placeholder: 'e.g. A lighthouse at dawn, waves breaking slowly, filmed from a drone',
			description: 'What the video shows, and how it is filmed',
		}),
		{
			key: 'prompt',
			help: 'What the video shows and how it is filmed: subject, movement, camera, light and mood, in a sentence or two',
		},
	),
	...videoReferences,
	...videoProperties,
	...videoToolProperties,
	...waitFields,
	createVideoOptions,
];
