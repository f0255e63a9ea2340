import type { INodeProperties } from 'n8n-workflow';

import { callProperties, earlierMessagesProperty } from '../shared/chat/callOptions';
import { mediaProperties } from '../shared/chat/mediaOptions';
import { requestProperties } from '../shared/chat/requestOptions';
import { batchProperties } from '../shared/form/batchOptions';
import { optionsProperty } from '../shared/form/options';
import { retryOutcomeUnknownOption } from '../shared/form/retryOptions';

/** The options of Chat Completion. */
export const chatCompletionOptions: INodeProperties = optionsProperty([
	...requestProperties,
	...callProperties,
	...mediaProperties,
	...batchProperties,
	earlierMessagesProperty,
	retryOutcomeUnknownOption.property,
]);
