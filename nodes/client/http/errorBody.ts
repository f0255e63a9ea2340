import type { ErrorDetails } from '../errors';
import { isJsonObject, objectOf, withoutUndefined, type JsonObject, type JsonValue } from '../json';
import { shown } from '../values';

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
const STATUSES: ReadonlyMap<string | undefined, number> = new Map([
	['invalid_request_error', 400],
	['invalid_request', 400],
	['rate_limit_error', 429],
	['rate_limit_exceeded', 429],
]);
/** Codes of a success, in lower case. */
const SUCCESS = ['0', '200', '201', '202', 'ok', 'success', 'succeeded'];

/** A text that says something, or a number as text. */
function textOf(value: JsonValue | undefined): string | undefined {
	if (typeof value === 'number') return String(value);
	return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The first of these parts that is a text, or a number. */
function partOf(fields: JsonObject, part: keyof typeof NAMES): string | undefined {
	return NAMES[part].map((name) => textOf(fields[name])).find((text) => text !== undefined);
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
		textOf(error);
	const { raw } = objectOf(metadata);
	const field = Array.isArray(loc) ? loc.join('.') : undefined;
	const parts = [field, words, raw && shown(raw), textOf(written)].filter(Boolean);
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
		named.find((each) => each >= 400 && each < 600) ?? STATUSES.get(code) ?? STATUSES.get(type);
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
