import type {
	EngineRequest,
	EngineResponse,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
} from 'n8n-workflow';

import { applyReply } from '../client/chat/conversation';
import { isJsonMode } from '../client/chat/readFields';
import { toChatResult } from '../client/chat/result';
import type { ChatRequest } from '../client/chat/types';
import { mapConcurrent } from '../client/concurrency';
import { isCanceled, ServiceError } from '../client/errors';
import type { HttpPort } from '../client/ports';
import { isLive, withChatStream } from '../shared/chat/chatStream';
import { fetchMedia, hintMissingMedia, withMedia } from '../shared/chat/replyMedia';
import { reportCall } from '../shared/chat/reportCall';
import { sendChat } from '../shared/chat/sendChat';
import { toDataObject } from '../shared/run/dataObject';
import { n8nClock, n8nService } from '../shared/run/host';
import { failedItems, failureJson, stoppingError } from '../shared/run/mapItems';
import { toNodeError } from '../shared/run/nodeErrors';
import { forTools } from '../shared/run/toolResult';
import { beginAgent } from './begin';
import { linkedCallOf } from './itemLinking';
import { emitCalls, emitOutcomes, linkForErrorOutput, noOutput, requestToolNodes } from './outputs';
import { prepareRetry, willBeRetried } from './retryOnFail';
import { agentState, type AgentState, type ConversationSlot } from './state';
import { applyReturnedItems, applyToolResponses } from './toolResults';

/**
 * One run of Agent with Tools: begins a conversation per input item, or applies the results that came back from the
 * tools, and continues until tool calls have to leave the node or every conversation has its outcome.
 *
 * @param response Results of connected tool nodes, when n8n's engine has run them.
 */
export async function runAgent(
	context: IExecuteFunctions,
	response?: EngineResponse,
): Promise<INodeExecutionData[][] | EngineRequest> {
	try {
		const result = await run(context, response);
		if (!Array.isArray(result)) return result;
		hintMissingMedia(context, result.flat());
		return result.map((items) =>
			items.map((item) => ({ ...item, json: forTools(context, 'agent', item.json) })),
		);
	} catch (error) {
		// n8n would pass the input on as answers if the node threw with *On Error: Continue*.
		const hasBegun = agentState(context).get() !== undefined;
		if (hasBegun || !context.continueOnFail() || isCanceled(error)) {
			throw stoppingError(context, error);
		}
		const [, ...others] = noOutput(undefined);
		return [failedItems(context, error), ...others];
	}
}

async function run(
	context: IExecuteFunctions,
	response: EngineResponse | undefined,
): Promise<INodeExecutionData[][] | EngineRequest> {
	const stored = agentState(context);
	const underWay = stored.get();
	if (underWay === undefined && isLateReturn(context)) return noOutput(undefined);

	const state = underWay ?? stored.set(await beginAgent(context));
	if (response !== undefined && response.actionResponses.length > 0) {
		applyToolResponses(state, response, Date.now());
	} else if (state.open.length > 0 && !applyReturnedItems(context, state, Date.now())) {
		return noOutput(state);
	}
	return await advance(context, state);
}

/**
 * Whether all items are results of tool calls whose conversation has ended already. Items that are linked to several
 * items of this node are not: they are new questions, made from its answers.
 */
function isLateReturn(context: IExecuteFunctions): boolean {
	const items = context.getInputData();
	return (
		items.length > 0 &&
		items.every((_item, index) => linkedCallOf(context, index).kind === 'call')
	);
}

async function advance(
	context: IExecuteFunctions,
	state: AgentState,
): Promise<INodeExecutionData[][] | EngineRequest> {
	for (;;) {
		// Results of other calls of this round have not come back yet.
		if (state.open.length > 0) return noOutput(state);

		const request = requestToolNodes(context, state, Date.now());
		if (request !== undefined) return request;

		const outputs = emitCalls(state, Date.now());
		if (state.open.length > 0) {
			// No failures together with tool calls: Retry On Fail would run the node again and repeat the calls.
			const good = state.slots.filter(({ failure }) => failure === undefined);
			return emitOutcomes(state, state.settings.asTheyFinish ? good : [], outputs);
		}
		const asking = state.slots.filter(isAsking);
		if (asking.length === 0) {
			const due = state.slots.filter(({ emitted }) => !emitted);
			emitOutcomes(state, due, outputs);
			linkForErrorOutput(context, state, outputs);
			if (willBeRetried(context, state, outputs)) prepareRetry(state, due);
			else agentState(context).clear();
			return outputs;
		}
		await askAll(context, state, asking);
	}
}

function isAsking({ conversation, failure }: ConversationSlot): boolean {
	return failure === undefined && conversation?.phase.kind === 'asking';
}

/** Sends the next request of every conversation. Replies that have arrived are kept when another request fails. */
async function askAll(
	context: IExecuteFunctions,
	state: AgentState,
	asking: ConversationSlot[],
): Promise<void> {
	const { http } = await n8nService(context);
	const concurrency = isLive(context) ? 1 : state.settings.concurrency;
	await mapConcurrent(asking, concurrency, async (slot) => {
		try {
			await ask(context, state, slot, http);
		} catch (error) {
			const nodeError = toNodeError(context.getNode(), error, slot.item);
			if (!context.continueOnFail() || isCanceled(error)) throw nodeError;
			slot.failure = withConversation(failureJson(nodeError, error), slot);
		}
	});
}

/** Adds the conversation so far to the details of a failure, so that a user can continue it from there. */
function withConversation(failure: IDataObject, { conversation }: ConversationSlot): IDataObject {
	const { rounds, messages } = conversation!;
	const details = { ...(failure['details'] as IDataObject), rounds, messages };
	return { ...failure, details: toDataObject(details) };
}

/** Sends the messages of a conversation and applies the reply to it. */
async function ask(
	context: IExecuteFunctions,
	{ settings }: AgentState,
	slot: ConversationSlot,
	http: HttpPort,
): Promise<void> {
	const conversation = slot.conversation!;
	const request = { ...slot.request, ...toolFields(slot), messages: conversation.messages };
	const { stream, idleTimeoutMs, retry, showReasoning } = settings;
	const send = async (onText?: (text: string) => void) =>
		await sendChat(n8nClock(context), http, request, {
			stream,
			idleTimeoutMs,
			retry,
			showReasoning,
			onText,
		});

	const completion = isLive(context)
		? await withChatStream(context, slot.item, send)
		: await send();
	reportCall(context, completion);
	const next = applyReply(conversation, completion, slot.tools, settings.limits);
	const invalid = next.calls.find(
		({ round, invalid: isInvalid }) => round === next.rounds && isInvalid === true,
	);
	if (invalid !== undefined && settings.failOnInvalidCall) {
		throw invalidCall(invalid.name, invalid.result ?? '');
	}
	if (next.phase.kind === 'answered') {
		const json = settings.simplify
			? toChatResult(completion, { json: isJsonMode(request) })
			: { response: completion };
		slot.answer = withMedia(
			{ json: toDataObject(json) },
			await fetchMedia(context, completion, settings.media),
		);
	}
	slot.conversation = next;
}

/** The tools, in every round. The choice `required` holds for the first round only: otherwise the loop never ends. */
function toolFields({ tools, request, conversation }: ConversationSlot): Partial<ChatRequest> {
	if (tools.length === 0) return { tool_choice: undefined };
	const isFirst = conversation!.rounds === 0;
	if (request['tool_choice'] !== 'required' || isFirst) return { tools };
	return { tools, tool_choice: 'auto' };
}

function invalidCall(name: string, problem: string): ServiceError {
	return new ServiceError(
		'protocol',
		`The model made an invalid call to the tool ${name}`,
		'Set Invalid Tool Calls to Return Error to Model, or describe the tool more clearly',
		{ serviceMessage: problem },
	);
}
