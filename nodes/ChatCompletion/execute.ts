import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { completeChat } from '../client/chat/completeChat';
import { liveText } from '../client/chat/liveText';
import { chatFields, extraFields, isJsonMode } from '../client/chat/readFields';
import { toChatResult } from '../client/chat/result';
import type { ChatCompletion as Completion, ChatRequest, TextDelta } from '../client/chat/types';
import { withRetry } from '../client/http/retry';
import { readTimeoutSeconds } from '../shared/chat/callOptions';
import { isLive, withChatStream } from '../shared/chat/chatStream';
import { readMediaDownload } from '../shared/chat/mediaOptions';
import { readMessages } from '../shared/chat/messages';
import { fetchMedia, hintMissingMedia, withMedia } from '../shared/chat/replyMedia';
import { reportCall } from '../shared/chat/reportCall';
import { readBatching } from '../shared/form/batchOptions';
import { readRetry } from '../shared/form/retryOptions';
import { n8nClock, n8nService, type Service } from '../shared/run/host';
import { mapItems } from '../shared/run/mapItems';
import { readModel, readText } from '../shared/run/parameters';
import { forTools } from '../shared/run/toolResult';

/** Sends one request per item; with live streaming one item at a time, so that their texts do not mix. */
export async function runChatCompletion(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const live = context.getNodeParameter('streaming', 0) === 'auto' && isLive(context);
	const batching = readBatching(context);

	const items = await mapItems(
		context,
		live ? { ...batching, concurrency: 1 } : batching,
		async (item) => await runItem(context, item, live),
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
	const request = readRequest(context, item, service);
	const complete = async (sendText?: (text: string) => void) =>
		await completeOnce(context, item, service, request, sendText);

	const completion = live ? await withChatStream(context, item, complete) : await complete();
	reportCall(context, completion);
	const download = readMediaDownload(context, item, service);
	return withMedia(
		{ json: toOutput(context, item, request, completion), pairedItem: { item } },
		await fetchMedia(context, completion, download),
	);
}

/** The request that the fields of an item make; whatever the service would refuse is refused here, by name. */
function readRequest(context: IExecuteFunctions, item: number, service: Service): ChatRequest {
	const appCode = readText(context, 'appCode', item).trim();
	const model = readModel(context, item);
	return {
		messages: readMessages(context, item, service),
		...(appCode === '' ? {} : { app_code: appCode }),
		...(model === '' ? {} : { model }),
		...chatFields(context.getNodeParameter('options', item, {})),
		...extraFields(context.getNodeParameter('options.extraBody', item, '{}')),
	};
}

/** The reply; a call that failed in passing is repeated, but not after a person has seen a part of it. */
async function completeOnce(
	context: IExecuteFunctions,
	item: number,
	{ http }: Service,
	request: ChatRequest,
	sendText?: (text: string) => void,
): Promise<Completion> {
	let seen = false;
	const call = readCall(context, item, (text) => {
		seen ||= text !== '';
		sendText?.(text);
	});
	return await withRetry(
		n8nClock(context),
		readRetry(context, item),
		async () => await completeChat(http, request, call),
		() => sendText === undefined || !seen,
	);
}

function readCall(context: IExecuteFunctions, item: number, sendText: (text: string) => void) {
	const withReasoning = context.getNodeParameter('options.streamReasoning', item, false) === true;
	const toText = liveText({ withReasoning });
	return {
		stream: context.getNodeParameter('streaming', 0) !== 'off',
		idleTimeoutMs: readTimeoutSeconds(context, item) * 1000,
		onText: (delta: TextDelta) => {
			sendText(toText(delta));
		},
	};
}

function toOutput(
	context: IExecuteFunctions,
	item: number,
	request: ChatRequest,
	completion: Completion,
): IDataObject {
	if (context.getNodeParameter('simplify', item) !== true)
		return completion as unknown as IDataObject;
	const result = toChatResult(completion, { json: isJsonMode(request) }) as IDataObject;
	return forTools(context, 'reply', result);
}
