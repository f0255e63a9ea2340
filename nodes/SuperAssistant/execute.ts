import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { withJson, type JsonFormat } from '../client/chat/jsonReply';
import { userMessage } from '../client/chat/messages';
import { askAssistant, withRetries, type Chat } from '../client/chat/sendChat';
import type { ChatCompletion, ChatRequest } from '../client/chat/types';
import { keyedMutex, readResult, settled, valueOf } from '../client/concurrency';
import { emptyText, ServiceError } from '../client/errors';
import { readCallLimits, showOptions } from '../shared/chat/callOptions';
import { mapChats, showReply, type SendText } from '../shared/chat/chatStream';
import { finishReply, readReplyOptions, reportCall } from '../shared/chat/finishReply';
import { chatSession } from '../shared/chat/memory';
import { readImages } from '../shared/chat/messages';
import { appField, readChatFields } from '../shared/chat/requestOptions';
import { readSafeRetry, safeRetryGroup } from '../shared/form/callOptions';
import { clearCallLog } from '../shared/ledger/callLog';
import { ledgerOptions } from '../shared/ledger/ledgerOption';
import { openCalls } from '../shared/ledger/paidCalls';
import { n8nClock } from '../shared/run/clock';
import { n8nService } from '../shared/run/host';
import { readPromptText, readText } from '../shared/run/parameters';
import { ASSISTANT_CALLS, openSession } from './sessionTable';

/**
 * Calls the assistant once per item. Items of the same session run one after another; with live streaming all items do,
 * so that their texts do not mix.
 */
export async function runSuperAssistant(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const runExclusive = keyedMutex();
	const planned = context
		.getInputData()
		.map((_item, item) => readResult(() => planCall(context, item)));
	const sent = planned.flatMap((each) => ('value' in each ? [each.value] : []));
	const isOn = ledgerOptions.callLedger.read(context, 0);
	const opened = await settled(
		openCalls(context, ASSISTANT_CALLS, sent, { isOn, smallestBatch: 1 }),
	);
	const begin = () => {
		const calls = valueOf(opened);
		return async (item: number, sendText?: SendText) => {
			const { fields } = valueOf(planned[item]!);
			const { format: read, ...wanted } = readReplyOptions(context, item);
			// All calls in a reply of an assistant have run.
			const format = read && { ...read, hasRunAll: true };
			const send = async () => await ask(context, item, fields, format, sendText);
			const make = async () => await calls.make(item, send);
			const { result } = await runExclusive(fields.sessionValue, make);
			return await finishReply(context, result, 'assistant', { ...wanted, format });
		};
	};
	try {
		return await mapChats(context, begin, () => {
			clearCallLog(context);
		});
	} finally {
		if ('value' in opened) await opened.value.close();
	}
}

/**
 * An item's call before it is sent, see `PlannedCall`: also its fields, and the columns that a person wants to see.
 *
 * @throws The error of an expression, and InputError for a message that says nothing.
 */
export function planCall(context: IExecuteFunctions, item: number) {
	const text = (name: string) => readText(context, name, item);
	const chosen = text('session').trim();
	const chat = chosen === 'chat' ? chatSession(context, item) : '';
	// This Chat without a chat is a new session.
	const session = chosen !== 'chat' ? chosen : chat === '' ? 'new' : 'key';
	const valueField = session === 'id' ? 'sessionId' : 'sessionKey';
	const sessionValue = session === 'new' ? '' : chat || text(valueField).trim();
	const images = context.getNodeParameter('images.image', item, []);
	const app = text('appCode');
	const message = readPromptText(context, 'message', item, 'Message');
	const appCode = app.trim();
	return {
		/** Session is `new`, `id` or `key`, as a chat is one of them. */
		fields: { appCode, message, session, sessionValue },
		item,
		key: '',
		// Not what is sent: the signed URLs of binary files differ on every run.
		entered: JSON.stringify([app, message, session, sessionValue, images]),
		retryOutcomeUnknown: safeRetryGroup.options.retryOutcomeUnknown.read(context, item),
		row: {
			app_code: appCode,
			session_key: session === 'key' ? sessionValue : '',
			session_id: session === 'id' ? sessionValue : '',
			message: message.trim(),
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
	item: number,
	fields: ReturnType<typeof planCall>['fields'],
	format: JsonFormat | undefined,
	sendText: SendText | undefined,
): Promise<ChatCompletion> {
	const service = await n8nService(context);
	const app = appField(fields.appCode, service);
	const images = readImages(context, item, service);
	if (fields.message.trim() === '' && images.length === 0) throw emptyText('Message');
	// Without a session (spec 2.7).
	const request: ChatRequest = {
		...app,
		messages: [userMessage(fields.message, images)],
		...readChatFields(context, item),
	};
	const options = {
		stream: context.getNodeParameter('streaming', 0) !== 'off',
		...readCallLimits(context, item),
		retry: readSafeRetry(context, item),
		onDelta: showReply(sendText, {
			reasoning: showOptions.streamReasoning.read(context, item),
			tools: showOptions.showInChat.read(context, item) === 'tools',
		}),
	};
	const send = withRetries(n8nClock(context), service.http, options, askAssistant);
	const session = await openSession(context, fields, options.limitMs);
	let { id } = session;
	const events: unknown[] = [];
	const chat: Chat = async ({ messages, ...rest }) => {
		const inSession = id === undefined ? {} : { session_id: id };
		// The assistant remembers the others.
		const sent = { ...inSession, ...rest, messages: messages.slice(-1) };
		const reply = reportCall(context, await send(sent));
		id = reply.session_id ?? id;
		events.push(...[reply['events'] ?? []].flat());
		return reply;
	};
	const completion = await withJson(
		chat,
		format,
	)(request).catch(async (error: unknown) => {
		// Also when the reply broke off: the assistant remembers what it did in the session.
		const { subject } = error instanceof ServiceError ? error.details : {};
		await session.remember(subject?.['session_id']);
		throw error;
	});
	await session.remember(id);
	return events.length === 0 ? completion : { ...completion, events };
}
