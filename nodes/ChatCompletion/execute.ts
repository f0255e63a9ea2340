import type { INodeExecutionData } from 'n8n-workflow';

import { applyReply, type Conversation } from '../client/chat/conversation';
import { judge } from '../client/chat/verdict';
import { askForReply, readQuestion } from '../shared/chat/askForReply';
import { mapChats, type SendText } from '../shared/chat/chatStream';
import { finishReply } from '../shared/chat/finishReply';
import { itemsInTurn, memoryKeyOf, recall, remember } from '../shared/chat/memory';
import type { Run } from '../shared/run/run';
import { readMemoryNode } from './memoryNode';
import { chatForm } from './properties';

/** Limits of a single exchange: there is none. */
const NO_LIMITS = { maxRounds: Infinity, maxCalls: Infinity, maxRepeats: Infinity };

/**
 * Sends one request per item; with live streaming one item at a time, so that their texts do not mix. Items of the same
 * memory run one after another.
 */
export async function runChatCompletion(run: Run): Promise<INodeExecutionData[][]> {
	const inTurn = itemsInTurn<INodeExecutionData>(run);
	const work = async (item: number, sendText?: SendText) => {
		const values = chatForm.read(run, item);
		const key = memoryKeyOf(run, item, values);
		const node = await readMemoryNode(run, item, key);
		return await inTurn.ask(item, node?.key ?? key, async () => {
			const { asked, ...question } = readQuestion(run, item, values);
			const { memoryMessages, emptyReply } = values.options;
			const { conversation, memory } = await (node?.recall(asked) ??
				recall(run, key, memoryMessages, asked));
			const asking = { ...values, ...question, sendText };
			const request = { messages: conversation.messages, ...question.request };
			const sent = await askForReply(run, request, 'reply', asking);
			const mayBeEmpty = values.answeredBy === 'app' && emptyReply === 'output';
			const reply = judge(sent, 'reply', mayBeEmpty, question.request.tools !== undefined);
			// A reply with calls that the workflow has to run ends no turn.
			const next = applyReply(conversation, reply, [], NO_LIMITS);
			const keep = async (ended: Conversation) => {
				await (node?.remember(ended) ?? remember(run, memory, ended));
			};
			const taking = { ...asking, conversation: next, keep };
			return await finishReply(run, reply, 'reply', taking);
		});
	};
	return await mapChats(run, work, inTurn.clear);
}
