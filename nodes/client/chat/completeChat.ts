import { createParser, type EventSourceMessage } from 'eventsource-parser';

import { ServiceError, type AdviceCode } from '../errors';
import { transportError, type Endpoint } from '../http/failures';
import {
	bodyError,
	errorDetails,
	errorIn,
	excerpt,
	readJsonObject,
	reportedError,
	send,
	tooLarge,
	unexpectedResponse,
} from '../http/request';
import {
	asJson,
	exceededBound,
	fromJson,
	isJsonObject,
	objectOf,
	parseJsonObject,
	type JsonObject,
} from '../json';
import type { HttpPort, HttpResponse } from '../ports';
import { isBlank } from '../values';
import { applyChunk, isFinished, startAccumulator, toCompletion } from './accumulator';
import { readMessage, readReason, stringOf, withThoughtsApart } from './replyMessage';
import { withReply } from './result';
import { objectsOf } from './toolCalls';
import type { ChatCompletion, ChatDelta, ChatRequest } from './types';

const END_OF_STREAM = '[DONE]';
const EVENT_STREAM = /^text\/event-stream\b/i;
/** How a stream of events begins, and how much of a body tells so. */
const STREAM_HEAD = /^(:|(data|event|id|retry):)/;
const HEAD_CHARACTERS = 6;
/** A chunk that was cut off, in front or behind: a word that keeps the connection alive is none. */
const CHUNK_PART = /^\s*\{|\}\s*$/;
/** The event of the standard that has no name. */
const DEFAULT_EVENT = 'message';
/** What a chunk has at least one of (spec 2.4 to 2.6). */
const CHUNK_FIELDS = [
	...['choices', 'extension', 'usage', 'session_id', 'model', 'trace_id'],
	...['knowledge_base', 'suggested_questions', 'agent'],
];
/** An error after the first words of a reply, which are paid for. */
const IN_REPLY = {
	kind: 'stream',
	message: 'The service reported an error during the reply',
} as const;
const AFTER_WORDS = { retryable: false, outcomeUnknown: true } as const;
/** How many words that are no chunks are kept. */
const MAX_ASIDE = 5;
const NOTHING_SAID: readonly string[] = [];
const NOTHING: ChatDelta = { content: '', reasoning: '', progress: [] };

export interface CompleteOptions {
	/** Whether to stream the reply; the result has the same form either way. */
	readonly stream: boolean;
	/** Idle timeout: milliseconds without a byte until the request is aborted. */
	readonly idleTimeoutMs: number;
	/** What error statuses are about. Default: an application if the request names one, otherwise a model. */
	readonly endpoint?: Endpoint;
	/** Called with what each chunk adds as it arrives. */
	readonly onDelta?: ((delta: ChatDelta) => void) | undefined;
}

type OnDelta = CompleteOptions['onDelta'];

/**
 * Requests a chat completion: `POST /v1/chat/completions` (spec 4), streamed (spec 2.5) or not (spec 2.4).
 *
 * Chunks are accumulated into the form of a non-streamed body. A JSON body in response to a streaming request is
 * accepted too, and a stream in response to another one: not every server supports both. A reply with a finish reason is complete, however its stream ends.
 *
 * @throws ServiceError `http` for an error status (spec 7.1), and for an error in place of the reply; `network` when the
 *   connection fails; `protocol` when the response is not a chat completion; `stream` when the stream ends early, or
 *   contains an error after its first chunk. `details.partial` has what had arrived, `details.subject` the
 *   `session_id`.
 */
export async function completeChat(
	http: HttpPort,
	request: ChatRequest,
	{
		stream,
		idleTimeoutMs,
		endpoint = request.app_code === undefined ? 'model' : 'chat',
		onDelta,
	}: CompleteOptions,
): Promise<ChatCompletion> {
	const { stream_options: usage = { include_usage: true }, ...others } = request;
	// Null leaves it out, for a service that rejects this field.
	const more = stream && usage !== null ? { stream_options: usage } : {};
	const response = await send(http, endpoint, {
		method: 'POST',
		path: '/v1/chat/completions',
		body: asJson({ ...others, stream, ...more }),
		idleTimeoutMs,
	});
	const { head, body } = await peek(response.body);
	const isDeclared = EVENT_STREAM.test(response.headers['content-type'] ?? '');
	const isStream = STREAM_HEAD.test(head) || (isDeclared && /^[^{[<]/.test(head));
	return isStream
		? await readStream({ ...response, body }, endpoint, onDelta)
		: readBody(await readJsonObject({ ...response, body }), endpoint, onDelta);
}

/** Reads the beginning of a body, without white space before it: some services declare a stream as JSON, or JSON as a stream. */
async function peek(body: HttpResponse['body']) {
	const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>;
	const next = () =>
		pieces.next().catch((error: unknown) => {
			throw transportError(error);
		});
	const utf8 = new TextDecoder();
	const read: IteratorResult<Uint8Array, undefined>[] = [];
	let head = '';
	while (head.length < HEAD_CHARACTERS && read.at(-1)?.done !== true) {
		const piece = await next();
		read.push(piece);
		head = (head + utf8.decode(piece.value, { stream: true })).trimStart();
	}
	// Not a generator: each piece of a stream would take a tenth longer.
	const whole: AsyncIterator<Uint8Array> = {
		next: () => Promise.resolve(read.shift() ?? next()),
		return: async () => (await pieces.return?.()) ?? { done: true, value: undefined },
	};
	return { head, body: { [Symbol.asyncIterator]: () => whole } };
}

async function readStream(
	{ body }: HttpResponse,
	endpoint: Endpoint,
	onDelta: OnDelta,
): Promise<ChatCompletion> {
	const accumulator = startAccumulator();
	const decoder = sseDecoder();
	const shown = onDelta && withThoughtsApart(onDelta);
	let isBegun = false;
	let isDamaged = false;
	/** What the service has said after the last part of an answer. If the answer has no end, it is the reason. */
	let aside: readonly string[] = NOTHING_SAID;

	function addChunk(chunk: JsonObject, { length }: string): void {
		const delta = applyChunk(accumulator, chunk, length);
		shown?.(delta);
	}

	function withReason(error: ServiceError): ServiceError {
		return aside.length === 0 ? error : error.with({ serviceMessage: aside.join('\n') });
	}

	/** Adds an event to the reply; returns whether the stream is complete. */
	function add({ data, event = DEFAULT_EVENT }: EventSourceMessage): boolean {
		if (event !== DEFAULT_EVENT && event !== 'error') return false;
		// At the end of a stream it is one that was cut.
		if (isDamaged && !isFinished(accumulator))
			throw streamError('The stream contains invalid JSON', 'findProxy');
		const json = parseJsonObject(data);
		if (event === 'error' || (json && errorIn(json))) {
			if (isFinished(accumulator)) return true;
			if (json?.['choices'] ?? json?.['session_id']) addChunk(json, data);
			const error = reportedError(endpoint, data, json);
			throw isBegun ? error.with(AFTER_WORDS, IN_REPLY) : error;
		}
		if (json && CHUNK_FIELDS.some((name) => name in json)) {
			isBegun = true;
			if (json['choices'] ?? json['extension']) aside = NOTHING_SAID;
			addChunk(json, data);
		} else if (data.trim() === END_OF_STREAM) {
			if (isFinished(accumulator) || (isBegun && aside.length === 0)) return true;
			throw withReason(isBegun ? cut() : unexpectedResponse(''));
		} else if (!json && CHUNK_PART.test(data)) {
			const bound = exceededBound(data);
			if (bound !== undefined) throw tooLarge(`An event of the stream has ${bound}`);
			isDamaged = true;
		} else if (data.trim() !== '') {
			const error = json?.['detail'] ?? json;
			const words = errorDetails({ error }).serviceMessage ?? excerpt(data);
			aside = [...aside.filter((each) => each !== words), words].slice(-MAX_ASIDE);
		}
		return false;
	}

	try {
		for await (const bytes of body)
			if (decoder.feed(bytes).some(add)) return toCompletion(accumulator);
		if (decoder.end().some(add) || isFinished(accumulator)) return toCompletion(accumulator);
		throw withReason(cut());
	} catch (error) {
		const isCut = error instanceof ServiceError && error.details.retryable === true;
		if (isCut && isFinished(accumulator)) return toCompletion(accumulator);
		const { choices, envelope } = accumulator;
		const arrived = choices.size === 0 ? envelope : asJson(toCompletion(accumulator));
		throw withReply(error, arrived);
	} finally {
		shown?.(NOTHING, true);
	}
}

const cut = () => streamError('The stream ended before the reply was complete', 'findProxy');

function streamError(message: string, advice: AdviceCode): ServiceError {
	return new ServiceError('stream', message, advice, { retryable: true, outcomeUnknown: true });
}

/**
 * Reads a body that is not streamed. The reply is the choice with the index 0, or else the first. A super assistant that only ran
 * tools may send no choices: its reply is empty.
 */
function readBody(body: JsonObject, endpoint: Endpoint, onDelta: OnDelta): ChatCompletion {
	const choices = Array.isArray(body['choices']) ? body['choices'] : [null];
	const main = choices.find((each) => objectOf(each)['index'] === 0) ?? choices[0];
	const choice = objectOf(main);
	const { said, parts } = readMessage(choice['message']);
	const { content = null, reasoning_content: reasoning } = said;
	// Beside an answer an error tells of something else, unless the choice itself has it.
	const calls = objectsOf(said['tool_calls']);
	const isAnswered = calls.length > 0 || !isBlank(content) || parts.length > 0;
	const error = errorIn(isAnswered ? { ...body, error: null } : body);
	const isEmpty = choices.length === 0;
	if (error || (!isEmpty && !isJsonObject(choice['message'])))
		throw withReply(bodyError(endpoint, body), body);
	if (isEmpty) return { ...body, ...toCompletion(startAccumulator()) };
	choice['message'] = { ...said, content, ...(parts.length > 0 && { parts: [...parts] }) };
	choice['finish_reason'] = readReason(choice['finish_reason']);
	const show = onDelta && withThoughtsApart(onDelta);
	show?.({ ...NOTHING, content: stringOf(content), reasoning: stringOf(reasoning) });
	show?.(NOTHING, true);
	return fromJson({ ...body, choices: [choice, ...choices.filter((each) => each !== main)] });
}

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
