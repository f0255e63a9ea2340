import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { askAssistant, type AssistantReply } from '../client/chat/askAssistant';
import { liveText } from '../client/chat/liveText';
import { userMessage } from '../client/chat/messages';
import { progressLine } from '../client/chat/progressLine';
import { extraFields } from '../client/chat/readFields';
import { toChatResult } from '../client/chat/result';
import { toolRuns } from '../client/chat/toolRuns';
import type { ChatRequest } from '../client/chat/types';
import { InputError, ServiceError } from '../client/errors';
import { withRetry } from '../client/http/retry';
import { readTimeoutSeconds } from '../shared/chat/callOptions';
import { readImages } from '../shared/chat/messages';
import { n8nClock, n8nService, type Service } from '../shared/run/host';
import { readMediaDownload } from '../shared/chat/mediaOptions';
import { callOnce } from '../shared/run/callLog';
import { readText } from '../shared/run/parameters';
import { fetchMedia, withMedia } from '../shared/chat/replyMedia';
import { reportCall } from '../shared/chat/reportCall';
import { readRetry } from '../shared/form/retryOptions';
import { forTools } from '../shared/run/toolResult';
import { readSession, type AssistantSession } from './session';

/** Sends text to whoever watches. */
export type SendText = (text: string) => void;

/** The call of one item to its assistant. */
export async function runAssistant(
	context: IExecuteFunctions,
	item: number,
	sendText?: SendText,
): Promise<AssistantReply> {
	return await callOnce(
		context,
		{
			item,
			request: requestName(context, item),
			retryOutcomeUnknown:
				context.getNodeParameter('options.retryOutcomeUnknown', item, false) === true,
		},
		async () => await call(context, item, sendText),
	);
}

/** What leaves the node for a reply, with its files where they are wanted. */
export async function assistantItem(
	context: IExecuteFunctions,
	item: number,
	reply: AssistantReply,
): Promise<INodeExecutionData> {
	const wish = readMediaDownload(context, item, await n8nService(context));
	return withMedia(
		{ json: toOutput(context, item, reply), pairedItem: { item } },
		await fetchMedia(context, reply.completion, wish),
	);
}

async function call(
	context: IExecuteFunctions,
	item: number,
	sendText: SendText | undefined,
): Promise<AssistantReply> {
	const service = await n8nService(context);
	const appCode = readAppCode(context, item);
	const message = readMessage(context, item, service);
	const session = await readSession(context, item, appCode);
	const request: ChatRequest = {
		app_code: appCode,
		messages: [message],
		...(session.id === undefined ? {} : { session_id: session.id }),
		...extraFields(context.getNodeParameter('options.extraBody', item, '{}')),
	};
	const clock = n8nClock(context);
	const limitMs = readLimitSeconds(context, item) * 1000;
	const reply = await keeping(
		context,
		session,
		async () =>
			await withRetry(
				clock,
				// The option is for Retry On Fail only: a charged call is never sent twice within one run.
				{ ...readRetry(context, item), retryOutcomeUnknown: false },
				async () =>
					await askAssistant(service.http, clock, request, {
						stream: context.getNodeParameter('streaming', 0) !== 'off',
						idleTimeoutMs: Math.min(limitMs, readTimeoutSeconds(context, item) * 1000),
						limitMs,
						...watching(context, item, sendText),
					}),
			),
	);
	reportCall(context, reply.completion);
	return reply;
}

/** Keeps the session that the service used, also where the reply broke off: the assistant remembers what it did. */
async function keeping(
	context: IExecuteFunctions,
	session: AssistantSession,
	ask: () => Promise<AssistantReply>,
): Promise<AssistantReply> {
	const keep = async (sessionId = '') => {
		if (sessionId === '') return;
		await session.keep(sessionId).catch((error: unknown) => {
			const { message } = error as Error;
			// The reply is paid for and must not be lost for this.
			context.addExecutionHints({ message, type: 'warning', location: 'outputPane' });
		});
	};
	const reply = await ask().catch(async (error: unknown) => {
		if (error instanceof ServiceError) await keep(error.details.subject?.['session_id']);
		throw error;
	});
	await keep(reply.completion.session_id ?? session.id);
	return reply;
}

/** What a person sees: text as it comes, and the tools as lines of their own between it. */
function watching(context: IExecuteFunctions, item: number, sendText: SendText = () => undefined) {
	const option = (name: string, fallback: unknown): unknown =>
		context.getNodeParameter(`options.${name}`, item, fallback);
	const toText = liveText({ withReasoning: option('streamReasoning', false) === true });
	const withTools = option('showInChat', 'tools') === 'tools';
	return {
		onText: (delta: Parameters<typeof toText>[0]) => {
			sendText(toText(delta));
		},
		onEvent: (event: Parameters<typeof progressLine>[0]) => {
			const line = withTools ? progressLine(event) : '';
			// A paragraph of its own in the chat page, which shows Markdown.
			if (line !== '') sendText(`\n\n> ${line}\n\n`);
		},
	};
}

function readAppCode(context: IExecuteFunctions, item: number): string {
	const appCode = readText(context, 'appCode', item).trim();
	if (appCode !== '') return appCode;
	throw new InputError('App Code', 'is empty', 'Enter the code of a super assistant');
}

function readMessage(context: IExecuteFunctions, item: number, service: Service) {
	const text = readText(context, 'message', item);
	if (text.trim() === '') {
		throw new InputError(
			'Message',
			'is empty',
			'Enter a text, or an expression that gives one for every item',
		);
	}
	return userMessage(text, readImages(context, item, service));
}

function readLimitSeconds(context: IExecuteFunctions, item: number): number {
	const value: unknown = context.getNodeParameter('options.maximumDuration', item, 620);
	const seconds = Number(value);
	if (seconds > 0) return seconds;
	throw new InputError(
		'Maximum Duration',
		`is ${String(value)}`,
		'Enter a number of seconds, e.g. 620',
	);
}

/** What was entered, not what is sent: the addresses of binary files differ each time. */
function requestName(context: IExecuteFunctions, item: number): string {
	const names = ['appCode', 'message', 'session', 'sessionId', 'sessionKey'];
	return JSON.stringify([
		...names.map((name) => readText(context, name, item)),
		context.getNodeParameter('images.image', item, []),
	]);
}

function toOutput(
	context: IExecuteFunctions,
	item: number,
	{ completion, events }: AssistantReply,
): IDataObject {
	const timeline = events.length === 0 ? {} : { events };
	if (context.getNodeParameter('simplify', item) !== true) {
		return { ...completion, ...timeline };
	}
	const runs = toolRuns(completion, events);
	const { tool_calls, ...result } = toChatResult(completion, { json: false });
	return forTools(context, 'assistant', {
		...result,
		...(runs.length === 0 ? {} : { tool_calls: runs }),
		...timeline,
	});
}
