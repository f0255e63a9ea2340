import type { IDataObject, IExecuteFunctions, ISupplyDataFunctions } from 'n8n-workflow';

import { completeChat } from '../client/chat/completeChat';
import { restoreReplies } from '../client/chat/restoreReplies';
import type { ChatCompletion, ChatMessage, ChatRequest, TextDelta } from '../client/chat/types';
import { fromCallback } from '../client/fromCallback';
import type { HttpPort } from '../client/ports';
import { withRetry, type RetryPolicy } from '../client/http/retry';
import type {
	AiNodeSdk,
	SdkCall,
	SdkChatModel,
	SdkMessage,
	SdkTool,
} from '../shared/chat/aiNodeSdk';
import { toNodeError } from '../shared/run/nodeErrors';
import { n8nClock } from '../shared/run/host';
import {
	callsOf,
	toChatMessage,
	toDeclaration,
	toSdkEnd,
	toSdkResult,
	withImages,
} from './sdkMessages';

/** What stays the same in all calls of a chat model. */
export interface ChatModelSettings {
	readonly sdk: AiNodeSdk;
	readonly http: HttpPort;
	/** The request without messages and tools. */
	readonly request: Omit<ChatRequest, 'messages'>;
	/** Addresses of the images that go with what the person said last. */
	readonly imageUrls: readonly string[];
	readonly idleTimeoutMs: number;
	readonly retry: RetryPolicy;
}

/** Replies of an execution that are kept for restoreReplies, at most. */
const MAX_KEPT = 200;
const KEY = 'replies';

/** The service's chat as a chat model of n8n's agents and chains. */
export function chatModel(
	context: ISupplyDataFunctions,
	settings: ChatModelSettings,
	tools: readonly SdkTool[] = [],
): SdkChatModel {
	const ask = async (
		messages: readonly SdkMessage[],
		call: SdkCall | undefined,
		stream: boolean,
		onText: (delta: TextDelta) => void = () => undefined,
	): Promise<ChatCompletion> => {
		const request = toRequest(context, settings, tools, messages, call);
		try {
			let seen = false;
			const completion = await withRetry(
				n8nClock(context),
				settings.retry,
				async () =>
					await completeChat(settings.http, request, {
						stream,
						idleTimeoutMs: settings.idleTimeoutMs,
						onText: (delta) => {
							seen = true;
							onText(delta);
						},
					}),
				() => !stream || !seen,
			);
			keepReply(context, completion);
			return completion;
		} catch (error) {
			throw toNodeError(context.getNode(), error, 0);
		}
	};

	return {
		provider: 'agent-video',
		modelId: String(settings.request.model ?? settings.request.app_code ?? 'default'),
		generate: async (messages, call) => toSdkResult(await ask(messages, call, false)),
		async *stream(messages, call) {
			const deltas = fromCallback<TextDelta, ChatCompletion>(
				async (hand) => await ask(messages, call, true, hand),
			);
			let next = await deltas.next();
			for (; next.done !== true; next = await deltas.next()) {
				const { content, reasoning } = next.value;
				if (reasoning !== '') yield { type: 'reasoning-delta', delta: reasoning };
				if (content !== '') yield { type: 'text-delta', delta: content };
			}
			for (const { id, function: called } of callsOf(next.value)) {
				// In one piece: n8n puts the pieces of all calls at the same place.
				yield {
					type: 'tool-call-delta',
					id,
					name: called.name,
					argumentsDelta: called.arguments,
				};
			}
			yield { type: 'finish', ...toSdkEnd(next.value) };
		},
		withTools: (more) => chatModel(context, settings, [...tools, ...more]),
	};
}

function toRequest(
	context: ISupplyDataFunctions,
	{ sdk, request, imageUrls }: ChatModelSettings,
	tools: readonly SdkTool[],
	messages: readonly SdkMessage[],
	call: SdkCall = {},
): ChatRequest {
	const stop = call.stop ?? call.stopSequences;
	return {
		...request,
		...(stop === undefined ? {} : { stop }),
		...(tools.length === 0 ? {} : { tools: tools.map((tool) => toDeclaration(sdk, tool)) }),
		messages: restoreReplies(
			withImages(messages.map(toChatMessage), imageUrls),
			keptReplies(context) as unknown as ChatMessage[],
		),
	};
}

/** Keeps a reply that asks for tools, to be sent back as it came when the agent goes on. */
function keepReply(context: ISupplyDataFunctions, completion: ChatCompletion): void {
	if (callsOf(completion).length === 0) return;
	const reply = completion.choices[0]!.message as unknown as IDataObject;
	nodeData(context)[KEY] = [...keptReplies(context), reply].slice(-MAX_KEPT);
}

function keptReplies(context: ISupplyDataFunctions): readonly IDataObject[] {
	return (nodeData(context)[KEY] ?? []) as readonly IDataObject[];
}

/** What the node keeps in an execution. n8n gives it to sub-nodes, too, but its types do not say so. */
function nodeData(context: ISupplyDataFunctions): IDataObject {
	return (context as unknown as Pick<IExecuteFunctions, 'getContext'>).getContext('node');
}
