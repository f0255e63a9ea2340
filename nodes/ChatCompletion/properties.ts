import type { INodeProperties } from 'n8n-workflow';

import { callProperties } from '../shared/chat/callOptions';
import { outputProperty } from '../shared/chat/finishReply';
import { mediaProperties } from '../shared/chat/replyMedia';
import { memoryLimitsProperty, memoryProperties } from '../shared/chat/memory';
import {
	appModelProperty,
	bindingProperties,
	inputProperties,
	promptImagesProperty,
	streamingProperty,
} from '../shared/chat/properties';
import { requestProperties } from '../shared/chat/requestOptions';
import { repairAttemptsProperty, responseFormatProperties } from '../shared/chat/responseFormat';
import { batching, chatRetryGroup } from '../shared/form/callOptions';
import { optionsProperty } from '../shared/form/options';

/** The form of Chat Completion. */
export const chatCompletionProperties: INodeProperties[] = [
	...bindingProperties,
	...inputProperties,
	...memoryProperties,
	...responseFormatProperties,
	promptImagesProperty,
	streamingProperty,
	outputProperty,
	optionsProperty([
		appModelProperty,
		repairAttemptsProperty,
		...requestProperties,
		...mediaProperties,
		memoryLimitsProperty,
		batching.property,
		chatRetryGroup.property,
		...callProperties,
	]),
];
