import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

import { nowMs } from './now';

/** How a streamed answer came in; times in milliseconds. */
export interface StreamTimes {
	/** From the request to the first chunk at the reader. */
	readonly firstWord: number;
	/** From the request to the moment at which the server sent the first chunk. */
	readonly untilSent: number;
	/** From the server to the reader: the median of the chunks after the first. */
	readonly perChunk: number;
}

/** When the server sent a chunk stands in its text (see answerChat). */
const STAMP = /\b(1[78]\d{11}\.\d{3})\b/;

/**
 * Posts and reads the answer line by line; a line may be a server-sent event or one of n8n's JSON lines.
 *
 * @throws Error when the answer carries less than two stamped chunks.
 */
export async function readStream(url: string, body: object): Promise<StreamTimes> {
	const { median } = await import('simple-statistics');
	const askedMs = nowMs();
	const response = await fetch(url, {
		method: 'POST',
		headers: { 'content-type': 'application/json', authorization: 'Bearer bench-key' },
		body: JSON.stringify(body),
	});
	const chunks: { sentMs: number; arrivedMs: number }[] = [];
	const stream = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
	for await (const line of createInterface({ input: stream })) {
		const stamp = STAMP.exec(line)?.[1];
		if (stamp !== undefined) chunks.push({ sentMs: Number(stamp), arrivedMs: nowMs() });
	}
	const [first, ...rest] = chunks;
	if (first === undefined || rest.length === 0) {
		throw new Error(`${url} did not stream (status ${response.status})`);
	}
	return {
		firstWord: first.arrivedMs - askedMs,
		untilSent: first.sentMs - askedMs,
		perChunk: median(rest.map(({ sentMs, arrivedMs }) => arrivedMs - sentMs)),
	};
}
