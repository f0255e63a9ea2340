import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { askAssistant } from '../client/chat/askAssistant';
import { askForJson, type JsonFormat } from '../client/chat/jsonReply';
import { liveText } from '../client/chat/sendChat';
import { progressLine } from '../client/chat/accumulator';
import type { ChatCompletion, ChatDelta, ChatRequest } from '../client/chat/types';
import { ServiceError } from '../client/errors';
import { withRetryUntil } from '../client/http/retry';
import { keyedMutex, readResult, settled, valueOf } from '../client/concurrency';
import { readCallLimits, showOptions } from '../shared/chat/callOptions';
import {
	readChatBatching,
	toChatNotice,
	withChatStream,
	type SendText,
} from '../shared/chat/chatStream';
import { finishReply, readOutput } from '../shared/chat/finishReply';
import { readMediaDownload, withMedia } from '../shared/chat/replyMedia';
import { hintMissingFiles } from '../shared/files/download';
import { reportCall } from '../shared/chat/reportCall';
import { readJsonFormat } from '../shared/chat/responseFormat';
import { readSafeRetry } from '../shared/form/callOptions';
import { ledgerOptions } from '../shared/ledger/ledgerOption';
import { clearCallLog } from '../shared/ledger/callLog';
import { openCalls } from '../shared/ledger/paidCalls';
import { hint } from '../shared/run/hints';
import { n8nClock } from '../shared/run/clock';
import { n8nService } from '../shared/run/host';
import { mapItems } from '../shared/run/mapItems';
import { errorLine } from '../shared/run/nodeErrors';
import { ASSISTANT_CALLS, openSession } from './sessionTable';
import { planCall, readRequest, type AssistantFields } from './input';

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
	const opened = await settled(
		openCalls(
			context,
			ASSISTANT_CALLS,
			planned.flatMap((each) => ('value' in each ? [each.value] : [])),
			{ isOn: ledgerOptions.callLedger.read(context, 0), smallestBatch: 1 },
		),
	);
	try {
		const items = await mapItems(
			context,
			() => ({ ...readChatBatching(context), calls: valueOf(opened) }),
			async (item, { live, calls }) => {
				const run = async (sendText?: SendText) => {
					const { fields } = valueOf(planned[item]!);
					const download = readMediaDownload(context, item);
					const output = readOutput(context, item);
					// All calls in a reply of an assistant have run.
					const read = readJsonFormat(context, item);
					const format = read && { ...read, hasRunAll: true };
					const send = async () => await ask(context, item, fields, format, sendText);
					const { result: reply } = await runExclusive(
						fields.sessionValue,
						async () => await calls.make(item, send),
					);
					const json = finishReply(context, reply, 'assistant', { format, output });
					return await withMedia(
						context,
						{ json, pairedItem: { item } },
						reply,
						download,
					);
				};
				return live ? await withChatStream(context, item, run) : await run();
			},
		);
		if (items.every(({ json }) => json['error'] === undefined)) clearCallLog(context);
		hintMissingFiles(context, items, 'media');
		return [items];
	} finally {
		if ('value' in opened) await opened.value.close();
	}
}

async function ask(
	context: IExecuteFunctions,
	item: number,
	fields: AssistantFields,
	format: JsonFormat | undefined,
	sendText: SendText | undefined,
): Promise<ChatCompletion> {
	const service = await n8nService(context);
	const request = readRequest(context, item, fields, service);
	const clock = n8nClock(context);
	const { limitMs, ...limits } = readCallLimits(context, item);
	// Also prevents a retry after text was shown: such a failure always has an unknown outcome.
	const retry = readSafeRetry(context, item);
	const options = {
		stream: context.getNodeParameter('streaming', 0) !== 'off',
		...limits,
		onDelta: sendText && showIn(context, item, sendText),
	};
	const session = await openSession(context, fields, limitMs);
	let sessionId = session.id;
	const events: unknown[] = [];
	const remember = async (sessionId = '') => {
		// The reply is paid for: a failure here must not lose it.
		await session.remember(sessionId).catch((error: unknown) => {
			hint(context, errorLine(error as Error));
		});
	};
	const send = async ({ messages, ...rest }: ChatRequest): Promise<ChatCompletion> => {
		const inSession = sessionId === undefined ? {} : { session_id: sessionId };
		// The assistant remembers the others.
		const sent = { ...inSession, ...rest, messages: messages.slice(-1) };
		const reply = await withRetryUntil(
			clock,
			service.http,
			{ limitMs, retry },
			async (http) => await askAssistant(http, clock, sent, options),
		);
		sessionId = reply.session_id ?? sessionId;
		events.push(...[reply['events'] ?? []].flat());
		reportCall(context, reply);
		return reply;
	};
	const completion = await askForJson(request, format, send).catch(async (error: unknown) => {
		// Also when the reply broke off: the assistant remembers what it did in the session.
		const { subject } = error instanceof ServiceError ? error.details : {};
		await remember(subject?.['session_id']);
		throw error;
	});
	await remember(sessionId);
	return events.length === 0 ? completion : { ...completion, events };
}

/** Shows the reply in the chat: text as it arrives, and tool progress as lines of their own between it. */
function showIn(context: IExecuteFunctions, item: number, sendText: SendText) {
	const toText = liveText({ withReasoning: showOptions.streamReasoning.read(context, item) });
	const withTools = showOptions.showInChat.read(context, item) === 'tools';
	return (delta: ChatDelta) => {
		for (const line of withTools ? delta.progress.map(progressLine) : [])
			if (line !== '') sendText(toChatNotice(line));
		sendText(toText(delta));
	};
}
