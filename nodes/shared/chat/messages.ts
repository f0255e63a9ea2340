import { readJson } from '../../client/chat/requestFields';
import { checkMessages, checkOrder, userMessage } from '../../client/chat/messages';
import type { ChatMessage } from '../../client/chat/types';
import { emptyText } from '../../client/errors';
import { asJson, type JsonValue } from '../../client/json';
import { checkPublicUrl } from '../../client/http/publicUrl';
import { shown } from '../../client/values';
import { type FileEntry, fieldNames, signedFileUrl } from '../files/fileSource';
import type { ValuesOf } from '../form/form';
import { checkPrompt } from '../run/parameters';
import type { Run } from '../run/run';
import { imagesField, type inputFields, type MessageEntry } from './properties';
import { appField, boundFields } from './requestOptions';
import { toJsonFormat } from './schemaForm';

interface InputValues extends ValuesOf<typeof inputFields> {
	readonly images: readonly FileEntry[];
}

type QuestionValues = InputValues &
	Parameters<typeof boundFields>[0] &
	Parameters<typeof toJsonFormat>[0] & {
		readonly options: { retries: { fallbacks: readonly string[] } };
	};

/**
 * What an item asks, and of whom.
 *
 * @throws InputError that names the invalid field.
 */
export function readQuestion(run: Run, item: number, values: QuestionValues) {
	const service = run.service();
	const isApp = values.answeredBy === 'app';
	return {
		asked: readMessages(run, item, values),
		/** The request without its messages. */
		request: boundFields(values, service),
		/** What it is sent to in turn if it is rejected. */
		fallbacks: values.options.retries.fallbacks.map((code) =>
			isApp ? appField(code, service) : { model: code },
		),
		/** The format of the answer; undefined for a text. */
		format: toJsonFormat(values),
	};
}

/** The messages of an item's input fields (spec 2.2). */
function readMessages(run: Run, item: number, values: InputValues): ChatMessage[] {
	const { input, messagesJson } = values;
	const urlsOf = (entries: readonly FileEntry[]) => imageUrls(run, item, entries);
	if (input === 'prompt') return toPrompt(values, urlsOf(values.images));
	const isJson = input === 'json';
	const label = isJson ? 'Messages (JSON)' : 'Messages';
	const value = isJson
		? readJson(messagesJson, label)
		: values.messages.map((entry, index) => toMessage(entry, index, urlsOf));
	const messages = checkMessages(value, label, { allowPrivate: run.service().isPrivate });
	checkOrder(messages, label);
	return messages;
}

/**
 * The URLs of images.
 *
 * @throws InputError that names an entry which the service cannot fetch.
 */
export function imageUrls(run: Run, item: number, entries: readonly FileEntry[]): string[] {
	const { isPrivate: allowPrivate } = run.service();
	return entries.flatMap(({ source = 'url', url, binaryProperty = '' }, index) => {
		const checks = { field: `Images: entry ${index + 1}`, allowPrivate };
		if (source === 'url')
			return [url].flat().map((each) => checkPublicUrl(shown(each ?? ''), checks));
		return fieldNames(binaryProperty, checks.field).map((name) =>
			signedFileUrl(run, item, name, checks),
		);
	});
}

/** The messages of a prompt (spec 2.2): system message, user message with images. */
function toPrompt(
	{ prompt: text, systemMessage: instructions }: InputValues,
	images: readonly string[],
): ChatMessage[] {
	// The service rejects messages without content (spec 7.1).
	if (text.trim() === '' && images.length === 0) throw emptyText('Prompt');
	const system: ChatMessage[] =
		instructions.trim() === '' ? [] : [{ role: 'system', content: instructions }];
	return [...system, userMessage(text, images)];
}

/** A message of the list in the form. */
function toMessage(
	{ role, content, images, toolCallId = '', toolCalls }: MessageEntry,
	index: number,
	urlsOf: (entries: readonly FileEntry[]) => readonly string[],
): JsonValue {
	const urls = urlsOf(imagesField.parse(images));
	const text = checkPrompt(content, `Messages: entry ${index + 1}`);
	const message = { ...userMessage(text, role === 'user' ? urls : []), role };
	if (role === 'tool') return asJson({ ...message, tool_call_id: toolCallId });

	const calls = role === 'assistant' && readJson(toolCalls ?? '[]', 'Messages: Tool Calls');
	if (calls === false || (Array.isArray(calls) && calls.length === 0)) return asJson(message);
	const said = message.content === '' ? null : message.content;
	return asJson({ ...message, content: said, tool_calls: calls });
}
