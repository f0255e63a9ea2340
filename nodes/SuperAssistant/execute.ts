import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { askAssistant, type AssistantReply } from '../client/chat/askAssistant';
import { liveText } from '../client/chat/liveText';
import { toChatResult } from '../client/chat/result';
import { executedTools, progressLine } from '../client/chat/toolProgress';
import { ServiceError } from '../client/errors';
import { withRetry } from '../client/http/retry';
import {
	readIdleTimeoutMs,
	showInChatOption,
	showReasoningOption,
} from '../shared/chat/callOptions';
import { readChatBatching, toChatNotice, withChatStream } from '../shared/chat/chatStream';
import { readMediaDownload } from '../shared/chat/mediaOptions';
import { fetchMedia, hintMissingMedia, withMedia } from '../shared/chat/replyMedia';
import { reportCall } from '../shared/chat/reportCall';
import { readSafeRetry, resendOutcomeUnknownOption } from '../shared/form/retryOptions';
import { callOnce, clearCallLog } from '../shared/run/callLog';
import { toDataObject } from '../shared/run/dataObject';
import { n8nClock, n8nService } from '../shared/run/host';
import { mapItems } from '../shared/run/mapItems';
import { forTools } from '../shared/run/toolResult';
import { readAppCode, readCallKey, readRequest } from './input';
import { keyedMutex } from './keyedMutex';
import { readMaximumDurationMs } from './options';
import { readSession, sessionLockKey, type AssistantSession } from './session';

/** Sends text to the chat of this execution. */
type SendText = (text: string) => void;

/**
 * Calls the assistant once per item. Items of the same session run one after another; with live streaming all items do,
 * so that their texts do not mix.
 */
export async function runSuperAssistant(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const runExclusive = keyedMutex();

	const items = await mapItems(
		context,
		() => readChatBatching(context),
		async (item, { live }) => {
			const ask = async (sendText?: SendText) => await askOnce(context, item, sendText);
			const reply = await runExclusive(
				sessionLockKey(context, item),
				async () => await (live ? withChatStream(context, item, ask) : ask()),
			);
			return await toItem(context, item, reply);
		},
	);
	if (items.every(({ json }) => json['error'] === undefined)) clearCallLog(context);
	hintMissingMedia(context, items);
	return [items];
}

/** The reply for an item; with *Retry On Fail* an item that has its reply is not called again. */
async function askOnce(
	context: IExecuteFunctions,
	item: number,
	sendText: SendText | undefined,
): Promise<AssistantReply> {
	return await callOnce(
		context,
		{
			item,
			request: readCallKey(context, item),
			retryOutcomeUnknown: resendOutcomeUnknownOption.read(context, item),
		},
		async () => await ask(context, item, sendText),
	);
}

async function ask(
	context: IExecuteFunctions,
	item: number,
	sendText: SendText | undefined,
): Promise<AssistantReply> {
	const service = await n8nService(context);
	const appCode = readAppCode(context, item);
	const session = await readSession(context, item, appCode);
	const request = readRequest(context, item, service, { appCode, sessionId: session.id });
	const clock = n8nClock(context);
	const limitMs = readMaximumDurationMs(context, item);
	const reply = await rememberSession(
		context,
		session,
		async () =>
			await withRetry(
				clock,
				// Also prevents a retry after text was shown: such a failure always has an unknown outcome.
				readSafeRetry(context, item),
				async () =>
					await askAssistant(service.http, clock, request, {
						stream: context.getNodeParameter('streaming', 0) !== 'off',
						idleTimeoutMs: Math.min(limitMs, readIdleTimeoutMs(context, item)),
						limitMs,
						...chatHandlers(context, item, sendText),
					}),
			),
	);
	reportCall(context, reply.completion);
	return reply;
}

/**
 * Runs the call and remembers the session that the service used. Also when the reply broke off: the assistant remembers
 * what it did in the session.
 */
async function rememberSession(
	context: IExecuteFunctions,
	session: AssistantSession,
	call: () => Promise<AssistantReply>,
): Promise<AssistantReply> {
	const remember = async (sessionId = '') => {
		if (sessionId === '') return;
		await session.remember(sessionId).catch((error: unknown) => {
			// The reply is paid for: a failure here must not lose it.
			const { message } = error as Error;
			context.addExecutionHints({ message, type: 'warning', location: 'outputPane' });
		});
	};
	const reply = await call().catch(async (error: unknown) => {
		if (error instanceof ServiceError) await remember(error.details.subject?.['session_id']);
		throw error;
	});
	await remember(reply.completion.session_id ?? session.id);
	return reply;
}

/** Handlers that show the reply in the chat: text as it arrives, and tool progress as lines of their own between it. */
function chatHandlers(
	context: IExecuteFunctions,
	item: number,
	sendText: SendText = () => undefined,
) {
	const toText = liveText({ withReasoning: showReasoningOption.read(context, item) });
	const withTools = showInChatOption.read(context, item) === 'tools';
	return {
		onText: (delta: Parameters<typeof toText>[0]) => {
			sendText(toText(delta));
		},
		onEvent: (event: Parameters<typeof progressLine>[0]) => {
			const line = withTools ? progressLine(event) : '';
			if (line !== '') sendText(toChatNotice(line));
		},
	};
}

/** The output item of a reply, with the files it links to if they are to be downloaded. */
async function toItem(
	context: IExecuteFunctions,
	item: number,
	reply: AssistantReply,
): Promise<INodeExecutionData> {
	const download = readMediaDownload(context, item, await n8nService(context));
	return withMedia(
		{ json: toOutput(context, item, reply), pairedItem: { item } },
		await fetchMedia(context, reply.completion, download),
	);
}

function toOutput(
	context: IExecuteFunctions,
	item: number,
	{ completion, events }: AssistantReply,
): IDataObject {
	const progress = events.length === 0 ? {} : { events };
	if (context.getNodeParameter('simplify', item) !== true) {
		return toDataObject({ ...completion, ...progress });
	}
	const runs = executedTools(completion, events);
	const { tool_calls, ...result } = toChatResult(completion, { json: false });
	const output = { ...result, ...(runs.length === 0 ? {} : { tool_calls: runs }), ...progress };
	return forTools(context, 'assistant', toDataObject(output));
}
