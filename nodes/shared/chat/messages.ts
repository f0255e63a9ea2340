import type { IExecuteFunctions } from 'n8n-workflow';

import { readJson } from '../../client/chat/requestFields';
import { checkMessages, checkOrder, userMessage } from '../../client/chat/messages';
import type { ChatMessage } from '../../client/chat/types';
import { emptyText } from '../../client/errors';
import { asJson, type JsonValue } from '../../client/json';
import { checkPublicUrl } from '../../client/http/publicUrl';
import { shown } from '../../client/values';
import { fieldNames, signedFileUrl } from '../files/signedFileUrl';
import type { Service } from '../run/host';
import type { NodeContext } from '../run/nodeContext';
import { checkPrompt, readPromptText, readText } from '../run/parameters';

/** An image as the form has it: a URL, or names of binary fields. */
interface ImageEntry {
	readonly source?: 'url' | 'binary';
	/** One URL, or a list of URLs from an expression, which can return anything. */
	readonly url?: unknown;
	readonly binaryProperty?: unknown;
}

interface MessageEntry {
	readonly role: ChatMessage['role'];
	readonly content?: unknown;
	readonly images?: { readonly image?: readonly ImageEntry[] };
	readonly toolCallId?: string;
	readonly toolCalls?: unknown;
}

/**
 * The messages of an item's input fields (spec 2.2).
 *
 * @throws InputError that names the invalid field or entry.
 */
export function readMessages(
	context: IExecuteFunctions,
	item: number,
	service: Service,
): ChatMessage[] {
	const input = readText(context, 'input', item);
	if (input === 'prompt') return readPrompt(context, item, service);
	const isJson = input === 'json';
	const label = isJson ? 'Messages (JSON)' : 'Messages';
	const value = isJson
		? readJson(context.getNodeParameter('messagesJson', item, '[]'), label)
		: readList(context, item, service);
	const messages = checkMessages(value, label, { allowPrivate: service.isPrivate });
	checkOrder(messages, label);
	return messages;
}

/**
 * The URLs of images, by default of those in the field Images.
 *
 * @throws InputError that names an entry which the service cannot fetch.
 */
export function readImages(
	context: NodeContext,
	item: number,
	{ isPrivate: allowPrivate }: Service,
	entries = context.getNodeParameter('images.image', item, []) as readonly ImageEntry[],
): string[] {
	return entries.flatMap(({ source = 'url', url, binaryProperty = '' }, index) => {
		const checks = { field: `Images: entry ${index + 1}`, allowPrivate };
		if (source === 'url')
			return [url].flat().map((each) => checkPublicUrl(shown(each ?? ''), checks));
		return fieldNames(binaryProperty, checks.field).map((name) =>
			signedFileUrl(context, item, name, checks),
		);
	});
}

/** The messages of a prompt (spec 2.2): system message, user message with images. */
function readPrompt(context: IExecuteFunctions, item: number, service: Service): ChatMessage[] {
	const text = readPromptText(context, 'prompt', item, 'Prompt');
	const images = readImages(context, item, service);
	// The service rejects messages without content (spec 7.1).
	if (text.trim() === '' && images.length === 0) throw emptyText('Prompt');
	const instructions = readPromptText(context, 'systemMessage', item, 'System Message');
	const system: ChatMessage[] =
		instructions.trim() === '' ? [] : [{ role: 'system', content: instructions }];
	return [...system, userMessage(text, images)];
}

/** The messages of the list in the form. */
function readList(context: IExecuteFunctions, item: number, service: Service): JsonValue {
	const entries = context.getNodeParameter('messages.message', item, []) as MessageEntry[];
	return entries.map(({ role, content, images, toolCallId = '', toolCalls }, index) => {
		const urls = readImages(context, item, service, images?.image ?? []);
		const text = checkPrompt(content, `Messages: entry ${index + 1}`);
		const message = { ...userMessage(text, role === 'user' ? urls : []), role };
		if (role === 'tool') return asJson({ ...message, tool_call_id: toolCallId });

		const calls = role === 'assistant' && readJson(toolCalls ?? '[]', 'Messages: Tool Calls');
		if (calls === false || (Array.isArray(calls) && calls.length === 0)) return asJson(message);
		const said = message.content === '' ? null : message.content;
		return asJson({ ...message, content: said, tool_calls: calls });
	});
}
