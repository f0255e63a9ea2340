import { ServiceError, type ErrorDetails } from '../errors';
import {
	isJsonObject,
	parseJson,
	parseJsonObject,
	withoutUndefined,
	type JsonObject,
} from '../json';
import type { HttpPort, HttpRequest, HttpResponse } from '../ports';
import { STATUSES, unlistedStatus, type Endpoint } from './statuses';
import { transportError } from './transportError';

/** No body of the service comes near this; it keeps a wrong address from filling the memory. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** How much of a text that is not JSON an error shows. */
const EXCERPT_CHARACTERS = 200;

/**
 * Sends a request and judges the status; the body of a good response is left unread.
 *
 * @throws ServiceError `refused` for an error status (spec 7), `network` when no response arrived.
 */
export async function send(
	http: HttpPort,
	endpoint: Endpoint,
	request: HttpRequest,
): Promise<HttpResponse> {
	const response = await attempt(() => http(request));
	if (response.status >= 200 && response.status < 300) return response;

	throw refusal(endpoint, response, await readText(response.body));
}

/**
 * The JSON object in a response's body.
 *
 * @throws ServiceError `protocol` when the body is something else, `network` when the connection breaks.
 */
export async function readJsonObject(response: HttpResponse): Promise<JsonObject> {
	const text = await readText(response.body);
	const body = parseJsonObject(text);
	if (body !== undefined) return body;
	throw text.trimStart().startsWith('{') ? brokenJson(text) : notTheService(text);
}

/** The error for an answer that is not the service's: another server's page, or a proxy's. */
export function notTheService(text: string): ServiceError {
	return new ServiceError(
		'protocol',
		text.trim() === ''
			? 'The answer of the service is empty'
			: 'The answer is not one of the service',
		'Check the Base URL in the Agent Video API credential',
		{ serviceMessage: excerpt(text), outcomeUnknown: true },
	);
}

/** The error for a body that begins like the service's: a proxy, or a limit on the way, has cut it. */
function brokenJson(text: string): ServiceError {
	return new ServiceError(
		'protocol',
		'The answer of the service breaks off, or is no valid JSON',
		'Try again; if it stays, look for a proxy that cuts long answers',
		{ serviceMessage: excerpt(text), retryable: true, outcomeUnknown: true },
	);
}

/** Reads `error` of a body or stream event (spec 7) into error details. */
export function errorDetails(body: unknown): ErrorDetails {
	const fields = isJsonObject(body) ? body : {};
	const error = isJsonObject(fields['error']) ? fields['error'] : {};
	const text = (value: unknown) =>
		typeof value === 'string' && value !== '' ? value : undefined;
	return withoutUndefined({
		serviceMessage: text(error['message']) ?? text(fields['error']),
		serviceType: text(error['type']),
		traceId: text(fields['trace_id']) ?? text(error['trace_id']),
	});
}

/** Yields the body's bytes; a broken connection becomes a ServiceError `network`. */
export async function* readBytes(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	try {
		yield* body;
	} catch (error) {
		throw transportError(error);
	}
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
	const utf8 = new TextDecoder();
	let text = '';
	let bytes = 0;
	for await (const chunk of readBytes(body)) {
		bytes += chunk.byteLength;
		if (bytes > MAX_BODY_BYTES) throw tooLarge();
		text += utf8.decode(chunk, { stream: true });
	}
	return text + utf8.decode();
}

function refusal(
	endpoint: Endpoint,
	{ status, headers }: HttpResponse,
	text: string,
): ServiceError {
	const { message, hint, retryable, outcomeUnknown } =
		STATUSES[endpoint][status] ?? unlistedStatus(status);
	return new ServiceError('http', message, hint, {
		status,
		retryable,
		outcomeUnknown,
		serviceMessage: excerpt(text),
		...errorDetails(parseJson(text)),
		...retryAfter(headers),
	});
}

/** Retry-After is a number of seconds, or a date; that is measured from the sender's own clock. */
function retryAfter({
	'retry-after': wanted = '',
	date = '',
}: HttpResponse['headers']): ErrorDetails {
	const text = wanted.trim();
	const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.parse(date);
	return Number.isNaN(ms) ? {} : { retryAfterMs: Math.max(0, ms) };
}

function tooLarge(): ServiceError {
	return new ServiceError(
		'protocol',
		'The answer is too large to be one of the service',
		'Check the Base URL in the Agent Video API credential',
		{ outcomeUnknown: true },
	);
}

function excerpt(text: string): string {
	const plain = text
		.replace(/<(script|style)[\s\S]*?<\/\1>/gi, ' ')
		.replace(/<[^>]*>/g, ' ')
		.replace(/\s+/g, ' ')
		.trim();
	return plain.length > EXCERPT_CHARACTERS ? `${plain.slice(0, EXCERPT_CHARACTERS)}…` : plain;
}

async function attempt(request: () => Promise<HttpResponse>): Promise<HttpResponse> {
	try {
		return await request();
	} catch (error) {
		throw transportError(error);
	}
}
