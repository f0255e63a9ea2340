import type { IExecuteFunctions } from 'n8n-workflow';

import { toNodeError, visitorText } from '../run/nodeErrors';
import { readBatching } from '../form/callOptions';
import type { ItemOptions } from '../run/mapItems';
import { isToolRun } from '../run/nodeContext';
import { readOutput } from './finishReply';

/** Sends text to the chat of this execution. */
export type SendText = (text: string) => void;

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
): ItemOptions & { readonly live: boolean } {
	const live = context.getNodeParameter('streaming', 0) === 'auto' && isLive(context);
	return {
		...readBatching(context),
		live,
		...(live ? { concurrency: 1 } : {}),
		hasDetails: (item) => readOutput(context, item) !== 'simple',
	};
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
	work: (sendText: SendText) => Promise<T>,
): Promise<T> {
	let buffered = '';
	let isDue = false;

	function flush(): void {
		isDue = false;
		if (buffered !== '') context.sendChunk('item', itemIndex, buffered);
		buffered = '';
	}
	function sendText(text: string): void {
		buffered += text;
		// n8n's chat page drops chunks of white space only: they are sent with the text that follows.
		if (isDue || !/\S/.test(text)) return;
		isDue = true;
		// After all events that have arrived together: n8n handles each chunk by itself.
		void Promise.resolve().then(flush);
	}
	context.sendChunk('begin', itemIndex);
	try {
		return await work(sendText).catch((error: unknown) => {
			if (context.continueOnFail()) {
				const failure = toNodeError(context.getNode(), error, itemIndex);
				sendText(toChatNotice(visitorText(failure)));
			}
			throw error;
		});
	} finally {
		flush();
		context.sendChunk('end', itemIndex);
	}
}

/** Shows the failure of an item that nothing was shown of. With *On Error: Continue* nobody else does. */
export function showFailure(
	context: IExecuteFunctions,
	itemIndex: number,
	error: ReturnType<typeof toNodeError>,
): void {
	context.sendChunk('begin', itemIndex);
	context.sendChunk('item', itemIndex, toChatNotice(visitorText(error)));
	context.sendChunk('end', itemIndex);
}
