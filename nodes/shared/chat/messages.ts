import type { IExecuteFunctions } from 'n8n-workflow';

import { readJson } from '../../client/chat/readFields';
import { checkMessages, checkOrder, promptMessages, userMessage } from '../../client/chat/messages';
import type { ChatMessage } from '../../client/chat/types';
import { asJson, type JsonValue } from '../../client/json';
import { checkPublicUrl } from '../../client/http/publicUrl';
import { fieldNames, signedFileUrl, type FieldNames } from '../files/signedFileUrl';
import type { Service } from '../run/host';
import type { NodeContext } from '../run/nodeContext';
import { readText } from '../run/parameters';

/** An image as the form has it: a URL, or names of binary fields. */
interface ImageEntry {
	readonly source?: 'url' | 'binary';
	/** One URL, or a list of URLs from an expression. */
	readonly url?: string | readonly string[];
	readonly binaryProperty?: FieldNames;
}

interface MessageEntry {
	readonly role: ChatMessage['role'];
	readonly content?: string | null;
	readonly images?: { readonly image?: readonly ImageEntry[] };
	readonly toolCallId?: string;
	readonly toolCalls?: unknown;
}

/** Reads the messages of each kind of input. */
const READERS: Readonly<
	Record<string, (context: IExecuteFunctions, item: number, service: Service) => ChatMessage[]>
> = { prompt: readPrompt, messages: readList, json: readJsonMessages };

/**
 * The messages of an item's input fields (spec 2.2).
 *
 * @throws InputError that names the invalid field or entry.
 */
export function readMessages(
	context: IExecuteFunctions,
	itemIndex: number,
	service: Service,
): ChatMessage[] {
	return READERS[readText(context, 'input', itemIndex)]!(context, itemIndex, service);
}

/**
 * The URLs of the images in the field Images.
 *
 * @throws InputError that names an entry which the service cannot fetch.
 */
export function readImages(context: NodeContext, item: number, service: Service): string[] {
	const entries = context.getNodeParameter('images.image', item, []) as ImageEntry[];
	return imageUrls(context, item, service, entries);
}

function readPrompt(context: IExecuteFunctions, item: number, service: Service): ChatMessage[] {
	const label = 'Earlier Messages';
	const earlier = context.getNodeParameter('options.earlierMessages', item, '[]') as JsonValue;
	const text = readText(context, 'prompt', item);
	const before = checkMessages(readJson(earlier, label), label, {
		allowPrivate: service.isPrivate,
	});
	checkOrder([...before, userMessage(text)], label);
	return promptMessages({
		text,
		systemMessage: readText(context, 'systemMessage', item),
		earlier: before,
		imageUrls: readImages(context, item, service),
	});
}

function readList(context: IExecuteFunctions, item: number, service: Service): ChatMessage[] {
	const label = 'Messages';
	const entries = context.getNodeParameter('messages.message', item, []) as MessageEntry[];
	const messages = entries.map(({ role, content, images, toolCallId = '', toolCalls }) => {
		const urls = imageUrls(context, item, service, images?.image ?? []);
		const message = { ...userMessage(content ?? '', role === 'user' ? urls : []), role };
		if (role === 'tool') return { ...message, tool_call_id: toolCallId };

		const calls =
			role === 'assistant' ? readJson(toolCalls ?? '[]', `${label}: Tool Calls`) : [];
		if (!Array.isArray(calls) || calls.length === 0) return message;
		return {
			...message,
			content: message.content === '' ? null : message.content,
			tool_calls: calls,
		};
	});
	return checked(messages.map(asJson), label, service);
}

function readJsonMessages(
	context: IExecuteFunctions,
	item: number,
	service: Service,
): ChatMessage[] {
	const label = 'Messages (JSON)';
	const value = readJson(context.getNodeParameter('messagesJson', item, '[]'), label);
	return checked(value, label, service);
}

function checked(value: JsonValue, label: string, { isPrivate }: Service): ChatMessage[] {
	const messages = checkMessages(value, label, { allowPrivate: isPrivate });
	checkOrder(messages, label);
	return messages;
}

function imageUrls(
	context: NodeContext,
	itemIndex: number,
	{ isPrivate: allowPrivate }: Service,
	entries: readonly ImageEntry[],
): string[] {
	return entries.flatMap(({ source = 'url', url = '', binaryProperty = '' }, index) => {
		const field = `Images: entry ${index + 1}`;
		if (source === 'url')
			return [url].flat().map((each) => checkPublicUrl(each, { field, allowPrivate }));
		return fieldNames(binaryProperty).map((name) =>
			signedFileUrl(context, itemIndex, name, { field, allowPrivate }),
		);
	});
}
