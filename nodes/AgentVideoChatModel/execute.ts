import type { ISupplyDataFunctions, SupplyData } from 'n8n-workflow';

import { addUsage } from '../client/chat/conversation';
import { checkMessages, restoreReplies } from '../client/chat/messages';
import { isJsonMode, laterToolChoice } from '../client/chat/requestFields';
import { usageOf, withReply } from '../client/chat/result';
import { sendChat, type SendOptions } from '../client/chat/sendChat';
import { callProblem, closeCalls, splitCalls, toReplay } from '../client/chat/toolCalls';
import type {
	ChatCompletion,
	ChatMessage,
	ChatRequest,
	ToolCall,
	Usage,
} from '../client/chat/types';
import { formOf, judge } from '../client/chat/verdict';
import { settled, valueOf } from '../client/concurrency';
import { InputError, ServiceError } from '../client/errors';
import { asJson, fromJson } from '../client/json';
import { oneLine } from '../client/values';
import {
	adapted,
	fileLinks,
	loadAiNodeSdk,
	toChatMessages,
	toChunks,
	toDeclaration,
	toolNames,
	toSdkResult,
	type AiNodeSdk,
	type SdkCall,
	type SdkChatModel,
	type SdkChunk,
	type SdkTool,
} from '../shared/chat/aiNodeSdk';
import { imageUrls } from '../shared/chat/askForReply';
import { shownInStream, withoutKey } from '../shared/chat/chatStream';
import { CUT_MARK } from '../shared/chat/finishReply';
import { bindingFields, imagesField } from '../shared/chat/properties';
import { boundFields, callFields, modelRequestFields } from '../shared/chat/requestOptions';
import { readCall, retryFields } from '../shared/form/callOptions';
import { changed, form, notice, options } from '../shared/form/form';
import { forVisitor, inOneLine, toNodeError, visitorText } from '../shared/run/nodeErrors';
import { openRun, type Run } from '../shared/run/run';

/** The form of Agent Video Chat Model, without what the connected agent or chain sets. */
export const chatModelForm = form({
	...bindingFields,
	assistantNotice: notice(
		'Do not enter the code of a super assistant, which runs its tools itself: use the Super Assistant node for it.',
		{ displayOptions: { show: { answeredBy: ['app'] } } },
	),
	images: changed(imagesField, {
		description:
			'Images to add to the last user message, in place of those that the agent passes on without a URL. Binary fields are read from the item of the agent or chain.',
	}),
	options: options({ ...modelRequestFields, ...retryFields, ...callFields }),
});

/**
 * Supplies the chat model that the fields describe to the connected agent or chain.
 *
 * @throws NodeOperationError when a field has an invalid value.
 */
export async function supplyChatModel(
	context: ISupplyDataFunctions,
	itemIndex: number,
): Promise<SupplyData> {
	const run = await openRun(context);
	try {
		const sdk = loadAiNodeSdk();
		const service = run.service();
		const values = chatModelForm.read(run, itemIndex);
		// Agents and chains ask for their model once, with the first item.
		const isOfItem = /"source":"binary"|(^|:)"=/.test(
			JSON.stringify(run.node.parameters['images'] ?? ''),
		);
		if (isOfItem && run.mainItems().length > 1)
			throw new InputError(
				'Images',
				'would be those of the first item',
				'Use Loop Over Items',
			);
		const request = boundFields(values, service);
		const model = chatModel(run, {
			sdk,
			hasApp: service.hasApp,
			request,
			...readCall(run, values.options),
			images: imageUrls(run, itemIndex, values.images),
		});
		return adapted(sdk.supplyModel(context, model), isJsonMode(request));
	} catch (error) {
		const failure = toNodeError(run, error, itemIndex);
		const message = visitorText(failure);
		inOneLine(failure);
		// n8n sends the message to a streaming chat. The owner finds the description in the panel of this node.
		if (run.isStreamed && run.reader === 'visitor') Object.assign(failure, { message });
		throw failure;
	}
}

/** Settings that all calls of a chat model share. */
interface ChatModelSettings extends Omit<SendOptions, 'stream'> {
	readonly sdk: AiNodeSdk;
	/** The request without messages and tools. */
	readonly request: Omit<ChatRequest, 'messages'>;
	/** URLs of the images to attach to the last user message. */
	readonly images: readonly string[];
}

/** Maximum number of replies stored for `restoreReplies`. n8n does not report when an agent has finished with them. */
const MAX_STORED_REPLIES = 200;
/** The tool by which an agent of n8n with an output parser answers. */
const ANSWER_TOOL = 'format_final_json_response';
const INVALID_HINT = 'Describe the tools more clearly, or choose another model';
/** How often the model is told that none of its calls can be run, before that is an error. */
const MAX_CORRECTIONS = 3;

/** A reply whose text says that it was cut off. */
function withCutMark(reply: ChatCompletion): ChatCompletion {
	const choice = reply.choices[0]!;
	const content = `${choice.message.content ?? ''}${CUT_MARK}`;
	return { ...reply, choices: [{ ...choice, message: { ...choice.message, content } }] };
}

/** The service's chat as a chat model for n8n's agents and chains. */
export function chatModel(
	run: Run,
	settings: ChatModelSettings,
	tools: readonly SdkTool[] = [],
): SdkChatModel {
	const { sdk, request: fields, images } = settings;
	const { http, baseUrl, ...service } = run.service();
	/** Which images may stay, where a chat shows the text. */
	const isKnown = run.isDrawn ? service.isKnown : undefined;
	const own = tools.map(({ name }) => name);
	/** The names in what is sent and received. */
	const names = toolNames(own);
	const renamed = (calls: readonly ToolCall[], from: readonly string[], to: readonly string[]) =>
		calls.map(({ function: called, ...call }) => {
			const name = to[from.indexOf(called.name)] ?? called.name;
			return { ...call, function: { ...called, name } };
		});
	const isRunnable = ({ function: called }: ToolCall) =>
		tools.length === 0 || callProblem(called, names) === undefined;
	/** The replies that ask for tools, in the form in which `restoreReplies` sends them back: the agent only has its own copies. */
	const replies = () => run.state<readonly ChatMessage[]>('replies');

	const declare = (tool: SdkTool, index: number) =>
		toDeclaration(sdk, { ...tool, name: names[index]! });

	function toRequest([messages, call = {}]: SdkCall): ChatRequest {
		const stop = call.stop ?? call.stopSequences;
		// LangChain's word.
		const choice = call.tool_choice === 'any' ? 'required' : call.tool_choice;
		const said = toChatMessages(messages, images).map(({ tool_calls: calls, ...message }) =>
			calls ? { ...message, tool_calls: renamed(calls, own, names) } : message,
		);
		const restored = restoreReplies(said, replies().get() ?? []);
		const isLater = restored.at(-1)?.role === 'tool' && !names.includes(ANSWER_TOOL);
		const closed = closeCalls(restored, names).map(asJson);
		return {
			...fields,
			...(isLater && laterToolChoice(fields)),
			...(choice && { tool_choice: choice }),
			...(stop && { stop }),
			...(tools.length > 0 && { tools: tools.map(declare) }),
			messages: checkMessages(closed, 'Messages', { allowPrivate: true }),
		};
	}

	/** Sends the messages until the reply is an answer, or has a call that the agent can run. */
	async function converse(call: SdkCall, onDelta?: SendOptions['onDelta']) {
		// Also what nobody sees: some models only stream.
		const options = { ...settings, stream: true, onDelta };
		const chat = sendChat(run.clock, http, options);
		let request = toRequest(call);
		const { messages } = request;
		let usage: Usage | undefined;
		for (let left = MAX_CORRECTIONS; ; left -= 1) {
			const hasTools = tools.length > 0;
			const sent = await chat(request);
			// Who reads a page sees how far it goes; a workflow, or a parser, would take it for whole.
			const isShown = isKnown !== undefined && !own.includes(ANSWER_TOOL);
			const isCut = isShown && formOf(sent, 'model', hasTools) === 'cut';
			const completion = judge(
				isCut ? withCutMark(sent) : sent,
				isCut ? 'reply' : 'model',
				false,
				hasTools,
			);
			if (isCut) onDelta?.({ content: CUT_MARK, reasoning: '', progress: [] });
			usage = addUsage(usage, usageOf(completion));
			const reply = { ...completion, ...(usage && { usage }) };
			const stored = replies().get() ?? [];
			const choice = completion.choices[0]!;
			const prefix = `call_${stored.length + 1}`;
			// The agent takes a repeated ID for answered, and asks again; the reply of another item would be restored by it.
			const taken = [...stored, ...messages].flatMap(({ tool_calls: calls = [] }) =>
				calls.map(({ id }) => id),
			);
			const { asked } = splitCalls(choice.message, false, prefix, taken);
			const [first] = asked;
			if (first === undefined) return reply;
			const said = toReplay(choice.message, asked);
			// Some agents would ask the same again, or run the tool with other arguments: `closeCalls` answers the others.
			const tool_calls = renamed(said.tool_calls!.filter(isRunnable), names, own);
			if (tool_calls.length > 0) {
				replies().set([...stored, said].slice(-MAX_STORED_REPLIES));
				const message = { ...choice.message, ...fromJson<object>(asJson(said)) };
				return { ...reply, choices: [{ ...choice, message: { ...message, tool_calls } }] };
			}
			if (left === 0) {
				const message = `The model made an invalid call to the tool ${oneLine(first.function.name)}`;
				const error = new ServiceError('protocol', message, INVALID_HINT);
				throw withReply(error, asJson(completion));
			}
			request = { ...request, messages: closeCalls([...request.messages, said], names) };
		}
	}

	const send: typeof converse = async (...args) =>
		await converse(...args).catch((error: unknown) => {
			const failure = toNodeError(run, error, 0);
			// n8n sends the description to a streaming chat.
			if (run.isStreamed && run.reader === 'visitor') throw forVisitor(failure);
			const { serviceMessage = '' } = error instanceof ServiceError ? error.details : {};
			// With *On Error: Continue* n8n's agents and chains output nothing but the message, which a refusal has anyway.
			const isSaid = failure.message.endsWith(`: ${oneLine(serviceMessage)}`);
			if (run.reader !== 'visitor' && serviceMessage !== '' && !isSaid)
				failure.message += `: ${run.withoutSecrets(serviceMessage)}`;
			throw failure;
		});

	const keys = run.isAwaited ? run.keys : [];
	const toShown = (text: string) => withoutKey({ keys }, text);
	return {
		provider: 'agent-video',
		modelId: String(fields.model ?? fields.app_code ?? 'default'),
		generate: async (...call) => toSdkResult(await send(call), baseUrl, isKnown, toShown),
		async *stream(...call) {
			const shown = shownInStream(keys, isKnown);
			const deltas = new TransformStream<SdkChunk>(undefined, undefined, {
				highWaterMark: Infinity,
			});
			const writer = deltas.writable.getWriter();
			const add = (delta: string) => {
				if (delta !== '') void settled(writer.write({ type: 'text-delta', delta }));
				return delta !== '';
			};
			const sent = send(call, ({ content }) => add(shown(content)));
			const outcome = settled(sent).then((ended) => {
				add(shown('', 'error' in ended ? 'broken' : 'whole'));
				void settled(writer.close());
				return ended;
			});
			yield* deltas.readable;
			const completion = valueOf(await outcome);
			const links = toShown(fileLinks(completion, baseUrl));
			if (links !== '') yield { type: 'text-delta', delta: links };
			yield* toChunks(toSdkResult(completion, baseUrl), false);
		},
		withTools: (more) => chatModel(run, settings, [...tools, ...more]),
	};
}
