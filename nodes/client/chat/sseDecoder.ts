import { createParser, type EventSourceMessage } from 'eventsource-parser';

import { ServiceError } from '../errors';

/** Memory limit for one event, far above those of the service: without line breaks an event never ends. */
const MAX_EVENT_CHARACTERS = 8 * 1024 * 1024;
/** Number of the latest events that a repeated one is recognized among. */
const MAX_REMEMBERED_EVENTS = 64;
/** After so many invalid lines the rest is not parsed: the parser creates an error for each of them. */
const MAX_INVALID_LINES = 1_000;
/** A line may also end in CR or CR LF: the parser looks for LF from each CR on, to the end of the chunk. */
const LINE_ENDS = /\r\n?/g;
/** Byte order marks before a line. */
const MARKS = /(?<=\n)\uFEFF/g;
/** Limit for a whole stream. */
const MAX_STREAM_BYTES = 128 * 1024 * 1024;

/**
 * Creates an incremental parser for the server-sent events of one stream (spec 6). Chunks may split lines, events and UTF-8
 * sequences anywhere. Synchronous on purpose: a promise per event costs more than parsing the event (bench: reading-streams).
 *
 * An event that a proxy delivers again is dropped: the same id with the same data, among the latest ones. Some servers give
 * all events one id: ids count until one comes again with other data.
 */
export function sseDecoder() {
	let events: EventSourceMessage[] = [];
	let isEventTooLarge = false;
	let invalidLines = 0;
	let totalBytes = 0;
	let last = '\n';
	const utf8 = new TextDecoder();
	const dataById = new Map<string, string>();
	let areIdsUnique = true;
	/** Repetitions of the first event: nobody knows yet whether all events have its id. */
	let undecided: EventSourceMessage[] = [];

	function add(event: EventSourceMessage): void {
		const { id = '', data } = event;
		const earlier = areIdsUnique && id !== '' ? dataById.get(id) : undefined;
		if (earlier === data) {
			if (dataById.size === 1) undecided.push(event);
			return;
		}
		if (earlier !== undefined) {
			areIdsUnique = false;
			events.push(...undecided);
		}
		if (id !== '') {
			undecided = [];
			dataById.set(id, data);
		}
		if (dataById.size > MAX_REMEMBERED_EVENTS) dataById.delete(dataById.keys().next().value!);
		events.push(event);
	}
	const parser = createParser({
		maxBufferSize: MAX_EVENT_CHARACTERS,
		onEvent: add,
		onError: ({ type }) => {
			isEventTooLarge ||= type === 'max-buffer-size-exceeded';
			invalidLines += 1;
		},
	});

	function parse(text: string): readonly EventSourceMessage[] {
		events = [];
		// A gateway that joins streams leaves the mark before a line, which would be lost with it.
		let lines = text;
		if (last === '\r' || text.includes('\r') || text.includes('\uFEFF'))
			lines = (last + text).replace(LINE_ENDS, '\n').replace(MARKS, '').slice(1);
		last = text.at(-1) ?? last;
		if (invalidLines < MAX_INVALID_LINES) parser.feed(lines);
		if (isEventTooLarge) throw tooLarge('An event of the stream');
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
			if (totalBytes > MAX_STREAM_BYTES) throw tooLarge('The reply');
			return parse(utf8.decode(bytes, { stream: true }));
		},
		/** Flushes the parser at the end of the stream: the blank line dispatches a last event, which may be truncated. */
		end: () => parse(`${utf8.decode()}\n\n`),
	};
}

function tooLarge(what: string): ServiceError {
	return new ServiceError('protocol', `${what} is too large`, 'checkAddressOrAskForLess', {
		outcomeUnknown: true,
	});
}
