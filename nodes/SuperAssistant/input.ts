import type { IExecuteFunctions } from 'n8n-workflow';

import { userMessage } from '../client/chat/messages';
import type { ChatRequest } from '../client/chat/types';
import { emptyText } from '../client/errors';
import { chatSession } from '../shared/chat/memory';
import { readImages } from '../shared/chat/messages';
import { appField, readChatFields } from '../shared/chat/requestOptions';
import { safeRetryGroup } from '../shared/form/callOptions';
import type { PlannedCall } from '../shared/ledger/callKind';
import type { Service } from '../shared/run/host';
import { readPromptText, readText } from '../shared/run/parameters';

/** The texts that an item's call consists of. */
export interface AssistantFields {
	readonly appCode: string;
	readonly message: string;
	/** `new`, `id` or `key`; a chat is one of them. */
	readonly session: string;
	/** ID or key of the session; empty for a new one. */
	readonly sessionValue: string;
}

/**
 * An item's call before it is sent: its fields, and the columns that a person wants to see.
 *
 * @throws The error of an expression, and InputError for a message that says nothing.
 */
export function planCall(
	context: IExecuteFunctions,
	item: number,
): PlannedCall & { readonly fields: AssistantFields } {
	const text = (name: string) => readText(context, name, item);
	const chosen = text('session').trim();
	const chat = chosen === 'chat' ? chatSession(context, item) : '';
	// This Chat without a chat is a new session.
	const session = chosen !== 'chat' ? chosen : chat === '' ? 'new' : 'key';
	const valueField = session === 'id' ? 'sessionId' : 'sessionKey';
	const sessionValue = session === 'new' ? '' : chat || text(valueField).trim();
	const images = context.getNodeParameter('images.image', item, []);
	const app = text('appCode');
	const message = readPromptText(context, 'message', item, 'Message');
	const appCode = app.trim();
	return {
		fields: { appCode, message, session, sessionValue },
		item,
		key: '',
		// Not what is sent: the signed URLs of binary files differ on every run.
		entered: JSON.stringify([app, message, session, sessionValue, images]),
		retryOutcomeUnknown: safeRetryGroup.options.retryOutcomeUnknown.read(context, item),
		row: {
			app_code: appCode,
			session_key: session === 'key' ? sessionValue : '',
			session_id: session === 'id' ? sessionValue : '',
			message: message.trim(),
		},
	};
}

/**
 * The request that the fields of an item make, without a session (spec 2.7).
 *
 * @throws InputError that names the field with an invalid value.
 */
export function readRequest(
	context: IExecuteFunctions,
	item: number,
	{ appCode, message }: AssistantFields,
	service: Service,
): ChatRequest {
	const app = appField(appCode, service);
	const images = readImages(context, item, service);
	if (message.trim() === '' && images.length === 0) throw emptyText('Message');
	return {
		...app,
		messages: [userMessage(message, images)],
		...readChatFields(context, item),
	};
}
