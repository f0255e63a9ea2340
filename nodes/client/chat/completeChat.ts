import type { EventSourceMessage } from 'eventsource-parser';

import { ServiceError } from '../errors';
import { errorDetails, readBytes, readJsonObject, send, unexpectedResponse } from '../http/request';
import { asJson, fromJson, isJsonObject, parseJsonObject, type JsonObject } from '../json';
import type { HttpPort, HttpResponse } from '../ports';
import {
	contentText,
	applyChunk,
	isFinished,
	startAccumulator,
	toCompletion,
	type Accumulator,
} from './accumulator';
import { sseDecoder } from './sseDecoder';
import type { ChatCompletion, ChatRequest, TextDelta } from './types';

const END_OF_STREAM = '[DONE]';
/** How much of the beginning of a stream is kept, for the error if it contains no events. */
const MAX_KEPT_CHARACTERS = 4_096;

export interface CompleteOptions {
	/** Whether to stream the reply, with token usage; the result has the same form either way. */
	readonly stream: boolean;
	/** Idle timeout: milliseconds without a byte until the request is aborted. */
	readonly idleTimeoutMs: number;
	/** Called with the text of each chunk as it arrives. */
	readonly onText?: (delta: TextDelta) => void;
	/** Called with each chunk of a stream, before `onText`. */
	readonly onChunk?: (chunk: JsonObject) => void;
}

/**
 * Requests a chat completion: `POST /v1/chat/completions` (spec 4), streamed (spec 2.5) or not (spec 2.4).
 *
 * Chunks are accumulated into the form of a non-streamed body. A JSON body in response to a streaming request is
 * accepted too: not every server supports streaming.
 *
 * @throws ServiceError `http` for an error status (spec 7.1); `network` when the connection fails; `protocol` when the
 *   response is not a chat completion; `stream` when the stream ends early or contains an error. `details.partial`
 *   has what a stream had delivered.
 */
export async function completeChat(
	http: HttpPort,
	request: ChatRequest,
	{ stream, idleTimeoutMs, onText = ignore, onChunk = ignore }: CompleteOptions,
): Promise<ChatCompletion> {
	const mode = stream
		? { stream: true, stream_options: { include_usage: true } }
		: { stream: false };
	const response = await send(http, 'chat', {
		method: 'POST',
		path: '/v1/chat/completions',
		body: asJson({ ...request, ...mode }),
		idleTimeoutMs,
	});
	if (stream && !isJson(response)) return await readStream(response, { onText, onChunk });

	const completion = checkCompletion(await readJsonObject(response));
	const { content, reasoning_content: reasoning = '' } = completion.choices[0]!.message;
	onText({ content: content ?? '', reasoning });
	return completion;
}

function ignore(): void {
	// Default for callers that need only the complete reply.
}

function isJson({ headers }: HttpResponse): boolean {
	return /^application\/json\b/i.test(headers['content-type'] ?? '');
}

async function readStream(
	{ body }: HttpResponse,
	{ onText, onChunk }: Required<Pick<CompleteOptions, 'onText' | 'onChunk'>>,
): Promise<ChatCompletion> {
	const accumulator = startAccumulator();
	const decoder = sseDecoder();
	const utf8 = new TextDecoder();
	let beginning = '';
	let chunks = 0;

	/** Adds events to the reply; returns whether the stream is complete. */
	function apply(events: readonly EventSourceMessage[]): boolean {
		for (const { data } of events) {
			if (data === END_OF_STREAM) {
				if (chunks === 0) throw unexpectedResponse('');
				return true;
			}
			chunks++;
			const chunk = toChunk(data);
			onChunk(chunk);
			onText(applyChunk(accumulator, chunk));
		}
		return false;
	}

	try {
		for await (const bytes of readBytes(body)) {
			if (beginning.length < MAX_KEPT_CHARACTERS) {
				beginning += utf8.decode(bytes, { stream: true });
			}
			if (apply(decoder.feed(bytes))) return toCompletion(accumulator);
		}
		if (apply(decoder.end())) return toCompletion(accumulator);
	} catch (error) {
		throw withPartial(error, accumulator);
	}
	// Some servers close the connection after the finish reason, without [DONE].
	if (isFinished(accumulator)) return toCompletion(accumulator);
	throw chunks === 0
		? unexpectedResponse(beginning)
		: withPartial(incompleteStream(), accumulator);
}

function toChunk(data: string): JsonObject {
	const chunk = parseJsonObject(data);
	if (chunk === undefined) {
		throw new ServiceError(
			'stream',
			'The stream contains invalid JSON',
			'Try again; if it happens again, look for a proxy that changes the stream',
			{ retryable: true, outcomeUnknown: true },
		);
	}
	if (chunk['error'] !== undefined && chunk['error'] !== null) {
		throw new ServiceError(
			'stream',
			'The service reported an error during the reply',
			'See the error details for the message of the service',
			{ ...errorDetails(chunk), outcomeUnknown: true },
		);
	}
	return chunk;
}

function incompleteStream(): ServiceError {
	return new ServiceError(
		'stream',
		'The stream ended before the reply was complete',
		'Try again; if it happens again, look for a proxy that closes long connections',
		{ retryable: true, outcomeUnknown: true },
	);
}

/** Attaches the reply so far to the error. */
function withPartial(error: unknown, accumulator: Accumulator): unknown {
	if (!(error instanceof ServiceError) || accumulator.choices.size === 0) return error;
	return error.with({ partial: asJson(toCompletion(accumulator)) });
}

function checkCompletion(body: JsonObject): ChatCompletion {
	const { choices } = body;
	const first = Array.isArray(choices) ? choices[0] : undefined;
	if (isJsonObject(first) && isJsonObject(first['message'])) {
		const { message } = first;
		message['content'] = contentText(message['content']);
		return fromJson(body);
	}

	if (body['error'] !== undefined && body['error'] !== null) {
		throw new ServiceError(
			'http',
			'The service returned an error',
			'See the error details for the message of the service',
			errorDetails(body),
		);
	}
	throw unexpectedResponse(JSON.stringify(body));
}
