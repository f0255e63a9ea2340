import {
	bindingFields,
	downloadMediaField,
	inputFields,
	maximumFileSizeField,
	memoryFields,
	memoryMessagesField,
	outputField,
	promptImagesField,
	streamingField,
} from '../shared/chat/properties';
import { callFields, requestFields } from '../shared/chat/requestOptions';
import { formatFields, repairAttemptsField } from '../shared/chat/responseFormat';
import { batchingField, chatRetryField } from '../shared/form/callOptions';
import { form, options } from '../shared/form/form';

/** The form of Chat Completion. */
export const chatForm = form({
	...bindingFields,
	...inputFields,
	...memoryFields,
	...formatFields,
	images: promptImagesField,
	streaming: streamingField('auto', 'reasoning', 'collect', 'off'),
	output: outputField,
	options: options({
		repairAttempts: repairAttemptsField,
		...requestFields,
		downloadMedia: downloadMediaField,
		maximumFileSize: maximumFileSizeField,
		memoryMessages: memoryMessagesField,
		batching: batchingField,
		retries: chatRetryField,
		...callFields,
	}),
});
