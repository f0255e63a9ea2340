import type { IExecuteFunctions } from 'n8n-workflow';

import { toNodeError } from '../run/nodeErrors';
import { readBatching } from '../form/batchOptions';
import type { Batching } from '../run/mapItems';
import { isToolRun } from '../run/nodeContext';

/**
 * Whether this execution shows text while it arrives: its trigger streams, and this is no tool run, whose result goes to
 * an agent.
 */
export function isLive(context: IExecuteFunctions): boolean {
	return context.isStreaming() && !isToolRun(context);
}

/** A line of text apart from the reply: the chat page shows Markdown, where a block quote is a paragraph of its own. */
export function toChatNotice(line: string): string {
	return `\n\n> ${line}\n\n`;
}

/** How the items of a chat node are processed. A live chat shows one reply after the other, so that texts do not mix. */
export function readChatBatching(
	context: IExecuteFunctions,
): Batching & { readonly live: boolean } {
	const live = context.getNodeParameter('streaming', 0) === 'auto' && isLive(context);
	return { ...readBatching(context), live, ...(live ? { concurrency: 1 } : {}) };
}

/**
 * Runs `work` with a function that sends text to n8n's chat, or to the streaming webhook of this execution.
 *
 * n8n requires a `begin` and an `end` chunk around the text, also when the work fails. An error that stops the node is
 * sent by n8n. With *On Error: Continue* nobody would send it, so its message is sent as text here.
 */
export async function withChatStream<T>(
	context: IExecuteFunctions,
	itemIndex: number,
	work: (sendText: (text: string) => void) => Promise<T>,
): Promise<T> {
	let buffered = '';

	function flush(): void {
		if (buffered !== '') context.sendChunk('item', itemIndex, buffered);
		buffered = '';
	}
	function sendText(text: string): void {
		buffered += text;
		// n8n's chat page drops chunks of white space only: they are sent with the text that follows.
		if (buffered.trim() !== '') flush();
	}
	function sendError(error: unknown): never {
		if (context.continueOnFail())
			sendText(toNodeError(context.getNode(), error, itemIndex).message);
		throw error;
	}

	context.sendChunk('begin', itemIndex);
	try {
		return await work(sendText).catch(sendError);
	} finally {
		flush();
		context.sendChunk('end', itemIndex);
	}
}
