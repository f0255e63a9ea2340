import { imagesField, replyFields, replyOptions } from '../shared/chat/properties';
import {
	assistantRequestFields,
	batchingFields,
	callFields,
	safeRetryFields,
} from '../shared/chat/requestOptions';
import { formatFields } from '../shared/chat/schemaForm';
import { choice, filledByModel, form, options, prompt, text } from '../shared/form/form';

/** The form of Super Assistant. It has no model and no tools: the assistant chooses them itself (spec 2.1, 2.7). */
export const assistantForm = form({
	appCode: text('App Code', {
		placeholder: 'e.g. demo-assistant',
		help: 'Code of the super assistant; empty if the API key ends with it',
	}),
	message: filledByModel(
		prompt('Message', {
			typeOptions: { rows: 4 },
			default: '={{ $json.chatInput }}',
			placeholder: 'e.g. Look up the weather in Rome and make a short video of it',
			help: 'The task for the assistant. A Chat Trigger provides it as chatInput.',
		}),
		{ key: 'message', help: 'The complete task, with all information it needs' },
	),
	session: choice('Session', {
		noDataExpression: true,
		choices: [
			['This Chat', 'chat', 'Continue the session of the Chat Trigger, or start one'],
			['New', 'new', 'Start without any memory of earlier calls'],
			['By ID', 'id', 'Continue a session whose ID you have'],
			['Remembered per Key', 'key', 'Continue the session of a key, e.g. of a customer'],
		],
		default: 'chat',
		help: 'Which session the assistant uses',
	}),
	sessionId: text('Session ID', {
		default: '={{ $json.session_id }}',
		placeholder: 'e.g. session-0001',
		help: 'The session_id of an earlier call',
		displayOptions: { show: { session: ['id'] } },
	}),
	sessionKey: text('Key', {
		default: '={{ $json.sessionId }}',
		placeholder: 'e.g. customer-42',
		help: 'Identifies the session in all workflows of the project. The sessionId of a chat is no such key: its visitor chooses it, so it is kept for chats of this workflow.',
		hint: 'Sessions are stored in the data table agent_video_sessions of the project',
		displayOptions: { show: { session: ['key'] } },
	}),
	...formatFields,
	images: imagesField,
	...replyFields,
	options: options({
		...replyOptions,
		...assistantRequestFields,
		...batchingFields,
		...safeRetryFields,
		...callFields,
	}),
});
