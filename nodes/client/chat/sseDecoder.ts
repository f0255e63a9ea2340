import { createParser, type EventSourceMessage } from 'eventsource-parser';

import { ServiceError } from '../errors';

/** Memory limit for one event, far above those of the service: without line breaks an event never ends. */
const MAX_EVENT_CHARACTERS = 8 * 1024 * 1024;
/** Limit for a whole stream. */
const MAX_STREAM_BYTES = 128 * 1024 * 1024;

/** Incremental parser for server-sent events (spec 6). Chunks may split lines, events and UTF-8 sequences anywhere. */
export interface SseDecoder {
	/**
	 * Parses the next bytes and returns the events that they complete.
	 *
	 * @throws ServiceError `protocol` when an event or the whole stream is too large.
	 */
	feed(bytes: Uint8Array): readonly EventSourceMessage[];
	/** Flushes the parser at the end of the stream. */
	end(): readonly EventSourceMessage[];
}

/**
 * Creates a decoder for one stream. Synchronous on purpose: a promise per event costs more than parsing the event
 * (bench: reading-streams).
 */
export function sseDecoder(): SseDecoder {
	let events: EventSourceMessage[] = [];
	let isEventTooLarge = false;
	const parser = createParser({
		maxBufferSize: MAX_EVENT_CHARACTERS,
		onEvent: (event) => events.push(event),
		onError: ({ type }) => (isEventTooLarge ||= type === 'max-buffer-size-exceeded'),
	});
	const utf8 = new TextDecoder();
	let totalBytes = 0;

	function parse(text: string): readonly EventSourceMessage[] {
		events = [];
		parser.feed(text);
		if (isEventTooLarge) throw tooLarge('An event of the stream');
		return events;
	}

	return {
		feed(bytes) {
			totalBytes += bytes.byteLength;
			if (totalBytes > MAX_STREAM_BYTES) throw tooLarge('The reply');
			return parse(utf8.decode(bytes, { stream: true }));
		},
		// The blank line dispatches a last event that the server did not terminate.
		end: () => parse(`${utf8.decode()}\n\n`),
	};
}

function tooLarge(what: string): ServiceError {
	return new ServiceError(
		'protocol',
		`${what} is too large`,
		'Check the Base URL in the Agent Video API credential, and request less in one call',
		{ outcomeUnknown: true },
	);
}
