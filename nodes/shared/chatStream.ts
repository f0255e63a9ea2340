import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * Runs `work` with a way to send text to n8n's chat or to the streaming webhook of this execution.
 *
 * n8n wants every run bracketed by `begin` and `end`, also when the work fails.
 */
export async function withChatStream<T>(
	context: IExecuteFunctions,
	itemIndex: number,
	work: (sendText: (text: string) => void) => Promise<T>,
): Promise<T> {
	context.sendChunk('begin', itemIndex);
	try {
		return await work((text) => {
			if (text !== '') context.sendChunk('item', itemIndex, text);
		});
	} finally {
		context.sendChunk('end', itemIndex);
	}
}
