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
			'Images for the last message of the user, because n8n passes none on. Binary data is that of the agent or chain.',
	},
	chatModelOptions,
];
