import type { EventSourceMessage } from 'eventsource-parser';

import { ServiceError, type AdviceCode } from '../errors';
import { isBlank } from '../values';
import { errorIn } from '../http/errorBody';
import { transportError, type Endpoint } from '../http/failures';
import {
	bodyError,
	readJsonObject,
	reportedError,
	send,
	unexpectedResponse,
} from '../http/request';
import { maskIn, NO_SECRETS } from '../http/secrets';
import {
	asJson,
	fromJson,
	isJsonObject,
	objectOf,
	parseJsonObject,
	type JsonObject,
} from '../json';
import type { HttpPort, HttpResponse } from '../ports';
import { applyChunk, isFinished, readContent, startAccumulator, toCompletion } from './accumulator';
import { boundedFields, withReply } from './result';
import { sseDecoder } from './sseDecoder';
import type { ChatCompletion, ChatDelta, ChatRequest } from './types';

const END_OF_STREAM = '[DONE]';
const EVENT_STREAM = /^text\/event-stream\b/i;
/** How a stream of events begins, and how much of a body tells so. */
const STREAM_HEAD = /^(:|(data|event|id|retry):)/;
const HEAD_CHARACTERS = 6;
/** What tells a chunk that was damaged from a word that keeps the connection alive. */
const JSON_PART = /[{}[\]]|":/;

export interface CompleteOptions {
	/** Whether to stream the reply; the result has the same form either way. */
	readonly stream: boolean;
	/** Idle timeout: milliseconds without a byte until the request is aborted. */
	readonly idleTimeoutMs: number;
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
	{ stream, idleTimeoutMs, onDelta }: CompleteOptions,
): Promise<ChatCompletion> {
	const { stream_options: usage = { include_usage: true }, ...others } = request;
	// Null leaves it out, for a service that rejects this field.
	const more = stream && usage !== null ? { stream_options: usage } : {};
	const endpoint = request.app_code === undefined ? 'model' : 'chat';
	const response = await send(http, endpoint, {
		method: 'POST',
		path: '/v1/chat/completions',
		body: asJson({ ...others, stream, ...more }),
		idleTimeoutMs,
	});
	const { head, body } = await peek(response.body);
	const isDeclared = EVENT_STREAM.test(response.headers['content-type'] ?? '');
	const isStream = STREAM_HEAD.test(head) || (isDeclared && /^[^{[<]/.test(head));
	const completion = isStream
		? await readStream({ ...response, body }, endpoint, onDelta)
		: await readJsonObject({ ...response, body }, (json) => readBody(json, endpoint, onDelta));
	return fromJson(boundedFields(asJson(completion)));
}

/** Reads the beginning of a body, without white space before it: some services declare a stream as JSON, or JSON as a stream. */
async function peek(body: HttpResponse['body']) {
	const pieces = body[Symbol.asyncIterator]();
	const fail = (error: unknown) => {
		throw transportError(error);
	};
	const utf8 = new TextDecoder();
	const read: IteratorResult<Uint8Array>[] = [];
	let head = '';
	while (head.length < HEAD_CHARACTERS) {
		const piece = await pieces.next().catch(fail);
		read.push(piece);
		if (piece.done === true) break;
		head = (head + utf8.decode(piece.value, { stream: true })).trimStart();
	}
	// Not a generator: each piece of a stream would take a tenth longer.
	const whole: AsyncIterator<Uint8Array> = {
		next: () => Promise.resolve(read.shift() ?? pieces.next().catch(fail)),
		return: async () => (await pieces.return?.()) ?? { done: true, value: undefined },
	};
	return { head, body: { [Symbol.asyncIterator]: () => whole } };
}

async function readStream(
	{ body, secrets = NO_SECRETS }: HttpResponse,
	endpoint: Endpoint,
	onDelta: OnDelta,
): Promise<ChatCompletion> {
	const accumulator = startAccumulator();
	const decoder = sseDecoder();
	let chunks = 0;

	/** Adds events to the reply; returns whether the stream is complete. */
	function apply(events: readonly EventSourceMessage[], isLast = false): boolean {
		for (const { data, event } of events) {
			const chunk = parseJsonObject(data);
			if (event === 'error' || errorIn(chunk ?? {})) {
				if (isFinished(accumulator)) return true;
				if (chunk?.['choices']) {
					const delta = applyChunk(accumulator, chunk);
					onDelta?.(delta);
				}
				const error = maskIn(chunk, secrets);
				throw reportedError(endpoint, secrets.mask(data), error, chunks > 0);
			}
			if (chunk !== undefined) {
				chunks++;
				const delta = applyChunk(accumulator, chunk);
				onDelta?.(delta);
			} else if (isEnd(data, isLast)) {
				if (chunks === 0) throw unexpectedResponse('');
				return true;
			} else if (JSON_PART.test(data) && !isLast && !isFinished(accumulator)) {
				throw streamError('The stream contains invalid JSON', 'findChangingProxy');
			}
		}
		return false;
	}

	async function readAll(): Promise<void> {
		for await (const bytes of body) if (apply(decoder.feed(bytes))) return;
		if (apply(decoder.end(), true) || isFinished(accumulator)) return;
		throw streamError('The stream ended before the reply was complete', 'findClosingProxy');
	}

	try {
		await readAll().catch((error: unknown) => {
			const isCut = error instanceof ServiceError && error.details.retryable === true;
			if (!isCut || !isFinished(accumulator)) throw error;
		});
		return toCompletion(accumulator);
	} catch (error) {
		const { choices, envelope } = accumulator;
		const arrived = choices.size === 0 ? envelope : asJson(toCompletion(accumulator));
		throw withReply(error, arrived);
	}
}

/** Whether the data of an event ends the stream. The last event may be truncated, and no chunk begins like its end. */
function isEnd(data: string, isLast: boolean): boolean {
	const text = data.trim();
	return text === END_OF_STREAM || (isLast && text !== '' && END_OF_STREAM.startsWith(text));
}

function streamError(message: string, advice: AdviceCode): ServiceError {
	return new ServiceError('stream', message, advice, { retryable: true, outcomeUnknown: true });
}

/** Reads a body that is not streamed. A super assistant that only ran tools may send no choices: its reply is empty. */
function readBody(body: JsonObject, endpoint: Endpoint, onDelta: OnDelta): ChatCompletion {
	const choices = Array.isArray(body['choices']) ? body['choices'] : [null];
	const { message } = objectOf(choices[0]);
	const isEmpty = choices.length === 0;
	const { content, reasoning: thought, tool_calls, ...said } = objectOf(message);
	const { reasoning_content = thought } = said;
	// Beside an answer an error tells of something else, unless the choice itself has it.
	const isAnswered = tool_calls !== undefined || !isBlank(content);
	const error = errorIn(isAnswered ? { ...body, error: null } : body);
	// An empty list of choices is nothing that has arrived.
	const arrived = isEmpty ? { ...body, choices: undefined } : body;
	if (error || (!isEmpty && !isJsonObject(message)))
		throw withReply(bodyError(endpoint, body), arrived);
	if (!isJsonObject(message)) return { ...body, ...toCompletion(startAccumulator()) };
	const { text, parts, refusal } = readContent(content);
	const { text: reasoning } = readContent(reasoning_content);
	message['content'] = text;
	if (refusal !== '') message['refusal'] = refusal;
	// The service may have a field of this name itself.
	delete message['parts'];
	if (parts.length > 0) message['parts'] = [...parts];
	if (reasoning === null) delete message['reasoning_content'];
	else message['reasoning_content'] = reasoning;
	onDelta?.({ content: text ?? '', reasoning: reasoning ?? '', progress: [] });
	return fromJson(body);
}
