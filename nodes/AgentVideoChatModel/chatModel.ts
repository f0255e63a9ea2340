import type { ISupplyDataFunctions } from 'n8n-workflow';

import { restoreReplies } from '../client/chat/restoreReplies';
import { toReplay } from '../client/chat/toolCalls';
import type { ChatCompletion, ChatMessage, ChatRequest, TextDelta } from '../client/chat/types';
import { asJson, fromJson } from '../client/json';
import { fromCallback } from '../client/fromCallback';
import type { HttpPort } from '../client/ports';
import type { RetryPolicy } from '../client/http/retry';
import {
	toDeclaration,
	type AiNodeSdk,
	type SdkCall,
	type SdkChatModel,
	type SdkMessage,
	type SdkTool,
} from '../shared/chat/aiNodeSdk';
import { sendChat, type OnText } from '../shared/chat/sendChat';
import { n8nClock } from '../shared/run/host';
import { toNodeError } from '../shared/run/nodeErrors';
import { nodeState, type NodeState } from '../shared/run/nodeState';
import { callsOf, toChatMessage, toSdkEnd, toSdkResult, withImages } from './sdkMessages';

/** Settings that all calls of a chat model share. */
export interface ChatModelSettings {
	readonly sdk: AiNodeSdk;
	readonly http: HttpPort;
	/** The request without messages and tools. */
	readonly request: Omit<ChatRequest, 'messages'>;
	/** URLs of the images to attach to the last user message. */
	readonly imageUrls: readonly string[];
	readonly idleTimeoutMs: number;
	readonly retry: RetryPolicy;
}

/** Maximum number of replies stored for `restoreReplies`. n8n does not report when an agent has finished with them. */
const MAX_STORED_REPLIES = 200;

/** The service's chat as a chat model for n8n's agents and chains. */
export function chatModel(
	context: ISupplyDataFunctions,
	settings: ChatModelSettings,
	tools: readonly SdkTool[] = [],
): SdkChatModel {
	const { http, idleTimeoutMs, retry } = settings;
	const send = async (
		messages: readonly SdkMessage[],
		call: SdkCall | undefined,
		stream: boolean,
		onText?: OnText,
	): Promise<ChatCompletion> => {
		const request = toRequest(context, settings, tools, messages, call);
		try {
			const completion = await sendChat(n8nClock(context), http, request, {
				stream,
				idleTimeoutMs,
				retry,
				showReasoning: true,
				onText,
			});
			return storeReply(context, completion);
		} catch (error) {
			throw toNodeError(context.getNode(), error, 0);
		}
	};

	return {
		provider: 'agent-video',
		modelId: String(settings.request.model ?? settings.request.app_code ?? 'default'),
		generate: async (messages, call) => toSdkResult(await send(messages, call, false)),
		async *stream(messages, call) {
			const deltas = fromCallback<TextDelta, ChatCompletion>(
				async (emit) =>
					await send(messages, call, true, (_text, delta) => {
						emit(delta);
					}),
			);
			let next = await deltas.next();
			for (; next.done !== true; next = await deltas.next()) {
				const { content, reasoning } = next.value;
				if (reasoning !== '') yield { type: 'reasoning-delta', delta: reasoning };
				if (content !== '') yield { type: 'text-delta', delta: content };
			}
			for (const { id, function: called } of callsOf(next.value)) {
				// One chunk per call: n8n writes the chunks of all calls to the same place.
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
			storedReplies(context).get() ?? [],
		),
	};
}

/**
 * Stores a reply that asks for tools, in the form in which `restoreReplies` sends it back in the next round: the agent
 * only has its own copy. Returns the completion with this form: the agent tells the calls of all rounds apart by id.
 */
function storeReply(context: ISupplyDataFunctions, completion: ChatCompletion): ChatCompletion {
	const replies = storedReplies(context);
	const earlier = replies.get() ?? [];
	const calls = callsOf(completion, `call_${earlier.length + 1}`);
	if (calls.length === 0) return completion;

	const choice = completion.choices[0]!;
	const reply = toReplay(choice.message, calls);
	replies.set([...earlier, reply].slice(-MAX_STORED_REPLIES));
	return { ...completion, choices: [{ ...choice, message: fromJson(asJson(reply)) }] };
}

function storedReplies(context: ISupplyDataFunctions): NodeState<readonly ChatMessage[]> {
	return nodeState(context, 'replies');
}
