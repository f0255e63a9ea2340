import type { IExecuteFunctions } from 'n8n-workflow';

import { userMessage } from '../client/chat/messages';
import { extraFields } from '../client/chat/readFields';
import type { ChatRequest } from '../client/chat/types';
import { emptyText, InputError } from '../client/errors';
import { readImages } from '../shared/chat/messages';
import type { Service } from '../shared/run/host';
import { readText } from '../shared/run/parameters';

/**
 * The app code of the assistant that an item calls.
 *
 * @throws InputError when the field is empty.
 */
export function readAppCode(context: IExecuteFunctions, item: number): string {
	const appCode = readText(context, 'appCode', item).trim();
	if (appCode !== '') return appCode;
	throw new InputError('App Code', 'is empty', 'Enter the code of a super assistant');
}

/**
 * The request that the fields of an item make (spec 2.7).
 *
 * @throws InputError that names the field with an invalid value.
 */
export function readRequest(
	context: IExecuteFunctions,
	item: number,
	service: Service,
	{ appCode, sessionId }: { readonly appCode: string; readonly sessionId: string | undefined },
): ChatRequest {
	return {
		app_code: appCode,
		messages: [readMessage(context, item, service)],
		...(sessionId === undefined ? {} : { session_id: sessionId }),
		...extraFields(context.getNodeParameter('options.extraBody', item, '{}')),
	};
}

/**
 * Identifies a call by what was entered, not by what is sent: the signed URLs of binary files differ on every run.
 */
export function readCallKey(context: IExecuteFunctions, item: number): string {
	const names = ['appCode', 'message', 'session', 'sessionId', 'sessionKey'];
	return JSON.stringify([
		...names.map((name) => readText(context, name, item)),
		context.getNodeParameter('images.image', item, []),
	]);
}

function readMessage(context: IExecuteFunctions, item: number, service: Service) {
	const text = readText(context, 'message', item);
	if (text.trim() === '') throw emptyText('Message');
	return userMessage(text, readImages(context, item, service));
}
