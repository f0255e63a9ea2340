import { type ErrorDetails, ServiceError } from '../errors';
import { type JsonObject, parseJson, parseJsonObject, shorten } from '../json';
import type { HttpPort, HttpRequest, HttpResponse } from '../ports';
import { errorDetails, errorIn } from './errorBody';
import { statusError, transportError, type Endpoint } from './failures';
import { maskIn, NO_SECRETS } from './secrets';

/** Memory limit: far above any body of the service, reached only when the base URL leads to something else. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
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

	throw httpError(endpoint, response, await readText(response.body));
}

/**
 * Reads a response body that must be a JSON object.
 *
 * @throws ServiceError `protocol` when the body is something else, or has a secret in its data; `network` when the connection
 *   breaks.
 */
export async function readJsonObject(response: HttpResponse): Promise<JsonObject> {
	const { secrets = NO_SECRETS } = response;
	const sent = await readText(response.body);
	const body = parseJsonObject(sent);
	if (body !== undefined) return maskIn(body, secrets, errorIn(body) ? undefined : 'body');
	const text = secrets.mask(sent);
	if (!text.trimStart().startsWith('{')) throw unexpectedResponse(text);
	// Usually a proxy has truncated it.
	throw new ServiceError(
		'protocol',
		'The response is truncated or not valid JSON',
		'findTruncatingProxy',
		{ serviceMessage: excerpt(text), retryable: true, outcomeUnknown: true },
	);
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

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
	const utf8 = new TextDecoder();
	let text = '';
	let bytes = 0;
	for await (const chunk of readBytes(body)) {
		bytes += chunk.byteLength;
		if (bytes > MAX_BODY_BYTES) {
			throw new ServiceError('protocol', 'The response is too large', 'checkAddress', {
				outcomeUnknown: true,
			});
		}
		text += utf8.decode(chunk, { stream: true });
	}
	return text + utf8.decode();
}

function httpError(
	endpoint: Endpoint,
	{ status, headers, secrets = NO_SECRETS }: HttpResponse,
	text: string,
): ServiceError {
	const { location } = headers;
	const isRedirect = status < 400 && location !== undefined;
	const shown = secrets.mask(isRedirect ? location : text);
	const details = {
		serviceMessage: `${isRedirect ? 'Location: ' : ''}${excerpt(shown)}`,
		...errorDetails(maskIn(parseJson(text), secrets)),
		status,
		...retryAfter(headers),
	};
	const error = statusError(endpoint, status, details);
	return isRedirect ? error.with({}, { kind: 'protocol' }) : error;
}

/**
 * Parses `Retry-After`: seconds, some servers send a fraction, or a date. A date is compared with the server's own clock
 * (`Date`), not with ours.
 */
function retryAfter({
	'retry-after': header = '',
	date = '',
}: HttpResponse['headers']): ErrorDetails {
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

const IN_REPLY = 'The service reported an error during the reply';

/** The error for a body that lacks what was asked for: the one that it reports, or that it cannot be from the service. */
export function bodyError(endpoint: Endpoint, body: JsonObject): ServiceError {
	const text = JSON.stringify(body);
	return errorIn(body) ? reportedError(endpoint, text, body) : unexpectedResponse(text);
}

/**
 * An error that the service reports with status 200. In place of the reply, it is like the error status that it names.
 *
 * @param body `text` parsed, if it is a JSON object. Without an error in it, see `errorIn`, it is the error itself.
 */
export function reportedError(
	endpoint: Endpoint,
	text: string,
	body: JsonObject = {},
	isInReply = false,
): ServiceError {
	const fields = errorIn(body) ? body : { ...body, error: body };
	const details = { serviceMessage: excerpt(text), ...errorDetails(fields) };
	const error = statusError(endpoint, details.status, details);
	return isInReply
		? new ServiceError('stream', IN_REPLY, error.advice, { ...details, outcomeUnknown: true })
		: error;
}
