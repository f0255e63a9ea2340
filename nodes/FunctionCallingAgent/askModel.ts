import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { applyReply, closeOpenCalls, openCalls } from '../client/chat/conversation';
import { laterToolChoice } from '../client/chat/tools';
import { progressLine } from '../client/chat/toolProgress';
import type { ChatRequest } from '../client/chat/types';
import { mapConcurrent } from '../client/concurrency';
import { isCanceled, ServiceError } from '../client/errors';
import { asJson } from '../client/json';
import { oneLine } from '../client/values';
import type { HttpPort } from '../client/ports';
import {
	isLive,
	showFailure,
	toChatNotice,
	withChatStream,
	type SendText,
} from '../shared/chat/chatStream';
import { finishReply } from '../shared/chat/finishReply';
import { remember } from '../shared/chat/memory';
import { withMedia } from '../shared/chat/replyMedia';
import { sendAndReport } from '../shared/chat/reportCall';
import { eventLoopTurn } from '../shared/run/clock';
import { n8nService } from '../shared/run/host';
import { failureJson } from '../shared/run/mapItems';
import { toNodeError } from '../shared/run/nodeErrors';
import type { AgentSettings } from './properties';
import { STOPPED_TEXTS } from './outputs';
import { hasDetails, type Batch, type ConversationSlot } from './state';

/**
 * Sends the next request of these conversations of a batch, and applies the replies. Replies that have arrived are kept
 * when another request fails.
 *
 * @throws NodeApiError or NodeOperationError unless the node continues on errors; then the conversation has a failure.
 */
export async function askModel(
	context: IExecuteFunctions,
	{ settings }: Batch,
	asking: readonly ConversationSlot[],
): Promise<void> {
	const { http } = await n8nService(context);
	const concurrency = isLive(context) ? 1 : settings!.concurrency;
	const one = async (slot: ConversationSlot) => {
		try {
			const run = async (onText?: SendText) => {
				await ask(context, settings!, slot, http, onText);
			};
			await (isLive(context) ? withChatStream(context, slot.item, run) : run());
		} catch (error) {
			failSlot(context, slot, error, true);
		}
	};
	await mapConcurrent(asking, concurrency, one, eventLoopTurn);
}

/**
 * Fails a conversation: its output is the error. With the output Detailed or Raw it has the conversation so far, so that a user can
 * continue it from there.
 *
 * @param isShown Whether a streaming chat has shown the error.
 * @throws NodeApiError or NodeOperationError unless the node continues on errors, and when the execution is canceled.
 */
export function failSlot(
	context: IExecuteFunctions,
	slot: ConversationSlot,
	error: unknown,
	isShown = false,
): void {
	const nodeError = toNodeError(context.getNode(), error, slot.item);
	if (!context.continueOnFail() || isCanceled(error)) throw nodeError;
	if (!isShown && isLive(context)) showFailure(context, slot.item, nodeError);
	const failure: IDataObject = failureJson(context, nodeError, error, hasDetails(slot));
	if (slot.conversation !== undefined) {
		const { rounds, messages } = closeOpenCalls(slot.conversation, 'the conversation failed');
		failure['details'] = asJson({
			...(failure['details'] as IDataObject),
			rounds,
			...(hasDetails(slot) ? { messages } : {}),
		});
	}
	slot.failure = failure;
}

async function ask(
	context: IExecuteFunctions,
	settings: AgentSettings,
	slot: ConversationSlot,
	http: HttpPort,
	onText: SendText | undefined,
): Promise<void> {
	const conversation = slot.conversation!;
	const request = { ...slot.request, ...toolFields(slot), messages: conversation.messages };
	const completion = await sendAndReport(context, http, request, slot.format, {
		...settings,
		fallbacks: slot.fallbacks,
		onText,
	});
	const next = applyReply(conversation, completion, slot.tools, settings.limits);
	for (const { name } of settings.showTools ? openCalls(next) : []) {
		const line = progressLine({ type: 'tool_start', tool: name, offset_ms: 0 });
		onText?.(toChatNotice(line));
	}
	if (next.phase.kind === 'stopped') onText?.(toChatNotice(STOPPED_TEXTS[next.phase.reason]));
	const invalid = next.calls.find(
		({ round, invalid: isInvalid }) => round === next.rounds && isInvalid === true,
	);
	if (invalid !== undefined && settings.failOnInvalidCall) {
		throw new ServiceError(
			'protocol',
			`The model made an invalid call to the tool ${oneLine(invalid.name)}`,
			'Set Invalid Tool Calls to Return Error to Model, or describe the tool more clearly',
			{ serviceMessage: invalid.result ?? '', partial: asJson(completion) },
		);
	}
	if (next.phase.kind === 'answered') {
		const { format, output } = slot;
		const json = finishReply(context, completion, 'agent', { format, output });
		slot.answer = await withMedia(context, { json }, completion, settings.media);
	}
	slot.conversation = next;
	await remember(context, slot.memory, next);
}

/** The tools, in every round. */
function toolFields({ tools, request, conversation }: ConversationSlot): Partial<ChatRequest> {
	if (tools.length === 0) return { tool_choice: undefined };
	return { tools, ...(conversation!.rounds === 0 ? {} : laterToolChoice(request)) };
}
