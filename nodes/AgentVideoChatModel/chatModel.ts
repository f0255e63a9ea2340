import type { IExecuteFunctions, ISupplyDataFunctions } from 'n8n-workflow';

import { checkMessages } from '../client/chat/messages';
import { addUsage } from '../client/chat/conversation';
import { usageOf } from '../client/chat/result';
import { sendChat, type OnText } from '../client/chat/sendChat';
import { callProblem, closeCalls, restoreReplies, toReplay } from '../client/chat/toolCalls';
import { laterToolChoice } from '../client/chat/requestFields';
import type {
	ChatCompletion,
	ChatMessage,
	ChatRequest,
	ChatDelta,
	ToolCall,
	Usage,
} from '../client/chat/types';
import { ServiceError } from '../client/errors';
import { asJson, fromJson } from '../client/json';
import { isBlank, oneLine } from '../client/values';
import type { HttpPort } from '../client/ports';
import type { CallLimits, RetryPolicy } from '../client/http/retry';
import {
	toDeclaration,
	type AiNodeSdk,
	type SdkCall,
	type SdkChatModel,
	type SdkMessage,
	type SdkTool,
} from '../shared/chat/aiNodeSdk';
import { judgeReply } from '../shared/chat/finishReply';
import { n8nClock } from '../shared/run/clock';
import { forVisitor, toNodeError } from '../shared/run/nodeErrors';
import { nodeState, type NodeState } from '../shared/run/nodeState';
import { callsOf, fileLinks, toChatMessage, toSdkResult, withImages } from './sdkMessages';

/** Settings that all calls of a chat model share. */
export interface ChatModelSettings extends CallLimits {
	readonly sdk: AiNodeSdk;
	readonly http: HttpPort;
	/** The request without messages and tools. */
	readonly request: Omit<ChatRequest, 'messages'>;
	/** URLs of the images to attach to the last user message. */
	readonly imageUrls: readonly string[];
	readonly retry: RetryPolicy;
}

/** Maximum number of replies stored for `restoreReplies`. n8n does not report when an agent has finished with them. */
const MAX_STORED_REPLIES = 200;
/** The tool by which an agent of n8n with an output parser answers. */
const ANSWER_TOOL = 'format_final_json_response';
/** How often the model is told that none of its calls can be run, before that is an error. */
const MAX_CORRECTIONS = 3;

/** The service's chat as a chat model for n8n's agents and chains. */
export function chatModel(
	context: ISupplyDataFunctions,
	settings: ChatModelSettings,
	tools: readonly SdkTool[] = [],
): SdkChatModel {
	const names = tools.map(({ name }) => name);
	const isRunnable = (call: ToolCall) =>
		tools.length === 0 || callProblem(call.function, names) === undefined;
	const send = async (
		messages: readonly SdkMessage[],
		call: SdkCall | undefined,
		stream: boolean,
		onText?: OnText,
	): Promise<ChatCompletion> => {
		try {
			let request = toRequest(context, settings, tools, messages, call);
			let usage: Usage | undefined;
			for (let left = MAX_CORRECTIONS; ; left -= 1) {
				const completion = await sendChat(n8nClock(context), settings.http, request, {
					...settings,
					stream,
					showReasoning: true,
					onText,
				});
				usage = addUsage(usage, usageOf(completion));
				const calls = callsOf(completion);
				const [first] = calls;
				if (first === undefined) judgeReply(completion, 'model');
				if (first === undefined || calls.some(isRunnable))
					return storeReply(
						context,
						{ ...completion, ...(usage && { usage }) },
						isRunnable,
					);
				// Some agents would ask the same again, or run the tool with other arguments.
				if (left === 0) throw invalidCall(first, completion);
				const said = toReplay(completion.choices[0]!.message, calls);
				request = { ...request, messages: closeCalls([...request.messages, said], names) };
			}
		} catch (error) {
			const failure = toNodeError(context.getNode(), error, 0);
			// n8n sends the description to a streaming chat. Its type of a sub-node lacks the method.
			const isLive = (context as Partial<IExecuteFunctions>).isStreaming?.() === true;
			throw isLive ? forVisitor(failure) : failure;
		}
	};

	return {
		provider: 'agent-video',
		modelId: String(settings.request.model ?? settings.request.app_code ?? 'default'),
		generate: async (messages, call) => toSdkResult(await send(messages, call, false)),
		async *stream(messages, call) {
			const deltas = fromCallback<ChatDelta, ChatCompletion>(
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
			const links = fileLinks(next.value);
			if (links !== '') yield { type: 'text-delta', delta: links };
			const { message, ...end } = toSdkResult(next.value);
			for (const part of message.content) {
				if (part.type !== 'tool-call') continue;
				const { toolCallId: id = '', toolName: name, input: argumentsDelta } = part;
				// One chunk per call: n8n writes the chunks of all calls to the same place.
				yield { type: 'tool-call-delta', id, name, argumentsDelta };
			}
			yield { type: 'finish', ...end };
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
	const restored = restoreReplies(
		withImages(messages.map(toChatMessage).filter(isSaid), imageUrls),
		storedReplies(context).get() ?? [],
	);
	const names = tools.map(({ name }) => name);
	const isLater = restored.at(-1)?.role === 'tool' && !names.includes(ANSWER_TOOL);
	return {
		...request,
		...(isLater ? laterToolChoice(request) : {}),
		...(stop === undefined ? {} : { stop }),
		...(tools.length === 0 ? {} : { tools: tools.map((tool) => toDeclaration(sdk, tool)) }),
		messages: checkMessages(closeCalls(restored, names).map(asJson), 'Messages', {
			allowPrivate: true,
		}),
	};
}

/** Whether a message says anything: agents send empty instructions, and empty replies from their memory, which the service rejects. */
function isSaid({ role, content, tool_calls: calls }: ChatMessage): boolean {
	return role === 'user' || role === 'tool' || calls !== undefined || !isBlank(content);
}

/**
 * Stores a reply that asks for tools, in the form in which `restoreReplies` sends it back in the next round: the agent
 * only has its own copy. Returns the completion with this form: the agent tells the calls of all rounds apart by id. It gets
 * only those that it can run: `closeCalls` answers the others.
 */
function storeReply(
	context: ISupplyDataFunctions,
	completion: ChatCompletion,
	isRunnable: (call: ToolCall) => boolean,
): ChatCompletion {
	const replies = storedReplies(context);
	const earlier = replies.get() ?? [];
	const calls = callsOf(completion, `call_${earlier.length + 1}`);
	if (calls.length === 0) return completion;

	const choice = completion.choices[0]!;
	const reply = toReplay(choice.message, calls);
	replies.set([...earlier, reply].slice(-MAX_STORED_REPLIES));
	const tool_calls = reply.tool_calls!.filter(isRunnable);
	const message = { ...choice.message, ...fromJson<object>(asJson(reply)), tool_calls };
	return { ...completion, choices: [{ ...choice, message }] };
}

function invalidCall({ function: { name } }: ToolCall, completion: ChatCompletion): ServiceError {
	const advice = 'Describe the tools more clearly, or choose another model';
	const message = `The model made an invalid call to the tool ${oneLine(name)}`;
	return new ServiceError('protocol', message, advice, { partial: asJson(completion) });
}

function storedReplies(context: ISupplyDataFunctions): NodeState<readonly ChatMessage[]> {
	return nodeState(context, 'replies');
}

/**
 * Turns a callback-style producer into an async generator: yields every value passed to `emit`, returns what `produce`
 * returns.
 *
 * @throws The error of `produce`, after all values emitted before it.
 */
async function* fromCallback<T, R>(
	produce: (emit: (value: T) => void) => Promise<R>,
): AsyncGenerator<T, R> {
	const queue: T[] = [];
	let notify: () => void = () => undefined;
	let changed = new Promise<void>((resolve) => (notify = resolve));
	const state = { ended: false };

	const done = produce((value) => {
		queue.push(value);
		notify();
	}).finally(() => {
		state.ended = true;
		notify();
	});
	// A consumer that leaves early never awaits `done`: avoid an unhandled rejection.
	done.catch(() => undefined);

	for (;;) {
		yield* queue.splice(0);
		if (state.ended && queue.length === 0) return await done;
		await changed;
		changed = new Promise<void>((resolve) => (notify = resolve));
	}
}
