import { isCanceled, requestError, ServiceError, type ErrorDetails } from '../errors';
import {
	exceededBound,
	isJsonObject,
	MAX_JSON,
	objectOf,
	parseJson,
	parseJsonObject,
	shorten,
	withoutUndefined,
	type JsonObject,
	type JsonValue,
} from '../json';
import type { HttpPort, HttpRequest, HttpResponse } from '../ports';
import { shown } from '../values';
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

	throw httpError(endpoint, response, await readText(response.body, MAX_ERROR_CHARACTERS, true));
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
	const details = { outcomeUnknown: true, retryable: true, serviceMessage: text };
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

/**
 * Reads a body as text, of a longer one no more than shows that it exceeds the bound.
 *
 * @param mayBreak Whether what has arrived is enough: the status has told the rest.
 */
async function readText(
	body: AsyncIterable<Uint8Array>,
	max: number,
	mayBreak = false,
): Promise<string> {
	const utf8 = new TextDecoder();
	let text = '';
	try {
		for await (const chunk of readBytes(body)) {
			text += utf8.decode(chunk, { stream: true });
			if (text.length > max) return text;
		}
	} catch (error) {
		if (!mayBreak || isCanceled(error)) throw requestError(error);
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

/** Names that services give to the parts of an error: the first that is there counts. */
const NAMES = {
	message: [
		...['error_message', 'message', 'Message', 'msg', 'error_msg', 'err_msg', 'errorMessage'],
		...['error_description', 'status_msg', 'status_message', 'fail_reason', 'failure_reason'],
		...['failed_reason', 'detail', 'reason'],
	],
	type: ['type', 'Type'],
	code: ['code', 'Code', 'error_code', 'errorCode', 'status_code', 'http_code'],
	trace: ['trace_id', 'request_id', 'requestId', 'RequestId', 'sid'],
} as const;
/** Fields that are only there for an error. */
const ERRORS = ['error', 'Error', 'errors'] as const;
/** Codes and types that stand for a status, where there is none. */
const STATUS_OF_TYPE: ReadonlyMap<string | undefined, number> = new Map([
	['invalid_request_error', 400],
	['invalid_request', 400],
	['rate_limit_error', 429],
	['rate_limit_exceeded', 429],
]);
/** Codes of a success, in lower case. */
const SUCCESS = ['0', '200', '201', '202', 'ok', 'success', 'succeeded'];

/** A text that says something, or a number as text. */
function saidText(value: JsonValue | undefined): string | undefined {
	if (typeof value === 'number') return String(value);
	return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The first of these parts that is a text, or a number. */
function partOf(fields: JsonObject, part: keyof typeof NAMES): string | undefined {
	return NAMES[part].map((name) => saidText(fields[name])).find((text) => text !== undefined);
}

/**
 * The words of an error, or of a failed task: those of an `error` within it, else the first text, or list of texts, under a
 * name that services give to them, else `error` as a text; undefined if it has none. A rejected field is named by its `loc`;
 * behind the words stand those that a gateway has got (`metadata.raw`), and what the model has written in place of a call.
 */
export function messageOf(fields: JsonObject): string | undefined {
	const { error, loc, metadata, failed_generation: written } = fields;
	const lists = NAMES.message.map((name) => textsOf(fields[name]));
	const words =
		(isJsonObject(error) ? messageOf(error) : undefined) ??
		partOf(fields, 'message') ??
		lists.find((text) => text !== '') ??
		saidText(error);
	const { raw } = objectOf(metadata);
	const field = Array.isArray(loc) ? loc.join('.') : undefined;
	const parts = [field, words, raw && shown(raw), saidText(written)].filter(Boolean);
	return parts.length === 0 ? undefined : parts.join(': ');
}

function textsOf(value: JsonValue | undefined): string {
	const errors = Array.isArray(value) ? value.map(toError) : [];
	return errors
		.map((error) => error && messageOf(error))
		.filter(Boolean)
		.join('; ');
}

/**
 * The error that a body, or a chunk of a stream, reports; undefined if it reports none: what stands in a field for errors, if
 * it says anything, as some services send an empty one with each chunk; of a body without choices also a code that is not one
 * of success, with a message.
 */
export function errorIn(body: JsonObject): JsonObject | undefined {
	const { choices, extension, base_resp: status, header, ResponseMetadata: metadata } = body;
	if (body['error'] === true) return body;
	const fields = [...ERRORS.map((name) => body[name]), objectOf(metadata)['Error']];
	const error = fields.map(toError).find(Boolean);
	if (error) return error;
	if (Array.isArray(choices) && choices.length > 0) return toError(objectOf(choices[0])['error']);
	const { type, data = extension } = objectOf(extension);
	return type === 'error' ? toError(data) : [status, header, body].map(objectOf).find(isFailure);
}

/** Whether fields that tell of a success, too, tell of a failure. */
function isFailure(fields: JsonObject): boolean {
	const code = partOf(fields, 'code');
	if (code !== undefined)
		return !SUCCESS.includes(code.toLowerCase()) && messageOf(fields) !== undefined;
	return fields['success'] === false || fields['object'] === 'error';
}

/** What a field for errors says: the first of a list, a text as a message. */
function toError(value: JsonValue | undefined): JsonObject | undefined {
	const first = Array.isArray(value) ? value[0] : value;
	if (typeof first === 'string' && first.trim() !== '') return { message: first };
	return isJsonObject(first) && Object.keys(first).length > 0 ? first : undefined;
}

/** Reads the error of a body, or of a chunk of a stream (spec 7). Without one, see `errorIn`, the body is the error itself. */
export function errorDetails(value: unknown): ErrorDetails {
	const body = objectOf(value);
	const error = errorIn(body) ?? body;
	const named = [error, body].flatMap((fields) =>
		['status', ...NAMES.code].map((name) => Number(fields[name])),
	);
	const code = partOf(error, 'code');
	const type = partOf(error, 'type');
	const status =
		named.find((each) => each >= 400 && each < 600) ??
		STATUS_OF_TYPE.get(code) ??
		STATUS_OF_TYPE.get(type);
	const { error: own, trace_id: trace } = body;
	return withoutUndefined({
		status,
		serviceMessage: messageOf(error),
		serviceType: type,
		serviceCode: Number(code) === status ? undefined : code,
		traceId: partOf(body, 'trace') ?? partOf(error, 'trace'),
		isServiceForm: isJsonObject(own) || isText(own) || isText(trace) || undefined,
	});
}

const isText = (value: JsonValue | undefined) => typeof value === 'string' && value !== '';
