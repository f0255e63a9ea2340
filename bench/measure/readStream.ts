import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

import { nowMs } from '../server/answerChat';

/** Latencies of a streamed response, in milliseconds. */
export interface StreamTimes {
	/** From the request until the client has received the first chunk. */
	readonly firstToken: number;
	/** From the request until the server sends the first chunk. */
	readonly untilSent: number;
	/** From server to client; median of all chunks but the first. */
	readonly perChunk: number;
}

/** The time at which the server sent a chunk; answerChat writes it as the text of the chunk. */
const TIMESTAMP = /\b(1[78]\d{11}\.\d{3})\b/;

/**
 * Posts a request and reads the response line by line: server-sent events, or the JSON lines of n8n's streaming webhook.
 *
 * @throws Error if fewer than two chunks carry a timestamp.
 */
export async function readStream(url: string, body: object): Promise<StreamTimes> {
	const { median } = await import('simple-statistics');
	const requestMs = nowMs();
	const response = await post(url, body);
	const chunks: { sentMs: number; arrivedMs: number }[] = [];
	const stream = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
	for await (const line of createInterface({ input: stream })) {
		const stamp = TIMESTAMP.exec(line)?.[1];
		if (stamp !== undefined) chunks.push({ sentMs: Number(stamp), arrivedMs: nowMs() });
	}
	const [first, ...rest] = chunks;
	if (first === undefined || rest.length === 0) {
		throw new Error(`${url} did not stream (status ${response.status})`);
	}
	return {
		firstToken: first.arrivedMs - requestMs,
		untilSent: first.sentMs - requestMs,
		perChunk: median(rest.map(({ sentMs, arrivedMs }) => arrivedMs - sentMs)),
	};
}

/** Posts a request; returns the milliseconds until the whole response has arrived. */
export async function wholeMs(url: string, body: object): Promise<number> {
	const requestMs = nowMs();
	await (await post(url, body)).arrayBuffer();
	return nowMs() - requestMs;
}

async function post(url: string, body: object): Promise<Response> {
	return await fetch(url, {
		method: 'POST',
		headers: { 'content-type': 'application/json', authorization: 'Bearer bench-key' },
		body: JSON.stringify(body),
	});
}
