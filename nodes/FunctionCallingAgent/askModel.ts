import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { applyReply, closeOpenCalls, openCalls } from '../client/chat/conversation';
import { isJsonMode } from '../client/chat/readFields';
import { toChatResult } from '../client/chat/result';
import { progressLine } from '../client/chat/toolProgress';
import type { ChatCompletion, ChatRequest } from '../client/chat/types';
import { mapConcurrent } from '../client/concurrency';
import { isCanceled, ServiceError } from '../client/errors';
import { asJson } from '../client/json';
import type { HttpPort } from '../client/ports';
import { isLive, toChatNotice, withChatStream } from '../shared/chat/chatStream';
import { fetchMedia, withMedia } from '../shared/chat/replyMedia';
import { reportCall } from '../shared/chat/reportCall';
import { sendChat } from '../shared/chat/sendChat';
import { toDataObject } from '../shared/run/dataObject';
import { n8nClock, n8nService } from '../shared/run/host';
import { failureJson } from '../shared/run/mapItems';
import { toNodeError } from '../shared/run/nodeErrors';
import type { AgentSettings } from './options';
import type { Batch, ConversationSlot } from './state';

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
	await mapConcurrent(asking, concurrency, async (slot) => {
		try {
			await ask(context, settings!, slot, http);
		} catch (error) {
			if (!context.continueOnFail() || isCanceled(error)) {
				throw toNodeError(context.getNode(), error, slot.item);
			}
			failSlot(context, slot, error);
		}
	});
}

/**
 * Fails a conversation: its output is the error. The details have the conversation so far, so that a user can continue it
 * from there.
 */
export function failSlot(context: IExecuteFunctions, slot: ConversationSlot, error: unknown): void {
	const failure: IDataObject = failureJson(
		toNodeError(context.getNode(), error, slot.item),
		error,
	);
	if (slot.conversation !== undefined) {
		const { rounds, messages } = closeOpenCalls(slot.conversation, 'the conversation failed');
		failure['details'] = toDataObject({
			...(failure['details'] as IDataObject),
			rounds,
			messages,
		});
	}
	slot.failure = failure;
}

async function ask(
	context: IExecuteFunctions,
	settings: AgentSettings,
	slot: ConversationSlot,
	http: HttpPort,
): Promise<void> {
	const conversation = slot.conversation!;
	const request = { ...slot.request, ...toolFields(slot), messages: conversation.messages };
	const { stream, idleTimeoutMs, retry, showReasoning, showTools } = settings;
	async function exchange(onText?: (text: string) => void) {
		const completion = await sendChat(n8nClock(context), http, request, {
			stream,
			idleTimeoutMs,
			retry,
			showReasoning,
			onText,
		});
		const next = applyReply(conversation, completion, slot.tools, settings.limits);
		for (const { name } of showTools ? openCalls(next) : []) {
			const line = progressLine({ type: 'tool_start', tool: name, offset_ms: 0 });
			onText?.(toChatNotice(line));
		}
		if (next.phase.kind === 'stopped') {
			onText?.(toChatNotice(`Stopped without an answer: ${next.phase.reason}`));
		}
		return { completion, next };
	}

	const { completion, next } = isLive(context)
		? await withChatStream(context, slot.item, exchange)
		: await exchange();
	reportCall(context, completion);
	const invalid = next.calls.find(
		({ round, invalid: isInvalid }) => round === next.rounds && isInvalid === true,
	);
	if (invalid !== undefined && settings.failOnInvalidCall) {
		throw invalidCall(invalid.name, invalid.result ?? '');
	}
	if (next.phase.kind === 'answered') {
		if (!hasText(completion)) throw noAnswer(completion);
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

function hasText({ choices }: ChatCompletion): boolean {
	return /\S/.test(choices[0]!.message.content ?? '');
}

/** The error for a reply with neither text nor calls that can be run, such as one that was cut off in a call. */
function noAnswer(completion: ChatCompletion): ServiceError {
	const { finish_reason: reason } = completion.choices[0]!;
	return new ServiceError(
		'protocol',
		'The model replied with neither an answer nor a tool call',
		`The reply ended with the finish reason ${String(reason ?? null)}. Try again, or shorten the conversation`,
		{ partial: asJson(completion) },
	);
}

function invalidCall(name: string, problem: string): ServiceError {
	return new ServiceError(
		'protocol',
		`The model made an invalid call to the tool ${name}`,
		'Set Invalid Tool Calls to Return Error to Model, or describe the tool more clearly',
		{ serviceMessage: problem },
	);
}
