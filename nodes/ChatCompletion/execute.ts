import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isJsonMode } from '../client/chat/readFields';
import { toChatResult } from '../client/chat/result';
import type { ChatCompletion as Completion, ChatRequest } from '../client/chat/types';
import { readIdleTimeoutMs, showReasoningOption } from '../shared/chat/callOptions';
import { readChatBatching, withChatStream } from '../shared/chat/chatStream';
import { readMediaDownload } from '../shared/chat/mediaOptions';
import { readMessages } from '../shared/chat/messages';
import { fetchMedia, hintMissingMedia, withMedia } from '../shared/chat/replyMedia';
import { reportCall } from '../shared/chat/reportCall';
import { readRequestFields } from '../shared/chat/requestFields';
import { sendChat, type SendChatOptions } from '../shared/chat/sendChat';
import { readRetry } from '../shared/form/retryOptions';
import { toDataObject } from '../shared/run/dataObject';
import { n8nClock, n8nService } from '../shared/run/host';
import { mapItems } from '../shared/run/mapItems';
import { forTools } from '../shared/run/toolResult';

/** Sends one request per item; with live streaming one item at a time, so that their texts do not mix. */
export async function runChatCompletion(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const items = await mapItems(
		context,
		() => readChatBatching(context),
		async (item, { live }) => await runItem(context, item, live),
	);
	hintMissingMedia(context, items);
	return [items];
}

async function runItem(
	context: IExecuteFunctions,
	item: number,
	live: boolean,
): Promise<INodeExecutionData> {
	const service = await n8nService(context);
	const request: ChatRequest = {
		messages: readMessages(context, item, service),
		...readRequestFields(context, item),
	};
	const clock = n8nClock(context);
	const options = readSendOptions(context, item);
	const send = async (onText?: (text: string) => void) =>
		await sendChat(clock, service.http, request, { ...options, onText });

	const completion = live ? await withChatStream(context, item, send) : await send();
	reportCall(context, completion);
	const download = readMediaDownload(context, item, service);
	return withMedia(
		{ json: toOutput(context, item, request, completion), pairedItem: { item } },
		await fetchMedia(context, completion, download),
	);
}

function readSendOptions(context: IExecuteFunctions, item: number): SendChatOptions {
	return {
		stream: context.getNodeParameter('streaming', 0) !== 'off',
		idleTimeoutMs: readIdleTimeoutMs(context, item),
		retry: readRetry(context, item),
		showReasoning: showReasoningOption.read(context, item),
	};
}

function toOutput(
	context: IExecuteFunctions,
	item: number,
	request: ChatRequest,
	completion: Completion,
): IDataObject {
	if (context.getNodeParameter('simplify', item) !== true) return toDataObject(completion);
	const result = toChatResult(completion, { json: isJsonMode(request) });
	return forTools(context, 'reply', toDataObject(result));
}
