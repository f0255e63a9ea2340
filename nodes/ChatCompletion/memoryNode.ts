import { NodeConnectionTypes } from 'n8n-workflow';

import { startConversation, type Conversation } from '../client/chat/conversation';
import { lastTurn, toKeep, withMemory } from '../client/chat/messages';
import type { ChatMessage } from '../client/chat/types';
import { InputError } from '../client/errors';
import { objectOf, type JsonValue } from '../client/json';
import { isBlank, shown } from '../client/values';
import { errorLine } from '../shared/run/nodeErrors';
import type { Run } from '../shared/run/run';

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
const NO_TEXT = '[question without text]';

/**
 * The memory node that is connected to the node. It keeps texts: of other nodes it may have more, which is left out.
 *
 * @param key Key of the item's own memory.
 * @returns Undefined if there is none.
 * @throws InputError if the item has a memory of its own as well, and the error of the memory node.
 */
export async function readMemoryNode(run: Run, item: number, key: string) {
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
		/** Begins a conversation with the remembered messages and those of an item. */
		async recall(asked: readonly ChatMessage[]) {
			const found = Object.values(await memory.loadMemoryVariables({})).flat();
			const remembered = found.flatMap((message): ChatMessage[] => {
				const role = ROLES[message.getType()];
				const content = textOf(message.content);
				return role === undefined || isBlank(content) ? [] : [{ role, content }];
			});
			const conversation = startConversation(withMemory(remembered, asked));
			return { conversation, memory: undefined };
		},
		/** Saves the question and the reply of a conversation that has ended. A failure is a hint and does not lose the reply. */
		async remember({ messages, phase }: Conversation) {
			if (phase.kind !== 'answered') return;
			const turn = toKeep(messages.slice(lastTurn(messages)), () => false);
			const asked = turn.filter(({ role }) => role === 'user');
			const input = asked.map(({ content }) => textOf(content)).join('\n\n');
			const output = textOf(turn.at(-1)!.content);
			const saved = memory.saveContext({ input: input || NO_TEXT }, { output });
			await saved.catch((error: unknown) => {
				run.hint(`The next message will not know this reply. ${errorLine(error as Error)}`);
			});
		},
	};
}

/** The text of a message, whose content may be a list of parts. */
function textOf(content: unknown): string {
	return [content ?? '']
		.flat()
		.map((part) => (typeof part === 'string' ? part : shown(objectOf(part)['text'] ?? '')))
		.join('');
}
