import { failureOf, outputItems } from '../n8n/execution';
import type { N8nClient, WorkflowRef } from '../n8n/N8nClient';
import { EXAMPLES } from '../n8n/readExample';
import { streamChat, type ChatLine } from '../n8n/streamChat';

/** The answer of the chat example. */
export interface ChatAnswer {
	readonly question: string;
	readonly output: string;
	readonly usage: {
		readonly prompt_tokens: number;
		readonly completion_tokens: number;
		readonly total_tokens: number;
	};
	/** The chunks of text in the order of their arrival. */
	readonly chunks: readonly ChatLine[];
}

/**
 * Sends a question to the active chat example through its public webhook.
 *
 * @param url URL of the chat.
 * @throws Error if the execution fails or the answer was not streamed.
 */
export async function runChat(
	n8n: N8nClient,
	workflow: WorkflowRef,
	{ url, question }: { readonly url: string; readonly question: string },
): Promise<ChatAnswer> {
	const lines = await streamChat(url, question);
	const execution = await n8n.lastExecution(workflow);
	if (execution.status !== 'success') {
		throw new Error(`The chat ended with status ${execution.status}. ${failureOf(execution)}`);
	}
	const chunks = lines.filter(({ type }) => type === 'item');
	const [answer] = outputItems(execution, EXAMPLES.chat.answer);
	if (answer === undefined || chunks.length < 2) throw new Error('The answer was not streamed');
	const { output, usage } = answer.json as unknown as ChatAnswer;
	return { question, output, usage, chunks };
}
