import type { INodeProperties } from 'n8n-workflow';

import {
	bindingProperties,
	inputProperties,
	simplifyProperty,
	streamingProperty,
} from '../shared/chat/properties';
import { chatCompletionOptions } from './options';

/** The form of Chat Completion. */
export const chatCompletionProperties: INodeProperties[] = [
	...bindingProperties,
	...inputProperties,
	streamingProperty,
	simplifyProperty,
	chatCompletionOptions,
];
