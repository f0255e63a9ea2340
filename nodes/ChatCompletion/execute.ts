import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { applyReply, startConversation } from '../client/chat/conversation';
import type { ChatRequest } from '../client/chat/types';
import { readCallLimits, showOptions } from '../shared/chat/callOptions';
import { readChatBatching, withChatStream, type SendText } from '../shared/chat/chatStream';
import { finishReply, readOutput } from '../shared/chat/finishReply';
import { readMediaDownload, withMedia } from '../shared/chat/replyMedia';
import { readMemoryKey, recall, remember, rememberedItems } from '../shared/chat/memory';
import { readMessages } from '../shared/chat/messages';
import { hintMissingFiles } from '../shared/files/download';
import { sendAndReport } from '../shared/chat/reportCall';
import { readFallbacks, readRequestFields } from '../shared/chat/requestOptions';
import { readJsonFormat } from '../shared/chat/responseFormat';
import { readRetry } from '../shared/form/callOptions';
import { n8nService } from '../shared/run/host';
import { keyedMutex } from '../client/concurrency';
import { mapItems } from '../shared/run/mapItems';

/** Limits of a single exchange: there is none. */
const NO_LIMITS = { maxRounds: Infinity, maxCalls: Infinity, maxRepeats: Infinity };

/**
 * Sends one request per item; with live streaming one item at a time, so that their texts do not mix. Items of the same
 * memory run one after another.
 */
export async function runChatCompletion(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const runExclusive = keyedMutex();
	const remembered = rememberedItems(context);
	const items = await mapItems(
		context,
		() => readChatBatching(context),
		async (item, { live }) => {
			const run = async (onText?: SendText) => {
				const key = readMemoryKey(context, item);
				const ask = async () => await runItem(context, item, onText);
				return await runExclusive(
					key,
					key === '' ? ask : async () => (remembered.items[item] ??= await ask()),
				);
			};
			return live ? await withChatStream(context, item, run) : await run();
		},
	);
	if (items.every(({ json }) => json['error'] === undefined)) remembered.clear();
	hintMissingFiles(context, items, 'media');
	return [items];
}

async function runItem(
	context: IExecuteFunctions,
	item: number,
	onText: SendText | undefined,
): Promise<INodeExecutionData> {
	const service = await n8nService(context);
	const asked = readMessages(context, item, service);
	const fields = readRequestFields(context, item, service);
	const options = {
		stream: context.getNodeParameter('streaming', 0) !== 'off',
		...readCallLimits(context, item),
		retry: readRetry(context, item),
		fallbacks: readFallbacks(context, item, service),
		showReasoning: showOptions.streamReasoning.read(context, item),
		onText,
	};
	// Read before the call: a bad value must be found before it is paid for.
	const download = readMediaDownload(context, item);
	const output = readOutput(context, item);
	const { messages, memory } = await recall(context, item, asked);
	const request: ChatRequest = { messages, ...fields };
	const format = readJsonFormat(context, item);
	const completion = await sendAndReport(context, service.http, request, format, options);
	const json = finishReply(context, completion, 'reply', { format, output });
	// A reply with calls that the workflow has to run ends no turn.
	const replied = applyReply(startConversation(messages), completion, [], NO_LIMITS);
	await remember(context, memory, replied);
	return await withMedia(context, { json, pairedItem: { item } }, completion, download);
}
