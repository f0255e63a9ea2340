import type { INodeProperties } from 'n8n-workflow';

import { callOptions, earlierMessagesOption } from '../shared/chat/callOptions';
import { mediaOptions } from '../shared/chat/mediaOptions';
import {
	bindingProperties,
	inputProperties,
	simplifyProperty,
	streamingProperty,
} from '../shared/chat/properties';
import { chatOptions } from '../shared/chat/requestOptions';
import { batchOptions } from '../shared/form/batchOptions';
import { retryOutcomeUnknownOption } from '../shared/form/retryOptions';
import { sortByName } from '../shared/form/sortByName';

/** The form of Chat Completion. */
export const chatCompletionProperties: INodeProperties[] = [
	...bindingProperties,
	...inputProperties,
	streamingProperty,
	simplifyProperty,
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: sortByName([
			...chatOptions,
			...callOptions,
			...mediaOptions,
			...batchOptions,
			earlierMessagesOption,
			retryOutcomeUnknownOption,
		]),
	},
];
