import type {
	EngineRequest,
	EngineResponse,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
} from 'n8n-workflow';

import { completeChat } from '../client/chat/completeChat';
import { applyReply } from '../client/chat/conversation';
import { liveText } from '../client/chat/liveText';
import { isJsonMode } from '../client/chat/readFields';
import { toChatResult } from '../client/chat/result';
import type { ChatRequest } from '../client/chat/types';
import { mapConcurrent } from '../client/concurrency';
import { isCancelled, ServiceError } from '../client/errors';
import type { HttpPort } from '../client/ports';
import { withRetry } from '../client/http/retry';
import { isLive, withChatStream } from '../shared/chat/chatStream';
import { inOneLine, toNodeError } from '../shared/run/nodeErrors';
import { n8nClock, n8nService } from '../shared/run/host';
import { isToolRun } from '../shared/run/nodeContext';
import { failureJson } from '../shared/run/mapItems';
import { fetchMedia, hintMissingMedia, withMedia } from '../shared/chat/replyMedia';
import { reportCall } from '../shared/chat/reportCall';
import { forTools } from '../shared/run/toolResult';
import { emitOutcomes, handOutCalls, linkForErrorOutput, noOutput, requestTools } from './outputs';
import { askAgain, isRetried } from './retryOnFail';
import { takeResponses, takeReturns } from './toolResults';
import { clearState, loadState, saveState, type AgentState, type ConversationSlot } from './state';
import { linkedCallOf } from './itemLinking';

/**
 * One run of Agent with Tools: begins conversations with new items, or takes what the branches bring back, and goes on
 * until calls have to leave or every conversation has its outcome.
 *
 * @param begin Makes the state for new items.
 */
export async function runAgent(
	context: IExecuteFunctions,
	begin: () => Promise<AgentState>,
	response?: EngineResponse,
): Promise<INodeExecutionData[][] | EngineRequest> {
	try {
		const result = await run(context, begin, response);
		if (!Array.isArray(result)) return result;
		hintMissingMedia(context, result.flat());
		return result.map((items) =>
			items.map((item) => ({ ...item, json: forTools(context, 'agent', item.json) })),
		);
	} catch (error) {
		const failure = toNodeError(context.getNode(), error, 0);
		throw isToolRun(context) ? inOneLine(failure) : failure;
	}
}

async function run(
	context: IExecuteFunctions,
	begin: () => Promise<AgentState>,
	response: EngineResponse | undefined,
): Promise<INodeExecutionData[][] | EngineRequest> {
	const known = loadState(context);
	if (known === undefined && isLate(context)) return noOutput(undefined);

	const state = known ?? saveState(context, await begin());
	if (response !== undefined && response.actionResponses.length > 0) {
		takeResponses(state, response, Date.now());
	} else if (state.open.length > 0 && !takeReturns(context, state, Date.now())) {
		return noOutput(state);
	}
	return await advance(context, state);
}

/**
 * Whether the items are what a branch brought back after its conversation had ended. Items that go back to several
 * others of this node are not: they are questions made of its answers.
 */
function isLate(context: IExecuteFunctions): boolean {
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
		// Results of other calls of this round are still on their way.
		if (state.open.length > 0) return noOutput(state);

		const request = requestTools(context, state, Date.now());
		if (request !== undefined) return request;

		const outputs = handOutCalls(state, Date.now());
		const asking = state.slots.filter(isAsking);
		if (state.open.length > 0) {
			const finished = state.settings.asTheyFinish ? state.slots.filter(isGood) : [];
			return emitOutcomes(state, finished, outputs);
		}
		if (asking.length === 0) {
			const due = state.slots.filter(({ emitted }) => !emitted);
			emitOutcomes(state, due, outputs);
			linkForErrorOutput(context, state, outputs);
			if (isRetried(context, state, outputs)) askAgain(due);
			else clearState(context);
			return outputs;
		}
		await askAll(context, state, asking);
	}
}

/** A failure that left beside calls would make n8n retry the node, and run the calls again. */
function isGood({ failure }: ConversationSlot): boolean {
	return failure === undefined;
}

function isAsking({ conversation, failure }: ConversationSlot): boolean {
	return failure === undefined && conversation?.phase.kind === 'asking';
}

/** Asks the model for every conversation that polls for it; what is answered stays answered when another one fails. */
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
			if (!context.continueOnFail() || isCancelled(error)) throw nodeError;
			slot.failure = withPartialResult(failureJson(nodeError, error), slot);
		}
	});
}

/** What was said before the failure, so that a person can go on from there. */
function withPartialResult(failure: IDataObject, { conversation }: ConversationSlot): IDataObject {
	const { rounds, messages } = conversation!;
	const details = { ...(failure['details'] as IDataObject), rounds, messages };
	return { ...failure, details };
}

async function ask(
	context: IExecuteFunctions,
	{ settings }: AgentState,
	slot: ConversationSlot,
	http: HttpPort,
): Promise<void> {
	const conversation = slot.conversation!;
	const request = { ...slot.request, ...toolFields(slot), messages: conversation.messages };
	const toText = liveText({ withReasoning: settings.streamReasoning });
	let seen = false;
	const complete = async (sendText?: (text: string) => void) =>
		await withRetry(
			n8nClock(context),
			settings.retry,
			async () =>
				await completeChat(http, request, {
					stream: settings.stream,
					idleTimeoutMs: settings.idleTimeoutMs,
					onText: (delta) => {
						const text = toText(delta);
						seen ||= text !== '';
						sendText?.(text);
					},
				}),
			() => sendText === undefined || !seen,
		);

	const completion = isLive(context)
		? await withChatStream(context, slot.item, complete)
		: await complete();
	reportCall(context, completion);
	const next = applyReply(conversation, completion, slot.tools, settings.limits);
	const bad = next.calls.find(({ round, failed }) => round === next.rounds && failed === true);
	if (bad !== undefined && settings.failOnBadCall) throw badCall(bad.name, bad.result ?? '');
	if (next.phase.kind === 'answered') {
		const json = settings.simplify
			? toChatResult(completion, { json: isJsonMode(request) })
			: { response: completion };
		slot.answer = withMedia({ json }, await fetchMedia(context, completion, settings.media));
	}
	slot.conversation = next;
}

/** The tools in every round; a call is required in the first one only, or the conversation could not end. */
function toolFields({ tools, request, conversation }: ConversationSlot): Partial<ChatRequest> {
	if (tools.length === 0) return { tool_choice: undefined };
	const isFirst = conversation!.rounds === 0;
	if (request['tool_choice'] !== 'required' || isFirst) return { tools };
	return { tools, tool_choice: 'auto' };
}

function badCall(name: string, result: string): ServiceError {
	return new ServiceError(
		'protocol',
		`The model asked for the tool ${name} in a way that cannot be run`,
		'Set Bad Tool Calls to Tell the Model, or describe the tool more clearly',
		{ serviceMessage: result },
	);
}
