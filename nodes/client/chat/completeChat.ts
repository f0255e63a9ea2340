import type { EventSourceMessage } from 'eventsource-parser';

import { ServiceError } from '../errors';
import { errorDetails, notTheService, readBytes, readJsonObject, send } from '../http/http';
import { isJsonObject, parseJsonObject, type JsonObject } from '../json';
import type { HttpPort, HttpResponse } from '../ports';
import {
	addChunk,
	isFinished,
	startAccumulator,
	toCompletion,
	type Accumulator,
} from './accumulator';
import { sseDecoder } from './sseDecoder';
import type { ChatCompletion, ChatRequest, TextDelta } from './types';

const END_OF_STREAM = '[DONE]';
/** As much of the beginning of an answer is kept as an error may quote. */
const KEPT_CHARACTERS = 4_096;

export interface CompleteOptions {
	/** Whether to ask for a stream, with the usage in it; the result has the same form either way. */
	readonly stream: boolean;
	/** Milliseconds without a byte after which the call is given up. */
	readonly idleTimeoutMs: number;
	/** Called with each piece of text as it arrives. */
	readonly onText?: (delta: TextDelta) => void;
	/** Called with each chunk of a stream before its text. */
	readonly onChunk?: (chunk: JsonObject) => void;
}

/**
 * Asks for a reply: `POST /v1/chat/completions` (spec 4), streamed (2.5) or not (2.4).
 *
 * A stream is put together into the form of a non-streamed body. A server that answers a request for a
 * stream with one JSON body is understood too.
 *
 * @throws ServiceError `refused` for an error status (spec 7.1); `network` when the connection fails;
 *   `protocol` when the answer is no chat completion; `stream` when the stream ends early or carries an
 *   error. What had arrived of a stream is in `details.partial`.
 */
export async function completeChat(
	http: HttpPort,
	request: ChatRequest,
	{ stream, idleTimeoutMs, onText = nothing, onChunk = nothing }: CompleteOptions,
): Promise<ChatCompletion> {
	const mode = stream
		? { stream: true, stream_options: { include_usage: true } }
		: { stream: false };
	const response = await send(http, 'chat', {
		method: 'POST',
		path: '/v1/chat/completions',
		body: { ...request, ...mode } as unknown as JsonObject,
		idleTimeoutMs,
	});
	if (stream && !isJson(response)) return await readStream(response, { onText, onChunk });

	const completion = toChecked(await readJsonObject(response));
	const { content, reasoning_content: reasoning = '' } = completion.choices[0]!.message;
	onText({ content: content ?? '', reasoning });
	return completion;
}

function nothing(): void {
	// Whoever polls for the whole reply follows nothing.
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

	/** Takes events in; tells whether the reply is over. */
	function take(events: readonly EventSourceMessage[]): boolean {
		for (const { data } of events) {
			if (data === END_OF_STREAM) {
				if (chunks === 0) throw notTheService('');
				return true;
			}
			chunks++;
			const chunk = toChunk(data);
			onChunk(chunk);
			onText(addChunk(accumulator, chunk));
		}
		return false;
	}

	try {
		for await (const bytes of readBytes(body)) {
			if (beginning.length < KEPT_CHARACTERS) {
				beginning += utf8.decode(bytes, { stream: true });
			}
			if (take(decoder.feed(bytes))) return toCompletion(accumulator);
		}
		if (take(decoder.end())) return toCompletion(accumulator);
	} catch (error) {
		throw withPartial(error, accumulator);
	}
	// Some servers close the connection after the finish chunk instead of saying [DONE].
	if (isFinished(accumulator)) return toCompletion(accumulator);
	throw chunks === 0 ? notTheService(beginning) : withPartial(cut(), accumulator);
}

function toChunk(data: string): JsonObject {
	const chunk = parseJsonObject(data);
	if (chunk === undefined) {
		throw new ServiceError(
			'stream',
			'The stream carried something that is not JSON',
			'Try again',
			{ retryable: true, outcomeUnknown: true },
		);
	}
	if (chunk['error'] !== undefined && chunk['error'] !== null) {
		throw new ServiceError(
			'stream',
			'The service reported an error in the middle of its reply',
			'See the details of this error for its own words',
			{ ...errorDetails(chunk), outcomeUnknown: true },
		);
	}
	return chunk;
}

function cut(): ServiceError {
	return new ServiceError(
		'stream',
		'The stream ended before the reply did',
		'Try again; if it stays, look for a proxy that cuts long connections',
		{ retryable: true, outcomeUnknown: true },
	);
}

function withPartial(error: unknown, accumulator: Accumulator): unknown {
	if (!(error instanceof ServiceError) || accumulator.choices.size === 0) return error;
	return error.with({ partial: toCompletion(accumulator) as unknown as JsonObject });
}

function toChecked(body: JsonObject): ChatCompletion {
	const { choices } = body;
	const first = Array.isArray(choices) ? choices[0] : undefined;
	if (isJsonObject(first) && isJsonObject(first['message']))
		return body as unknown as ChatCompletion;

	if (body['error'] !== undefined && body['error'] !== null) {
		throw new ServiceError(
			'http',
			'The service answered with an error',
			'See the details of this error for its own words',
			errorDetails(body),
		);
	}
	throw notTheService(JSON.stringify(body));
}
