import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { withJson } from '../client/chat/jsonReply';
import { userMessage } from '../client/chat/messages';
import { askAssistant, withRetries, type Chat } from '../client/chat/sendChat';
import type { ChatCompletion, ChatRequest } from '../client/chat/types';
import { judge } from '../client/chat/verdict';
import { readResult, settled, valueOf } from '../client/concurrency';
import { emptyText, ServiceError } from '../client/errors';
import { shorten } from '../client/json';
import { mapChats, showReply, type SendText } from '../shared/chat/chatStream';
import { finishReply, reportCall } from '../shared/chat/finishReply';
import { itemsInOrder } from '../shared/chat/memory';
import { imageUrls } from '../shared/chat/messages';
import { toMedia } from '../shared/chat/replyMedia';
import { appField, optionalFields, requestQuota } from '../shared/chat/requestOptions';
import { toJsonFormat } from '../shared/chat/responseFormat';
import { readCall } from '../shared/form/callOptions';
import type { Paid } from '../shared/ledger/call';
import { clearCallLog } from '../shared/ledger/callLog';
import { ledgerOptions } from '../shared/ledger/ledgerOption';
import { openCalls } from '../shared/ledger/paidCalls';
import { n8nClock } from '../shared/run/nodeContext';
import { n8nService } from '../shared/run/host';
import { assistantForm } from './properties';
import { ASSISTANT_CALLS, openSession, readSession } from './sessionTable';

/**
 * Calls the assistant once per item. Items of the same session run one after another; with live streaming all items do,
 * so that their texts do not mix.
 */
export async function runSuperAssistant(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	// The ledger keeps the replies.
	const sessions = itemsInOrder<Paid<ChatCompletion>>(context, false);
	const items = [...context.getInputData().keys()];
	const planned = items.map((item) => readResult(() => planCall(context, item)));
	const sent = planned.flatMap((each) => ('value' in each ? [each.value.call] : []));
	// A call may wait for another one of its session.
	const ledger = { isOn: ledgerOptions.callLedger.read(context, 0), concurrency: 0 };
	const opened = await settled(openCalls(context, ASSISTANT_CALLS, sent, ledger));
	const begin = () => {
		const calls = valueOf(opened);
		return async (item: number, sendText?: SendText) => {
			const plan = valueOf(planned[item]!);
			const send = async () => await ask(context, plan, sendText);
			const make = async () => await calls.make(item, send);
			const key = plan.session.key ?? plan.session.id ?? '';
			const { result } = await sessions.once(item, key, make);
			return await finishReply(context, judge(result, 'assistant'), 'assistant', plan);
		};
	};
	try {
		return await mapChats(context, begin, () => {
			clearCallLog(context);
			sessions.clear();
		});
	} finally {
		if ('value' in opened) await opened.value.close();
	}
}

/** Characters of a message in the ledger, for a person: a call is recognized by a hash. n8n's tables have a common limit. */
const MAX_STORED_MESSAGE = 2_000;

/**
 * What the form of an item says, with its call before it is sent, see `PlannedCall`. Nothing is read later.
 *
 * @throws The error of an expression, and InputError that names the field with an invalid value.
 */
export function planCall(context: IExecuteFunctions, item: number) {
	const values = assistantForm.read(context, item);
	const { appCode, message, images, options } = values;
	const session = readSession(context, item, values);
	const format = toJsonFormat(values);
	return {
		...values,
		session,
		// All calls in a reply of an assistant have run.
		format: format && { ...format, hasRunAll: true },
		media: toMedia(options),
		call: {
			item,
			onConflict: 'reuse' as const,
			// Not what is sent: the signed URLs of binary files differ on every run.
			entered: [appCode, message, session, images],
			files: images,
			retryOutcomeUnknown: options.retries.retryOutcomeUnknown,
			row: {
				app_code: appCode.trim(),
				session_key: session.key ?? '',
				session_id: session.id ?? '',
				message: shorten(message.trim(), MAX_STORED_MESSAGE),
			},
		},
	};
}

/**
 * Sends the call of an item in its session, and there also the attempts to repair a reply in JSON.
 *
 * @throws InputError that names the field with an invalid value, and ServiceError as `askAssistant`.
 */
async function ask(
	context: IExecuteFunctions,
	plan: ReturnType<typeof planCall>,
	sendText: SendText | undefined,
): Promise<ChatCompletion> {
	const { message, streaming, format } = plan;
	const service = await n8nService(context);
	const app = appField(plan.appCode, service);
	const images = imageUrls(context, plan.call.item, service, plan.images);
	if (message.trim() === '' && images.length === 0) throw emptyText('Message');
	// Without a session (spec 2.7).
	const request: ChatRequest = {
		...app,
		messages: [userMessage(message, images)],
		...optionalFields(plan.options),
	};
	const call = readCall(context, plan.options);
	const show = { reasoning: streaming === 'reasoning', tools: streaming !== 'text' };
	const options = {
		...call,
		quota: requestQuota(context, plan.maximumRequests),
		stream: streaming !== 'off',
		// Never sent twice within one run, whatever the option says.
		retry: { ...call.retry, retryOutcomeUnknown: false },
		onDelta: showReply(sendText, show),
	};
	const send = withRetries(n8nClock(context), service.http, options, askAssistant);
	const session = await openSession(context, plan, options.limitMs);
	let { id } = session;
	const events: unknown[] = [];
	const chat: Chat = async ({ messages, ...rest }) => {
		const inSession = id === undefined ? {} : { session_id: id };
		// The assistant remembers the others.
		const question = { ...inSession, ...rest, messages: messages.slice(-1) };
		const reply = reportCall(context, await send(question));
		id = reply.session_id ?? id;
		events.push(...[reply['events'] ?? []].flat());
		return reply;
	};
	const sent = withJson(chat, format)(request);
	const completion = await sent.catch(async (error: unknown) => {
		// Also when the reply broke off: the assistant remembers what it did in the session.
		const { subject } = error instanceof ServiceError ? error.details : {};
		await session.remember(subject?.['session_id']);
		throw error;
	});
	await session.remember(id);
	return events.length === 0 ? completion : { ...completion, events };
}
