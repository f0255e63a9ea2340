import {
	bindingFields,
	inputFields,
	memoryFields,
	memoryMessagesField,
	promptImagesField,
	replyFields,
	replyOptions,
} from '../shared/chat/properties';
import {
	batchingFields,
	callFields,
	chatRetryFields,
	requestFields,
} from '../shared/chat/requestOptions';
import { formatFields } from '../shared/chat/schemaForm';
import { choice, form, options } from '../shared/form/form';

/** The form of Chat Completion. */
export const chatForm = form({
	...bindingFields,
	...inputFields,
	...memoryFields,
	...formatFields,
	images: promptImagesField,
	...replyFields,
	options: options({
		emptyReply: choice('If Reply Is Empty', {
			choices: [
				['Error', 'error', 'The item fails'],
				[
					'Output',
					'output',
					'The output is empty: the application answers nothing on purpose',
				],
			],
			default: 'error',
			help: 'What happens if the reply has no text, no file and no tool call',
			displayOptions: { show: { '/answeredBy': ['app'] } },
		}),
		...replyOptions,
		...requestFields,
		memoryMessages: memoryMessagesField,
		...batchingFields,
		...chatRetryFields,
		...callFields,
	}),
});
