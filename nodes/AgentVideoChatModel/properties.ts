import type { INodeProperties } from 'n8n-workflow';

import { callProperties } from '../shared/chat/callOptions';
import { appModelProperty, bindingProperties, imagesProperty } from '../shared/chat/properties';
import { assistantRequestProperties, responseFormatOption } from '../shared/chat/requestOptions';
import { optionsProperty } from '../shared/form/options';
import { retryGroup } from '../shared/form/callOptions';

/** The form of Agent Video Chat Model, without what the connected agent or chain sets. */
export const chatModelProperties: INodeProperties[] = [
	...bindingProperties,
	{
		displayName:
			'Do not enter the code of a super assistant, which runs its tools itself: use the Super Assistant node for it.',
		name: 'assistantNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { answeredBy: ['app'] } },
	},
	{
		...imagesProperty,
		description:
			'Images to add to the last user message: n8n does not pass images to this model. Binary fields are read from the item of the agent or chain.',
	},
	optionsProperty([
		appModelProperty,
		...assistantRequestProperties,
		responseFormatOption,
		retryGroup.property,
		...callProperties.filter(({ name }) => name !== 'streamReasoning'),
	]),
];
