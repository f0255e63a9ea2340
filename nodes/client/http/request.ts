import { type ErrorDetails, ServiceError } from '../errors';
import {
	exceededBound,
	MAX_JSON,
	parseJson,
	parseJsonObject,
	shorten,
	type JsonObject,
} from '../json';
import type { HttpPort, HttpRequest, HttpResponse } from '../ports';
import { errorDetails, errorIn, messageOf } from './errorBody';
import { statusError, transportError, type Endpoint } from './failures';

/** How much of an error body is read, of a poll again and again: an error is far shorter. */
const MAX_ERROR_CHARACTERS = 1024 * 1024;
/** How much of a body the excerpt is looked for in: the scripts of a page may stand before its text. */
const EXCERPT_SOURCE_CHARACTERS = 256 * 1024;

/**
 * Sends a request and checks the status. The body of a successful response is left unread.
 *
 * @throws ServiceError `http` for an error status (spec 7), `network` when no response arrived.
 */
export async function send(
	http: HttpPort,
	endpoint: Endpoint,
	request: HttpRequest,
): Promise<HttpResponse> {
	const response = await http(request).catch((error: unknown) => {
		throw transportError(error);
	});
	if (response.status >= 200 && response.status < 300) return response;

	throw httpError(endpoint, response, await readText(response.body, MAX_ERROR_CHARACTERS));
}

/**
 * Reads a response body that must be a JSON object.
 *
 * @throws ServiceError `protocol` when the body is something else, or exceeds a bound of `MAX_JSON`; `network` when the
 *   connection breaks.
 */
export async function readJsonObject({ body }: HttpResponse): Promise<JsonObject> {
	const text = await readText(body, MAX_JSON.characters);
	const json = parseJsonObject(text);
	if (json !== undefined) return json;
	const bound = exceededBound(text);
	if (bound !== undefined) throw tooLarge(`The response has ${bound}`);
	if (!text.trimStart().startsWith('{')) throw unexpectedResponse(text);
	// Usually a proxy has truncated it.
	const message = 'The response is truncated or not valid JSON';
	const details = { outcomeUnknown: true, retryable: true, serviceMessage: excerpt(text) };
	throw new ServiceError('protocol', message, 'findProxy', details);
}

/** The error for a response, or a stream, that exceeds a bound. */
export function tooLarge(message: string): ServiceError {
	return new ServiceError('protocol', message, 'checkAddress', { outcomeUnknown: true });
}

/** The error for a response that cannot be from the service: a page of another server or of a proxy. */
export function unexpectedResponse(text: string): ServiceError {
	return new ServiceError(
		'protocol',
		text.trim() === ''
			? 'Empty response from the service'
			: 'Unexpected response: this is not the Agent Video API',
		'checkAddress',
		{ serviceMessage: excerpt(text), outcomeUnknown: true },
	);
}

/**
 * Yields the bytes of a body.
 *
 * @throws ServiceError `network` when the connection breaks.
 */
export async function* readBytes(
	body: AsyncIterable<Uint8Array>,
	toError = transportError,
): AsyncGenerator<Uint8Array, undefined> {
	try {
		yield* body;
	} catch (error) {
		throw toError(error);
	}
}

/** Reads a body as text, of a longer one no more than shows that it exceeds the bound. */
async function readText(body: AsyncIterable<Uint8Array>, max: number): Promise<string> {
	const utf8 = new TextDecoder();
	let text = '';
	for await (const chunk of readBytes(body)) {
		text += utf8.decode(chunk, { stream: true });
		if (text.length > max) return text;
	}
	return text + utf8.decode();
}

/** The service says in JSON (spec 7) that a key has no access. A page with this status asks for a person, or forbids machines. */
const CHALLENGE = {
	message: 'A firewall or proxy in front of the service rejected the request',
	advice: ['askFirewall'],
} as const;

function httpError(
	endpoint: Endpoint,
	{ status, headers }: HttpResponse,
	text: string,
): ServiceError {
	const { location } = headers;
	const isRedirect = status < 400 && location !== undefined;
	// Some gateways put the error into a list.
	const [body] = [parseJson(text)].flat();
	const details = {
		serviceMessage: isRedirect ? `Location: ${excerpt(location)}` : excerpt(text),
		...errorDetails(body),
		status,
		...retryAfter(headers),
	};
	const error = statusError(endpoint, status, details);
	if (status === 403 && text.trimStart().startsWith('<')) return error.with({}, CHALLENGE);
	return isRedirect ? error.with({}, { kind: 'protocol' }) : error;
}

/**
 * Parses `Retry-After`: seconds, some servers send a fraction, or a date, which is compared with the server's own clock (`Date`),
 * not with ours. Beside it some send the exact `Retry-After-Ms`.
 */
function retryAfter({
	'retry-after-ms': exact = '',
	'retry-after': header = '',
	date = '',
}: HttpResponse['headers']): ErrorDetails {
	if (/^\d+$/.test(exact)) return { retryAfterMs: Number(exact) };
	const text = header.trim();
	if (/^\d+(\.\d+)?$/.test(text)) return { retryAfterMs: Number(text) * 1000 };
	// Without a time it is none: JavaScript makes a date of nearly any number.
	const ms = text.includes(':') ? Date.parse(text) - Date.parse(date) : NaN;
	return Number.isNaN(ms) ? {} : { retryAfterMs: Math.max(0, ms) };
}

/** The beginning of a body as plain text in one line, without HTML tags and control characters. */
export function excerpt(text: string): string {
	const plain = text
		.slice(0, EXCERPT_SOURCE_CHARACTERS)
		// Each pattern takes linear time: an element without an end tag extends to the end, no tag contains `<`.
		.replace(/<(script|style)\b[\s\S]*?(?:<\/\1[^<>]*>|$)/gi, ' ')
		.replace(/<[^<>]*>/g, ' ')
		.replace(/[\s\p{C}]+/gu, ' ')
		.trim();
	return shorten(plain, 200);
}

/**
 * The error for a body that lacks what was asked for: the one that it reports, or that its message tells, as it has nothing
 * else; otherwise that it cannot be from the service. Only an error with a code says that no video was created.
 */
export function bodyError(endpoint: Endpoint, body: JsonObject): ServiceError {
	const text = JSON.stringify(body);
	const reported = errorIn(body);
	if (messageOf(reported ?? body) === undefined) return unexpectedResponse(text);
	const error = reportedError(endpoint, text, body);
	const { status, serviceCode, serviceType } = error.details;
	const isFinal = reported && (status ?? serviceCode ?? serviceType) !== undefined;
	return isFinal || endpoint !== 'video' ? error : error.with({ outcomeUnknown: true });
}

/**
 * An error that the service reports with status 200, like the error status that it names.
 *
 * @param body `text` parsed, if it is a JSON object. Without an error in it, see `errorIn`, it is the error itself.
 */
export function reportedError(
	endpoint: Endpoint,
	text: string,
	body: JsonObject = {},
): ServiceError {
	return statusError(endpoint, undefined, {
		serviceMessage: excerpt(text),
		...errorDetails(body),
	});
}
