import { createParser, type EventSourceMessage } from 'eventsource-parser';

/**
 * Decodes a server-sent event stream (spec 6). Chunks may split lines, events and UTF-8 sequences anywhere.
 */
export async function* decodeEvents(
	bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<EventSourceMessage> {
	const ready: EventSourceMessage[] = [];
	const parser = createParser({ onEvent: (event) => ready.push(event) });
	const utf8 = new TextDecoder();
	for await (const chunk of bytes) {
		parser.feed(utf8.decode(chunk, { stream: true }));
		yield* ready.splice(0);
	}
	// A server may end without the blank line that closes the last event: its data counts all the same.
	parser.feed(`${utf8.decode()}\n\n`);
	yield* ready;
}
