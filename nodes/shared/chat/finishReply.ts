import {
	accumulateTokenUsage,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';

import type { Conversation } from '../../client/chat/conversation';
import { readJsonReply, withJson, type JsonFormat } from '../../client/chat/jsonReply';
import { imagesAsLinks, imagesAsLinksIn, type IsKnown } from '../../client/imagesAsLinks';
import { toChatResult, usageOf } from '../../client/chat/result';
import { sendChat, type SendOptions } from '../../client/chat/sendChat';
import type { ChatCompletion, ChatRequest } from '../../client/chat/types';
import { formOf, judge, type Taker, type Form, type JudgedReply } from '../../client/chat/verdict';
import { asJson, type JsonObject } from '../../client/json';
import type { HttpPort } from '../../client/ports';
import type { DownloadLimits } from '../files/downloadLimits';
import { adviceOf } from '../run/advice';
import { n8nService } from '../run/host';
import { forTools, trace, hint, mentionOnce, n8nClock } from '../run/nodeContext';

import { isShown } from './identity';
import type { Output } from './properties';
import { requestQuota } from './requestOptions';
import { namedFiles, withMedia } from './replyMedia';

/** What is said below the output of a reply that is an answer in part only. */
const PARTLY: Readonly<Partial<Record<Form, string>>> = {
	cut: `The reply was cut off (finish_reason tells why). ${adviceOf('shortenReply')}`,
	work: 'The service has run tools, but has not answered in words. Output: Detailed has their results',
};
/** What stands in a memory behind a reply that was cut off. */
const CUT_MARK = '\n\n[The reply was cut off here]';

/** What an item wants of its reply: how much of it, in which format, and with which files. */
interface ReplyOptions {
	readonly output?: Output;
	readonly format?: JsonFormat | undefined;
	readonly media?: DownloadLimits | undefined;
	/** The conversation with the reply, and what keeps it. */
	readonly conversation?: Conversation | undefined;
	readonly keep?: (conversation: Conversation) => Promise<void> | void;
}

/**
 * Takes a reply to the output of its item: it is read as JSON, its conversation is kept, and its files are downloaded.
 *
 * @throws ServiceError when the reply is not in the format, and when the execution is canceled.
 */
export async function finishReply(
	context: IExecuteFunctions,
	reply: JudgedReply,
	node: Exclude<Taker, 'model'>,
	{ format, output, media, conversation, keep }: ReplyOptions,
): Promise<INodeExecutionData> {
	const form = formOf(reply, node);
	const partly = PARTLY[form];
	if (partly !== undefined) hint(context, partly);
	const json = readJsonReply(reply, format, (said) => {
		hint(context, said);
	});
	const { baseUrl: base, isKnown } = await n8nService(context);
	const options = { json, details: output === 'detailed', hasRunAll: node !== 'reply', base };
	const named = namedFiles(reply, base);
	const isOurs = (url: string) => named.has(url) || isKnown(url);
	const result =
		output === 'raw'
			? // The output of an agent has more than the last response.
				asJson(node === 'agent' ? { response: reply } : reply)
			: forTools(context, node, forChat(context, toChatResult(reply, options), isOurs));
	if (conversation !== undefined)
		await keep?.(form === 'cut' ? withCutMark(conversation) : conversation);
	return await withMedia(context, result, reply, media);
}

/**
 * The output of an item that n8n's chat may show, see `imagesAsLinks`. `content` then has the text as it was. A streaming chat
 * has the text already.
 */
function forChat(context: IExecuteFunctions, result: JsonObject, isKnown: IsKnown): JsonObject {
	const { output: content } = result;
	if (context.isStreaming() || !isShown(context)) return result;
	// Without a text the chat shows all of it.
	if (typeof content !== 'string' || content === '') return imagesAsLinksIn(result, isKnown);
	const output = imagesAsLinks(content, isKnown);
	return output === content ? result : { ...result, output, content };
}

/** A conversation whose last message says that it was cut off: in a memory it would read as a whole one. */
function withCutMark(conversation: Conversation): Conversation {
	const { messages } = conversation;
	const said = messages.at(-1)!;
	const content = `${said.content as string}${CUT_MARK}`;
	return { ...conversation, messages: messages.with(-1, { ...said, content }) };
}

/** Who asks, and what is an answer. */
interface AskOptions extends SendOptions {
	readonly node: Taker;
	readonly format: JsonFormat | undefined;
	readonly maximumRequests: number;
	/** Whether nothing is an answer. */
	readonly mayBeEmpty?: boolean;
}

/**
 * Asks for a reply and judges it, in a JSON format also the repair of one. Each call is reported by itself, and a fallback
 * that has answered is named in the panel.
 *
 * @throws InputError and ServiceError as `sendChat` and `judge`.
 */
export async function askForReply(
	context: IExecuteFunctions,
	http: HttpPort,
	request: ChatRequest,
	{ node, format, mayBeEmpty, maximumRequests, ...options }: AskOptions,
): Promise<JudgedReply> {
	const send = sendChat(n8nClock(context), http, {
		...options,
		quota: requestQuota(context, maximumRequests),
		onFallback: ({ answered_by: code, failed: [first] }) => {
			const why = `${first!.code}: ${first!.error}`;
			mentionOnce(context, `${code} has answered instead of ${first!.code}. ${why}`);
		},
	});
	const chat = withJson(async (each) => reportCall(context, await send(each), request), format);
	return judge(await chat(request), node, mayBeEmpty);
}

const INSTEAD = 'Remove what it ignores, or use the Super Assistant node';

/**
 * Adds the tokens of a call to the node's token count in n8n and to its span, and the model and session to the execution's
 * custom data and to the span.
 *
 * @param request What was sent: a hint says what a super assistant has ignored of it (spec 2.1, 2.7).
 * @returns The reply.
 */
export function reportCall(
	context: IExecuteFunctions,
	completion: ChatCompletion,
	{ model, tools, messages = [] }: Partial<ChatRequest> = {},
): ChatCompletion {
	const earlier = messages.length > 1 && 'all messages before the last one';
	const ignored = [model && 'Model', tools && 'the tools', earlier].filter(Boolean).join(', ');
	// Only the replies of super assistants have both (spec 2.4, 2.5).
	if (ignored !== '' && completion.session_id && completion.model)
		mentionOnce(context, `A super assistant has answered. It ignores: ${ignored}. ${INSTEAD}`);
	const usage = usageOf(completion);
	if (usage !== undefined)
		accumulateTokenUsage(context, usage.prompt_tokens, usage.completion_tokens);
	const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
	const sender = textOf(completion.model);
	const session = textOf(completion.session_id);
	// Executions can be filtered by them in n8n's list.
	setCustomData(context, 'agent_video_model', sender);
	setCustomData(context, 'agent_video_session', session);
	trace(context, {
		'gen_ai.usage.input_tokens': usage?.prompt_tokens,
		'gen_ai.usage.output_tokens': usage?.completion_tokens,
		'gen_ai.response.model': sender,
		'gen_ai.conversation.id': session,
	});
	return completion;
}

/** Values are cut to n8n's maximum of 255 characters, empty ones left out. Does nothing in an n8n without custom data. */
export function setCustomData(
	context: Partial<IExecuteFunctions>,
	key: string,
	value: string,
): void {
	if (value !== '') context.customData?.set(key, value.slice(0, 255));
}
