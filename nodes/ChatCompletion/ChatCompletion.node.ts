import {
	NodeConnectionTypes,
	type IDataObject,
	type IExecuteFunctions,
	type ILoadOptionsFunctions,
	type INodeExecutionData,
	type INodeListSearchResult,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { completeChat } from '../client/chat/completeChat';
import { liveText } from '../client/chat/liveText';
import { chatFields, extraFields, isJsonMode } from '../client/chat/readFields';
import { toChatResult } from '../client/chat/result';
import type { ChatCompletion as Completion, ChatRequest, TextDelta } from '../client/chat/types';
import { withRetry } from '../client/http/retry';
import { readIdleTimeoutMs, showReasoningOption } from '../shared/chat/callOptions';
import { readMessages } from '../shared/chat/messages';
import { SUGGESTIONS } from '../shared/chat/requestOptions';
import {
	ANSWERER,
	bindingProperties,
	CHAT_MODELS,
	inputProperties,
	simplifyProperty,
	streamingProperty,
} from '../shared/chat/properties';
import { isLive, withChatStream } from '../shared/chat/chatStream';
import { n8nClock, n8nService, type Service } from '../shared/run/host';
import { readBatching } from '../shared/form/batchOptions';
import { mapItems } from '../shared/run/mapItems';
import { searchItems } from '../shared/form/resourceLocator';
import { readMediaDownload } from '../shared/chat/mediaOptions';
import { readModel, readText } from '../shared/run/parameters';
import { fetchMedia, hintMissingMedia, withMedia } from '../shared/chat/replyMedia';
import { reportCall } from '../shared/chat/reportCall';
import { readRetry } from '../shared/form/retryOptions';
import { forTools } from '../shared/run/toolResult';
import { chatCompletionOptions } from './options';

export class ChatCompletion implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Chat Completion',
		name: 'chatCompletion',
		icon: { light: 'file:../../icons/chat.svg', dark: 'file:../../icons/chat.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: `={{ ($parameter.options?.responseFormat === "json_object" ? "JSON" : "reply") + " from " + ${ANSWERER} }}`,
		description: 'Ask a model, an application or a workflow, and get its reply',
		defaults: { name: 'Chat Completion' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		credentials: [{ name: 'agentVideoApi', required: true }],
		properties: [
			...bindingProperties,
			...inputProperties,
			streamingProperty,
			simplifyProperty,
			chatCompletionOptions,
		],
	};

	methods = {
		listSearch: {
			searchModel(
				this: ILoadOptionsFunctions,
				filter?: string,
			): Promise<INodeListSearchResult> {
				return searchItems(CHAT_MODELS, filter);
			},
			searchReasoningEffort(
				this: ILoadOptionsFunctions,
				filter?: string,
			): Promise<INodeListSearchResult> {
				return searchItems(SUGGESTIONS['searchReasoningEffort']!, filter);
			},
		},
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const live = this.getNodeParameter('streaming', 0) === 'auto' && isLive(this);
		const batching = readBatching(this);

		const items = await mapItems(
			this,
			live ? { ...batching, concurrency: 1 } : batching,
			async (item) => {
				const service = await n8nService(this);
				const request = readRequest(this, item, service);
				const complete = async (sendText?: (text: string) => void) =>
					await completeOnce(this, item, service, request, sendText);

				const completion = live
					? await withChatStream(this, item, complete)
					: await complete();
				reportCall(this, completion);
				const wish = readMediaDownload(this, item, service);
				return withMedia(
					{ json: toOutput(this, item, request, completion), pairedItem: { item } },
					await fetchMedia(this, completion, wish),
				);
			},
		);
		hintMissingMedia(this, items);
		return [items];
	}
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
	const withReasoning = showReasoningOption.read(context, item);
	const toText = liveText({ withReasoning });
	return {
		stream: context.getNodeParameter('streaming', 0) !== 'off',
		idleTimeoutMs: readIdleTimeoutMs(context, item),
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
