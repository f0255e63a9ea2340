import type { IBinaryData } from 'n8n-workflow';

import {
	sendChat,
	withJson,
	type Chat,
	type JsonFormat,
	type SendOptions,
} from '../../client/chat/sendChat';
import { checkMessages, checkOrder, userMessage } from '../../client/chat/messages';
import { stringOf } from '../../client/chat/replyMessage';
import { readJson } from '../../client/chat/requestFields';
import { usageOf } from '../../client/chat/result';
import type { ChatCompletion, ChatMessage, ChatRequest, Taker } from '../../client/chat/types';
import { emptyText, rejectMistakes } from '../../client/errors';
import { checkPublicUrl } from '../../client/http/publicUrl';
import { asJson, type JsonValue } from '../../client/json';
import { oneLine } from '../../client/values';
import { type FileEntry, fileSources, signedFileUrl } from '../files/fileSource';
import { appField, boundFields } from './requestOptions';
import { readCall } from '../form/callOptions';
import type { ValuesOf } from '../form/form';
import { checkPrompt } from '../run/parameters';
import type { Run } from '../run/run';
import { showReply, type SendText } from './chatStream';
import { imagesField, type inputFields, type MessageEntry } from './properties';
import { toJsonFormat } from './schemaForm';

type UrlsOf = (entries: readonly FileEntry[], label?: string) => readonly string[];

interface InputValues extends ValuesOf<typeof inputFields> {
	readonly images: readonly FileEntry[];
}

type QuestionValues = InputValues &
	Parameters<typeof boundFields>[0] &
	Parameters<typeof toJsonFormat>[0] & {
		readonly options: { fallbacks: readonly string[] };
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
		fallbacks: values.options.fallbacks.map((code) =>
			isApp ? appField(code, service, 'Fallbacks') : { model: code },
		),
		/** The format of the answer; undefined for a text. */
		format: toJsonFormat(values),
	};
}

/** The messages of an item's input fields (spec 2.2). */
function readMessages(run: Run, item: number, values: InputValues): ChatMessage[] {
	const { input, messagesJson } = values;
	const urlsOf: UrlsOf = (entries, label) => imageUrls(run, item, entries, label);
	if (input === 'prompt') return toPrompt(values, urlsOf(values.images));
	const isJson = input === 'json';
	const label = isJson ? 'Messages (JSON)' : 'Messages';
	const value = isJson
		? readJson(messagesJson, label)
		: values.messages.map((entry, index) =>
				toMessage(entry, `${label}: entry ${index + 1}`, urlsOf),
			);
	const messages = checkMessages(value, label, { allowPrivate: run.service().isPrivate });
	checkOrder(messages, label);
	return messages;
}

/**
 * The URLs of images.
 *
 * @throws InputError that names an entry which the service cannot fetch.
 */
export function imageUrls(
	run: Run,
	item: number,
	entries: readonly FileEntry[],
	label = 'Images',
): string[] {
	const { isPrivate: allowPrivate } = run.service();
	return entries.flatMap((entry, index) => {
		const checks = { field: `${label}: entry ${index + 1}`, allowPrivate };
		return fileSources(run, item, entry, checks.field).map((source) => {
			if ('url' in source) return checkPublicUrl(source.url, checks);
			const name = source.property;
			const { mimeType: type = '' } = source.file as Partial<IBinaryData>;
			// A file that n8n does not know is text for it.
			const isOther = !/^(image\/|application\/octet-stream$|text\/plain$|$)/i.test(type);
			const problem = `names ${oneLine(name)}, a file of the type ${oneLine(type)}`;
			rejectMistakes(checks.field, [[isOther, problem]], 'Enter fields with images only');
			return signedFileUrl(run, source.file, checks);
		});
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
	label: string,
	urlsOf: UrlsOf,
): JsonValue {
	const urls = urlsOf(imagesField.parse(images), `${label}, Images`);
	const text = checkPrompt(content, label);
	const message = { ...userMessage(text, role === 'user' ? urls : []), role };
	if (role === 'tool') return asJson({ ...message, tool_call_id: toolCallId });

	const calls = role === 'assistant' && readJson(toolCalls ?? '[]', `${label}, Tool Calls`);
	if (calls === false || (Array.isArray(calls) && calls.length === 0)) return asJson(message);
	const said = message.content === '' ? null : message.content;
	return asJson({ ...message, content: said, tool_calls: calls });
}

/** What a form says about its calls, and who else takes part in them. */
interface AskOptions extends Pick<SendOptions, 'fallbacks' | 'call'> {
	readonly streaming: string;
	readonly options: Parameters<typeof readCall>[1];
	readonly format: JsonFormat | undefined;
	readonly sendText: SendText | undefined;
}

/**
 * Asks for a reply, in a JSON format also for the repair of one. A live chat shows it. Each call is reported by itself, and
 * a fallback that has answered is named in the panel.
 *
 * @returns The reply as it was sent: `judge` tells what it is.
 * @throws InputError and ServiceError as `sendChat`.
 */
export async function askForReply(
	run: Run,
	request: ChatRequest,
	taker: Taker,
	{ streaming, options, format, sendText, fallbacks, call }: AskOptions,
): Promise<ChatCompletion> {
	const { http, hasApp } = run.service();
	const send = sendChat(run.clock, http, {
		...readCall(run, options),
		hasApp,
		stream: streaming !== 'off',
		onDelta: showReply(sendText, {
			reasoning: streaming === 'reasoning',
			tools: taker === 'assistant',
		}),
		fallbacks,
		onFallback: (answerer, [first]) => {
			const { code, error } = first!;
			const text = `${answerer} has answered instead of ${code}. ${code}: ${error}`;
			run.mention(text);
		},
		call,
	});
	const chat: Chat = async (each) => reportCall(run, await send(each), request);
	return await withJson(chat, format, taker)(request);
}

const INSTEAD = 'Remove what it ignores, or use the Super Assistant node';

/**
 * Adds the tokens of a call to the node's token count in n8n and to its span, and the model and session to the execution's
 * custom data and to the span.
 *
 * @param request What was sent: a hint says what a super assistant has ignored of it (spec 2.1, 2.7).
 * @returns The reply.
 */
function reportCall(
	run: Run,
	completion: ChatCompletion,
	{ model, tools, messages }: ChatRequest,
): ChatCompletion {
	const earlier = messages.length > 1 && 'all messages before the last one';
	const ignored = [model && 'Model', tools && 'the tools', earlier].filter(Boolean).join(', ');
	// Only the replies of super assistants have both (spec 2.4, 2.5).
	if (ignored !== '' && completion.session_id && completion.model)
		run.mention(`A super assistant has answered. It ignores: ${ignored}. ${INSTEAD}`);
	const usage = usageOf(completion);
	if (usage !== undefined) run.countTokens(usage.prompt_tokens, usage.completion_tokens);
	const sender = stringOf(completion.model);
	const session = stringOf(completion.session_id);
	// Executions can be filtered by them in n8n's list.
	run.setCustomData('agent_video_model', sender);
	run.setCustomData('agent_video_session', session);
	run.trace({
		'gen_ai.usage.input_tokens': usage?.prompt_tokens,
		'gen_ai.usage.output_tokens': usage?.completion_tokens,
		'gen_ai.response.model': sender,
		'gen_ai.conversation.id': session,
	});
	return completion;
}
