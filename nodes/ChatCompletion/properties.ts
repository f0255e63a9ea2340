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
import { callFields, maximumRequestsField, requestFields } from '../shared/chat/requestOptions';
import { formatFields, repairAttemptsField } from '../shared/chat/responseFormat';
import { batchingField, chatRetryField } from '../shared/form/callOptions';
import { choice, form, options } from '../shared/form/form';

/** The form of Chat Completion. */
export const chatForm = form({
	...bindingFields,
	emptyReply: choice<'error' | 'output'>('If Reply Is Empty', {
		choices: [
			['Error', 'error', 'The item fails'],
			['Output', 'output', 'The output is empty: the application answers nothing on purpose'],
		],
		default: 'error',
		help: 'What happens if the reply has no text, no file and no tool call',
		displayOptions: { show: { answeredBy: ['app'] } },
	}),
	...inputFields,
	...memoryFields,
	...formatFields,
	images: promptImagesField,
	streaming: streamingField('auto', 'reasoning', 'collect', 'off'),
	output: outputField,
	maximumRequests: maximumRequestsField,
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
