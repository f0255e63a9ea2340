import { NodeConnectionTypes, type INodeExecutionData } from 'n8n-workflow';

import { applyReply, startConversation, type Conversation } from '../client/chat/conversation';
import { toKeep, withMemory } from '../client/chat/messages';
import type { ChatMessage } from '../client/chat/types';
import { judge } from '../client/chat/verdict';
import { InputError } from '../client/errors';
import { withoutFileData } from '../client/fileTypes';
import { objectOf, type JsonValue } from '../client/json';
import { isBlank, shown } from '../client/values';
import { askForReply, readQuestion } from '../shared/chat/askForReply';
import { mapChats, type SendText } from '../shared/chat/chatStream';
import { finishReply } from '../shared/chat/finishReply';
import { itemsInTurn, memoryKeyOf, recall, remember, startOfTurn } from '../shared/chat/memory';
import {
	bindingFields,
	inputFields,
	memoryFields,
	memoryMessagesField,
	promptImagesField,
	replyFields,
	replyOptions,
} from '../shared/chat/properties';
import { callFields, requestFields } from '../shared/chat/requestOptions';
import { batchingFields, chatRetryFields } from '../shared/form/callOptions';
import { formatFields } from '../shared/chat/schemaForm';
import { choice, form, options } from '../shared/form/form';
import { errorLine } from '../shared/run/nodeErrors';
import type { Run } from '../shared/run/run';

/** The form of Chat Completion. */
export const chatForm = form({
	...bindingFields,
	...inputFields,
	...memoryFields,
	...formatFields,
	images: promptImagesField,
	...replyFields,
	options: options({
		emptyReply: choice('If Reply Is Empty', {
			choices: [
				['Error', 'error', 'The item fails'],
				[
					'Output',
					'output',
					'The output is empty: the application answers nothing on purpose',
				],
			],
			default: 'error',
			help: 'What happens if the reply has no text, no file and no tool call',
			displayOptions: { show: { '/answeredBy': ['app'] } },
		}),
		...replyOptions,
		...requestFields,
		memoryMessages: memoryMessagesField,
		...batchingFields,
		...chatRetryFields,
		...callFields,
	}),
});

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
				recall(run, key, memoryMessages, asked, inTurn.ids));
			const mayBeEmpty = values.answeredBy === 'app' && emptyReply === 'output';
			const format = question.format && { ...question.format, mayBeEmpty };
			const asking = { ...values, ...question, format, sendText };
			const request = { messages: conversation.messages, ...question.request };
			const sent = await askForReply(run, request, 'reply', asking);
			const reply = judge(sent, 'reply', mayBeEmpty, question.request.tools !== undefined);
			// A reply with calls that the workflow has to run ends no turn.
			const next = applyReply(conversation, reply, []);
			const keep = async (ended: Conversation, drawn: string) => {
				await (node?.remember(asked, ended, drawn) ?? remember(run, memory, ended));
			};
			const taking = { ...asking, conversation: next, keep };
			return await finishReply(run, reply, 'reply', taking);
		});
	};
	return await mapChats(run, work, inTurn.clear);
}

/** What a memory node of n8n supplies: a memory of LangChain, for the session of an item. */
interface LangChainMemory {
	/** The messages are in its only field. */
	loadMemoryVariables(values: object): Promise<Record<string, readonly LangChainMessage[]>>;
	saveContext(asked: { input: string }, said: { output: string }): Promise<void>;
}

interface LangChainMessage {
	getType(): string;
	readonly content: JsonValue;
}

const ROLES: Readonly<Record<string, ChatMessage['role']>> = {
	human: 'user',
	ai: 'assistant',
	system: 'system',
};

/** What is kept of a question that is only images. */
const ONLY_IMAGES = '[question without text]';

/**
 * The memory node that is connected to the node. It keeps texts: of other nodes it may have more, which is left out.
 *
 * @param key Key of the item's own memory.
 * @returns Undefined if there is none.
 * @throws InputError if the item has a memory of its own as well, and the error of the memory node.
 */
async function readMemoryNode(run: Run, item: number, key: string) {
	const { context } = run;
	const type = NodeConnectionTypes.AiMemory;
	// As a tool, the node has no inputs.
	if (context.getNodeInputs().every((input) => input.type !== type)) return undefined;
	const supplied = await context.getInputConnectionData(type, item);
	const memory = supplied as LangChainMemory | undefined;
	if (memory === undefined) return undefined;
	const hint = 'Set Memory to None, or remove the memory node';
	if (key !== '') throw new InputError('Memory', 'is set, but a memory node is connected', hint);
	return {
		/** All items of the execution: only the memory node knows their sessions. */
		key: `execution ${context.getExecutionId()}`,
		/**
		 * Begins a conversation with the remembered messages and those of an item.
		 *
		 * @throws InputError as `startOfTurn`, and the error of the memory node.
		 */
		async recall(asked: readonly ChatMessage[]) {
			startOfTurn(asked);
			const found = Object.values(await memory.loadMemoryVariables({})).flat();
			const remembered = found.flatMap((message): ChatMessage[] => {
				const role = ROLES[message.getType()];
				const content = messageText(message.content);
				return role === undefined || isBlank(content) ? [] : [{ role, content }];
			});
			const conversation = startConversation(withMemory(remembered, asked));
			return { conversation, memory: undefined };
		},
		/**
		 * Saves the question and the reply of a conversation that has ended, which n8n's chat page draws when it is opened again. A
		 * failure is a hint and does not lose the reply.
		 */
		async remember(asked: readonly ChatMessage[], { phase }: Conversation, drawn: string) {
			if (phase.kind !== 'answered') return;
			const reply: ChatMessage = { role: 'assistant', content: drawn };
			const turn = toKeep([...asked.slice(startOfTurn(asked)), reply], () => false);
			const questions = turn.filter(({ role }) => role === 'user');
			const said = questions.map(({ content }) => messageText(content)).join('\n\n');
			const input = withoutFileData(said) || ONLY_IMAGES;
			const output = messageText(turn.at(-1)!.content);
			const saved = memory.saveContext({ input }, { output });
			await saved.catch((error: unknown) => {
				run.hint(`The next message will not know this reply. ${errorLine(error as Error)}`);
			});
		},
	};
}

/** The text of a message, whose content may be a list of parts. */
function messageText(content: unknown): string {
	return [content ?? '']
		.flat()
		.map((part) => (typeof part === 'string' ? part : shown(objectOf(part)['text'] ?? '')))
		.join('');
}
