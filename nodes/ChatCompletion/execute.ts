import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { applyReply, startConversation } from '../client/chat/conversation';
import { readCallLimits, showOptions } from '../shared/chat/callOptions';
import { mapChats, showReply, type SendText } from '../shared/chat/chatStream';
import { askForReply, finishReply, readReplyOptions } from '../shared/chat/finishReply';
import { readMemoryKey, recall, rememberedItems } from '../shared/chat/memory';
import { readMessages } from '../shared/chat/messages';
import { readFallbacks, readRequestFields } from '../shared/chat/requestOptions';
import { readRetry } from '../shared/form/callOptions';
import { n8nService } from '../shared/run/host';

/** Limits of a single exchange: there is none. */
const NO_LIMITS = { maxRounds: Infinity, maxCalls: Infinity, maxRepeats: Infinity };

/**
 * Sends one request per item; with live streaming one item at a time, so that their texts do not mix. Items of the same
 * memory run one after another.
 */
export async function runChatCompletion(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const remembered = rememberedItems(context);
	const begin = () => async (item: number, sendText?: SendText) =>
		await remembered.once(
			item,
			readMemoryKey(context, item),
			async () => await runItem(context, item, sendText),
		);
	return await mapChats(context, begin, remembered.clear);
}

async function runItem(context: IExecuteFunctions, item: number, sendText?: SendText) {
	const service = await n8nService(context);
	// All is read before the call: a bad value must be found before it is paid for.
	const asked = readMessages(context, item, service);
	const fields = readRequestFields(context, item, service);
	const options = {
		stream: context.getNodeParameter('streaming', 0) !== 'off',
		...readCallLimits(context, item),
		retry: readRetry(context, item),
		fallbacks: readFallbacks(context, item, service),
		onDelta: showReply(sendText, {
			reasoning: showOptions.streamReasoning.read(context, item),
		}),
	};
	const wanted = readReplyOptions(context, item);
	const { messages, memory } = await recall(context, item, asked);
	const request = { messages, ...fields };
	const completion = await askForReply(context, service.http, request, wanted.format, options);
	// A reply with calls that the workflow has to run ends no turn.
	const conversation =
		memory && applyReply(startConversation(messages), completion, [], NO_LIMITS);
	return await finishReply(context, completion, 'reply', { ...wanted, memory, conversation });
}
