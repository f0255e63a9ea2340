import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

import { postWebhook } from './postWebhook';

/** One line of a streamed response. */
export interface ChatLine {
	/** `begin` and `end` enclose the run of a node, `item` contains text, `error` a failure. */
	readonly type: 'begin' | 'item' | 'end' | 'error';
	readonly content?: string;
	/** Milliseconds since the request was sent. */
	readonly arrivedMs: number;
}

/**
 * Sends a message to the Chat Trigger of an active workflow and reads the streamed response to its end.
 *
 * @param url URL of the chat, see chatUrl.
 * @throws Error if the chat does not answer with status 200.
 */
export async function streamChat(url: string, question: string): Promise<readonly ChatLine[]> {
	const body = { action: 'sendMessage', sessionId: randomUUID(), chatInput: question };
	return await streamWebhook(url, body);
}

/**
 * Posts to the webhook of an active workflow and reads the streamed response to its end.
 *
 * @param onLine Called with each line when it arrives.
 * @param headers Login of the visitor, if the chat wants one.
 * @throws Error if the webhook does not answer with status 200.
 */
export async function streamWebhook(
	url: string,
	body: object,
	onLine: (line: ChatLine) => void = () => undefined,
	headers: Readonly<Record<string, string>> = {},
): Promise<readonly ChatLine[]> {
	const { data, sentAtMs } = await postWebhook<Readable>(url, body, 'stream', undefined, headers);
	return await readLines(data, sentAtMs, onLine);
}

/** URL of a hosted chat, for a browser or streamChat. */
export function chatUrl(n8nUrl: string, webhookId: string): string {
	return `${n8nUrl}/webhook/${webhookId}/chat`;
}

/** The text of all lines together. */
export function chatText(lines: readonly ChatLine[]): string {
	return lines.map(({ type, content = '' }) => (type === 'item' ? content : '')).join('');
}

async function readLines(
	stream: Readable,
	startMs: number,
	onLine: (line: ChatLine) => void,
): Promise<readonly ChatLine[]> {
	const lines: ChatLine[] = [];
	for await (const text of createInterface({ input: stream })) {
		if (text === '') continue;
		const { type, content } = JSON.parse(text) as Omit<ChatLine, 'arrivedMs'>;
		const line = { type, ...(content && { content }), arrivedMs: Date.now() - startMs };
		lines.push(line);
		onLine(line);
	}
	return lines;
}
