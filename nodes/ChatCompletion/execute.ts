import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { applyReply, startConversation, type Conversation } from '../client/chat/conversation';
import { mapChats, showReply, type SendText } from '../shared/chat/chatStream';
import { askForReply, finishReply } from '../shared/chat/finishReply';
import { itemsInOrder, memoryKeyOf, recall, remember } from '../shared/chat/memory';
import { readMessages } from '../shared/chat/messages';
import { toMedia } from '../shared/chat/replyMedia';
import { boundFields, toFallbacks } from '../shared/chat/requestOptions';
import { toJsonFormat } from '../shared/chat/responseFormat';
import { readCall } from '../shared/form/callOptions';
import { n8nService } from '../shared/run/host';
import { chatForm } from './properties';

/** Limits of a single exchange: there is none. */
const NO_LIMITS = { maxRounds: Infinity, maxCalls: Infinity, maxRepeats: Infinity };

/**
 * Sends one request per item; with live streaming one item at a time, so that their texts do not mix. Items of the same
 * memory run one after another.
 */
export async function runChatCompletion(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const remembered = itemsInOrder<INodeExecutionData>(context, true);
	const begin = () => async (item: number, sendText?: SendText) => {
		const values = chatForm.read(context, item);
		const key = memoryKeyOf(context, item, values);
		const { options, output, streaming } = values;
		return await remembered.once(item, key, async () => {
			const service = await n8nService(context);
			const asked = readMessages(context, item, service, values);
			const fields = boundFields(values, service);
			const wanted = { output, format: toJsonFormat(values), media: toMedia(options) };
			const call = {
				stream: streaming !== 'off',
				...readCall(context, options),
				maximumRequests: values.maximumRequests,
				fallbacks: toFallbacks(values, options.retries.fallbacks, service),
				onDelta: showReply(sendText, { reasoning: streaming === 'reasoning' }),
				node: 'reply' as const,
				format: wanted.format,
				mayBeEmpty: values.answeredBy === 'app' && values.emptyReply === 'output',
			};
			const { messages, memory } = await recall(context, key, options.memoryMessages, asked);
			const request = { messages, ...fields };
			const completion = await askForReply(context, service.http, request, call);
			// A reply with calls that the workflow has to run ends no turn.
			const conversation =
				memory && applyReply(startConversation(messages), completion, [], NO_LIMITS);
			const keep = async (ended: Conversation) => {
				await remember(context, memory, ended);
			};
			const reply = { ...wanted, conversation, keep };
			return await finishReply(context, completion, 'reply', reply);
		});
	};
	return await mapChats(context, begin, remembered.clear);
}
