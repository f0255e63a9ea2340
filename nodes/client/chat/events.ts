import { createParser, type EventSourceMessage } from 'eventsource-parser';

import { ServiceError } from '../errors';

/** No event of the service comes near this; it keeps a stream without line breaks from filling the memory. */
const MAX_EVENT_CHARACTERS = 8 * 1024 * 1024;
/** Nor does a whole reply. */
const MAX_STREAM_BYTES = 128 * 1024 * 1024;

/**
 * Decodes a server-sent event stream (spec 6). Chunks may split lines, events and UTF-8 sequences anywhere.
 *
 * @returns The events that came together, in lists: a turn of the event loop for each of them would take longer than reading it.
 * @throws ServiceError `protocol` when an event or the whole stream is too large.
 */
export async function* decodeEvents(
	bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly EventSourceMessage[]> {
	const ready: EventSourceMessage[] = [];
	let isOverfull = false;
	const parser = createParser({
		maxBufferSize: MAX_EVENT_CHARACTERS,
		onEvent: (event) => ready.push(event),
		onError: ({ type }) => (isOverfull ||= type === 'max-buffer-size-exceeded'),
	});
	const utf8 = new TextDecoder();
	let totalBytes = 0;
	for await (const chunk of bytes) {
		totalBytes += chunk.byteLength;
		if (totalBytes > MAX_STREAM_BYTES) throw tooLarge('The reply');
		parser.feed(utf8.decode(chunk, { stream: true }));
		if (isOverfull) throw tooLarge('An event of the stream');
		if (ready.length > 0) yield ready.splice(0);
	}
	// A server may end without the blank line that closes the last event: its data counts all the same.
	parser.feed(`${utf8.decode()}\n\n`);
	yield ready;
}

function tooLarge(what: string): ServiceError {
	return new ServiceError(
		'protocol',
		`${what} is too large`,
		'Check that the Base URL leads to the service, and ask for less in one call',
		{ unclear: true },
	);
}
