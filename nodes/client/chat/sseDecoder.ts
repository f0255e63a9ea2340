import { createParser, type EventSourceMessage } from 'eventsource-parser';

import { tooLarge } from '../http/request';

/** Memory limit for one event, far above those of the service: without line breaks an event never ends. */
const MAX_EVENT_CHARACTERS = 8 * 1024 * 1024;
/** After so many invalid lines the rest is not parsed: the parser creates an error for each of them. */
const MAX_INVALID_LINES = 1_000;
/** Limit for a whole stream. */
const MAX_STREAM_BYTES = 128 * 1024 * 1024;
/** With CR the parser looks from each line on for LF, to the end of what it gets. */
const PIECE_WITH_CR = 1_024;

/**
 * Creates an incremental parser for the server-sent events of one stream (spec 6). Chunks may split lines, events and UTF-8
 * sequences anywhere. Synchronous on purpose: a promise per event costs more than parsing the event (bench: reading-streams).
 */
export function sseDecoder() {
	let events: EventSourceMessage[] = [];
	let isEventTooLarge = false;
	let invalidLines = 0;
	let totalBytes = 0;
	const utf8 = new TextDecoder();
	const parser = createParser({
		maxBufferSize: MAX_EVENT_CHARACTERS,
		onEvent: (event) => events.push(event),
		onError: ({ type }) => {
			isEventTooLarge ||= type === 'max-buffer-size-exceeded';
			invalidLines += 1;
		},
	});

	function parse(text: string): readonly EventSourceMessage[] {
		events = [];
		const length = text.includes('\r') ? PIECE_WITH_CR : text.length;
		for (let at = 0; at < text.length && invalidLines < MAX_INVALID_LINES; at += length) {
			parser.feed(text.slice(at, at + length));
			if (isEventTooLarge) throw tooLarge('An event of the stream is too large');
		}
		return events;
	}

	return {
		/**
		 * Parses the next bytes and returns the events that they complete.
		 *
		 * @throws ServiceError `protocol` when an event or the whole stream is too large.
		 */
		feed(bytes: Uint8Array) {
			totalBytes += bytes.byteLength;
			if (totalBytes > MAX_STREAM_BYTES) throw tooLarge('The reply is too large');
			return parse(utf8.decode(bytes, { stream: true }));
		},
		/** Flushes the parser at the end of the stream: the blank line dispatches a last event, which may be truncated. */
		end: () => parse(`${utf8.decode()}\n\n`),
	};
}
