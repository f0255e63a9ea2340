import type { IExecuteFunctions } from 'n8n-workflow';

import { toNodeError } from '../run/nodeErrors';
import { isToolRun } from '../run/nodeContext';

/**
 * Whether this execution shows text while it comes: its trigger streams, and the node does not run as a tool, whose
 * result goes to an agent and not to a person.
 */
export function isLive(context: IExecuteFunctions): boolean {
	return context.isStreaming() && !isToolRun(context);
}

/**
 * Runs `work` with a way to send text to n8n's chat or to the streaming webhook of this execution.
 *
 * n8n wants every run bracketed by `begin` and `end`, also when the work fails. An error that stops the node n8n
 * sends by itself; one that does not is sent as text, so that the person is not left without an answer.
 */
export async function withChatStream<T>(
	context: IExecuteFunctions,
	itemIndex: number,
	work: (sendText: (text: string) => void) => Promise<T>,
): Promise<T> {
	let held = '';

	function flush(): void {
		if (held !== '') context.sendChunk('item', itemIndex, held);
		held = '';
	}
	function sendText(text: string): void {
		held += text;
		// n8n's chat page drops chunks of white space: they travel with the text that follows.
		if (held.trim() !== '') flush();
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
