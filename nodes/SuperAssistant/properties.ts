import type { INodeProperties } from 'n8n-workflow';

import { callProperties, showOptions } from '../shared/chat/callOptions';
import { outputProperty } from '../shared/chat/finishReply';
import { mediaProperties } from '../shared/chat/replyMedia';
import { imagesProperty, streamingProperty } from '../shared/chat/properties';
import { assistantRequestProperties } from '../shared/chat/requestOptions';
import { repairAttemptsProperty, responseFormatProperties } from '../shared/chat/responseFormat';
import { batching, safeRetryGroup } from '../shared/form/callOptions';
import { filledByModel, listField, textField } from '../shared/form/fields';
import { optionsProperty } from '../shared/form/options';
import { ledgerOptions } from '../shared/ledger/ledgerOption';

const sessionProperties: INodeProperties[] = [
	listField('Session', 'session', {
		noDataExpression: true,
		choices: [
			['This Chat', 'chat', 'Continue the session of the Chat Trigger, or start one'],
			['New', 'new', 'Start without any memory of earlier calls'],
			['By ID', 'id', 'Continue a session whose ID you have'],
			['Remembered per Key', 'key', 'Continue the session of a key, e.g. of a customer'],
		],
		default: 'chat',
		description: 'Which session the assistant uses',
	}),
	textField('Session ID', 'sessionId', {
		default: '={{ $json.session_id }}',
		placeholder: 'e.g. session-0001',
		description: 'The session_id of an earlier call',
		displayOptions: { show: { session: ['id'] } },
	}),
	textField('Key', 'sessionKey', {
		default: '={{ $json.sessionId }}',
		placeholder: 'e.g. customer-42',
		description:
			'Identifies the session. A Chat Trigger provides the key of its chat as sessionId.',
		hint: 'Sessions are stored in the data table agent_video_sessions of the project',
		displayOptions: { show: { session: ['key'] } },
	}),
];

/** The form of Super Assistant. It has no model and no tools: the assistant chooses them itself (spec 2.1, 2.7). */
export const assistantProperties: INodeProperties[] = [
	textField('App Code', 'appCode', {
		placeholder: 'e.g. demo-assistant',
		description: 'Code of the super assistant; empty if the API key ends with it',
	}),
	...filledByModel(
		textField('Message', 'message', {
			typeOptions: { rows: 4 },
			default: '={{ $json.chatInput }}',
			placeholder: 'e.g. Look up the weather in Rome and make a short video of it',
			description: 'The task for the assistant. A Chat Trigger provides it as chatInput.',
		}),
		{
			key: 'message',
			help: 'The complete task, with all information it needs',
		},
	),
	...sessionProperties,
	...responseFormatProperties,
	imagesProperty,
	streamingProperty,
	outputProperty,
	optionsProperty([
		repairAttemptsProperty,
		...mediaProperties,
		showOptions.showInChat.property,
		...assistantRequestProperties,
		batching.property,
		safeRetryGroup.property,
		...callProperties,
		ledgerOptions.callLedger.property,
	]),
];
