import type { INodeProperties } from 'n8n-workflow';

import { bindingProperties, imagesProperty } from '../shared/chat/properties';
import { chatModelOptions } from './options';

/** The form of Agent Video Chat Model. */
export const chatModelProperties: INodeProperties[] = [
	...bindingProperties,
	{
		displayName:
			'Do not enter the code of a super assistant, which runs its tools itself: use the Super Assistant node for it.',
		name: 'assistantNotice',
		type: 'notice',
		default: '',
	},
	{
		...imagesProperty,
		description:
			'Images to add to the last user message: n8n does not pass images to this model. Binary fields are read from the item of the agent or chain.',
	},
	chatModelOptions,
];
