import { failureOf, outputItems } from '../n8n/execution';
import type { N8nClient, WorkflowRef } from '../n8n/N8nClient';
import { EXAMPLES } from '../n8n/readExample';
import { streamChat, type ChatLine } from '../n8n/streamChat';

/** How the chat example answered. */
export interface ChatAnswer {
	readonly question: string;
	readonly content: string;
	readonly usage: {
		readonly prompt_tokens: number;
		readonly completion_tokens: number;
		readonly total_tokens: number;
	};
	/** The pieces of text in the order in which they came over the webhook. */
	readonly pieces: readonly ChatLine[];
}

/**
 * Asks the active chat example a question over its public webhook.
 *
 * @param url Address of the chat.
 * @throws Error when the execution fails, or nothing was streamed.
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
	const pieces = lines.filter(({ type }) => type === 'item');
	const [answer] = outputItems(execution, EXAMPLES.chat.answer);
	if (answer === undefined || pieces.length < 2) throw new Error('The answer was not streamed');
	const { content, usage } = answer.json as unknown as ChatAnswer;
	return { question, content, usage, pieces };
}
