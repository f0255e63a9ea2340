import type { EngineResponse, IExecuteFunctions, NodeOutput } from 'n8n-workflow';

import { applyReply, endedCalls, openCalls, type Conversation } from '../client/chat/conversation';
import { progressLine } from '../client/chat/toolCalls';
import { laterToolChoice } from '../client/chat/requestFields';
import { judge } from '../client/chat/verdict';
import { mapConcurrent } from '../client/concurrency';
import { isCanceled } from '../client/errors';
import { askForReply } from '../shared/chat/askForReply';
import { showNotice, toChatNotice, withChatStream, type SendText } from '../shared/chat/chatStream';
import { finishReply } from '../shared/chat/finishReply';
import { remember } from '../shared/chat/memory';
import { ignoreAlwaysOutputData, notesOf, sourceOf, wasResumed } from '../shared/engine/runs';
import { restOf } from '../shared/engine/rest';
import { signAgain } from '../shared/files/fileSource';
import { eventLoopTurn } from '../shared/engine/context';
import { nodeState } from '../shared/run/nodeContext';
import { stoppingError } from '../shared/run/nodeErrors';
import type { Run } from '../shared/run/run';
import { emit, hasOutcome, requestToolNodes, STOPPED_TEXTS, toBranchText } from './outputs';
import {
	askingSlots,
	branchCalls,
	failSlots,
	openFor,
	readAgain,
	type AgentState,
	type ConversationSlot,
} from './state';
import { applyToolResponses, receive } from './toolResults';

/**
 * One run of Agent with Tools: begins a conversation for each question, applies the results that came back from the
 * tools, and continues until tool calls have to leave the node or every conversation has its outcome.
 *
 * @param response Results of connected tool nodes, when n8n's engine has run them.
 * @returns The outputs; a request to run connected tool nodes; or null if this run was not needed and is not to be recorded.
 */
export async function runAgent(
	context: IExecuteFunctions,
	response?: EngineResponse,
): Promise<NodeOutput> {
	ignoreAlwaysOutputData(context);
	const stored = nodeState<AgentState>(context, 'agent');
	const execution = context.getExecutionId();
	const state =
		stored.get() ??
		stored.set({ batches: [], arrivals: 0, execution, conversations: 0, lost: [] });
	const { batches } = state;
	let opened = batches.at(-1);
	let run = await openFor(context, opened);
	try {
		const rest = restOf(context);
		if (rest.kind === 'later') return null;
		await readAgain(run, state);
		if (rest.kind === 'end') {
			const calls = branchCalls(state);
			const ran = toBranchText(run, calls);
			const note = [rest.note, ran].filter(Boolean).join('. ');
			if (!context.continueOnFail()) throw stoppingError(run, rest.error, note);
			const slots = calls.map(({ slot }) => slot);
			failSlots(run, slots, rest.own);
		} else if (rest.kind === 'retry') {
			batches.push(state.lost);
			const arrivals = state.arrivals + 1;
			Object.assign(state, { arrivals, source: sourceOf(context), lost: [] });
			const again = branchCalls(state).filter(({ record }) =>
				rest.isOlder(Number.parseInt(record.place!, 10)),
			);
			return emit(run, state, again);
		} else if (response !== undefined && response.actionResponses.length > 0) {
			const { metadata = {}, hints = [] } = state.notes ?? {};
			context.setMetadata(metadata);
			context.addExecutionHints(...hints);
			delete state.notes;
			applyToolResponses(state, response);
		} else if (!isRepeated(context, state)) {
			run = await receive(run, state);
			opened = batches.at(-1);
		}
		for (const batch of batches) {
			for (let slots = askingSlots(batch); slots.length > 0; slots = askingSlots(batch)) {
				if (batch !== opened) run = await openFor(context, batch);
				opened = batch;
				await askAll(run, slots);
			}
		}
		const request = requestToolNodes(context, state);
		if (request !== undefined) state.notes = notesOf(context);
		return request ?? emit(run, state);
	} catch (error) {
		if (!context.continueOnFail() || isCanceled(error)) throw stoppingError(run, error);
		// n8n would pass the input on as answers if the node threw with *On Error: Continue*.
		const going = state.batches.flat().filter((slot) => !hasOutcome(slot));
		failSlots(run, going, error);
		return emit(run, state);
	} finally {
		if (state.batches.length + state.lost.length === 0) stored.clear();
	}
}

/** Whether n8n runs the node again with the items of its last run: *Retry On Fail*, or after connected tool nodes. */
function isRepeated(context: IExecuteFunctions, { arrivals, source }: AgentState): boolean {
	const isSame = JSON.stringify(sourceOf(context)) === JSON.stringify(source);
	return wasResumed(context.getExecuteData()) || (arrivals > 0 && isSame);
}

/** Asks for the next reply of conversations, one after the other where a chat shows them. */
async function askAll(run: Run, slots: readonly ConversationSlot[]): Promise<void> {
	const limit = run.isLive ? 1 : slots[0]!.options!.concurrency;
	await mapConcurrent(slots, limit, (slot) => ask(run, slot), eventLoopTurn);
}

/**
 * Sends the next request of a conversation and applies the reply. Other replies that have arrived are kept when it fails.
 *
 * @throws NodeApiError or NodeOperationError unless the node continues on errors; then the conversation has a failure.
 */
async function ask(run: Run, slot: ConversationSlot): Promise<void> {
	const asking = slot as Required<ConversationSlot>;
	const { request, tools, conversation, options, streaming } = asking;
	const live = run.isLive && streaming !== 'off';
	const send = async (sendText?: SendText) => {
		for (const { name, failed } of endedCalls(conversation)) {
			const status = failed === true ? 'failed' : 'success';
			sendText?.(toChatNotice(progressLine({ type: 'tool_calls', tool: name, status })));
		}
		const later = conversation.rounds === 0 ? {} : laterToolChoice(request);
		const toolFields = tools.length === 0 ? { tool_choice: undefined } : { tools, ...later };
		const messages = signAgain(run, conversation.messages, asking.signed);
		const sent = { ...request, ...toolFields, messages };
		const completion = judge(
			await askForReply(run, sent, 'agent', { ...asking, sendText }),
			'agent',
		);
		const next = applyReply(conversation, completion, tools, options);
		for (const { name } of openCalls(next)) {
			const line = progressLine({ type: 'tool_start', tool: name, offset_ms: 0 });
			sendText?.(toChatNotice(line));
		}
		const { phase } = next;
		if (phase.kind === 'stopped') {
			const text = STOPPED_TEXTS[phase.reason];
			if (sendText) sendText(toChatNotice(text));
			else if (run.isLive) showNotice(run, slot.item, text);
		}
		const keep = async (ended: Conversation) => {
			await remember(run, slot.memory, ended);
		};
		const reply = { ...asking, conversation: next, keep, sendText };
		if (phase.kind === 'answered')
			slot.answer = await finishReply(run, completion, 'agent', reply);
		else if (phase.kind === 'stopped') await keep(next);
		slot.conversation = next;
	};
	await withChatStream(run, slot.item, live, send).catch((error: unknown) => {
		failSlots(run, [slot], error, live);
	});
}
