import { createParser, type EventSourceMessage } from 'eventsource-parser';

import { ServiceError } from '../errors';

/** No event of the service comes near this; it keeps a stream without line breaks from filling the memory. */
const MAX_EVENT_CHARACTERS = 8 * 1024 * 1024;
/** Nor does a whole reply. */
const MAX_STREAM_BYTES = 128 * 1024 * 1024;

/** A server-sent event stream (spec 6) while its bytes come in; they may split lines, events and UTF-8 sequences anywhere. */
export interface SseDecoder {
	/**
	 * The events that these bytes complete.
	 *
	 * @throws ServiceError `protocol` when an event or the whole stream is too large.
	 */
	feed(bytes: Uint8Array): readonly EventSourceMessage[];
	/** What is left when the bytes are over. */
	end(): readonly EventSourceMessage[];
}

/** A decoder at the beginning of a stream. It gives events by the piece: a promise for each would cost more than its text. */
export function sseDecoder(): SseDecoder {
	let ready: EventSourceMessage[] = [];
	let isOverfull = false;
	const parser = createParser({
		maxBufferSize: MAX_EVENT_CHARACTERS,
		onEvent: (event) => ready.push(event),
		onError: ({ type }) => (isOverfull ||= type === 'max-buffer-size-exceeded'),
	});
	const utf8 = new TextDecoder();
	let totalBytes = 0;

	function parse(text: string): readonly EventSourceMessage[] {
		ready = [];
		parser.feed(text);
		if (isOverfull) throw tooLarge('An event of the stream');
		return ready;
	}

	return {
		feed(bytes) {
			totalBytes += bytes.byteLength;
			if (totalBytes > MAX_STREAM_BYTES) throw tooLarge('The reply');
			return parse(utf8.decode(bytes, { stream: true }));
		},
		// A server may end without the blank line that closes the last event: its data counts all the same.
		end: () => parse(`${utf8.decode()}\n\n`),
	};
}

function tooLarge(what: string): ServiceError {
	return new ServiceError(
		'protocol',
		`${what} is too large`,
		'Check that the Base URL leads to the service, and ask for less in one call',
		{ outcomeUnknown: true },
	);
}
