import type { ErrorDetails } from '../errors';
import { isJsonObject, objectOf, withoutUndefined, type JsonObject, type JsonValue } from '../json';

/** Names that services give to the parts of an error, the first that is there. */
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
/** HTTP statuses of errors that are reported without one, by their type or code. */
const STATUSES_BY_TYPE: readonly (readonly [RegExp, number])[] = [
	[/rate.?limit/i, 429],
	[/invalid_request/, 400],
];
/** Codes of a success. */
const GOOD = /^(0|20\d|ok|success|succeeded)$/i;

/** What a body has in the places for errors. Read for every chunk of a stream, so without functions for each place. */
function reportsIn(body: JsonObject): readonly (JsonValue | undefined)[] {
	const { choices, extension, base_resp: status, header } = body;
	const { type, data = extension } = objectOf(extension);
	return [
		body['error'],
		Array.isArray(choices) ? objectOf(choices[0])['error'] : undefined,
		body['Error'],
		body['errors'],
		objectOf(body['ResponseMetadata'])['Error'],
		type === 'error' ? data : undefined,
		// They tell of a success, too.
		isJsonObject(status) && isFailure(status) ? status : undefined,
		isJsonObject(header) && isFailure(header) ? header : undefined,
	];
}

/** The first of these parts that is a text, or a number. */
function partOf(fields: JsonObject, part: keyof typeof NAMES): string | undefined {
	for (const name of NAMES[part]) {
		const value = fields[name];
		if (typeof value === 'number') return String(value);
		if (typeof value === 'string' && value.trim() !== '') return value;
	}
	return undefined;
}

/**
 * The words of an error, or of a failed task: those of an `error` within it, else the first text under a name that services
 * give to them, else `error` as a text; undefined if it has none.
 */
export function messageOf(fields: JsonObject): string | undefined {
	const { error } = fields;
	const inner = isJsonObject(error) ? messageOf(error) : undefined;
	return inner ?? partOf(fields, 'message') ?? (isText(error) ? String(error) : undefined);
}

/**
 * The error that a body, or a chunk of a stream, reports in any dress; undefined if it reports none. Some services send an
 * empty error where there is none.
 *
 * A rule, not a list of services: a body without choices, extension, usage and session that has a code or a message is
 * an error, and so is one in a field that is only there for errors.
 */
export function errorIn(body: JsonObject): JsonObject | undefined {
	for (const value of reportsIn(body)) {
		if (value === undefined || value === null) continue;
		const error = value === true ? body : toError(value);
		if (error !== undefined) return error;
	}
	const { choices, extension, usage, session_id: session } = body;
	const choice = Array.isArray(choices) ? choices[0] : undefined;
	if ((choice ?? extension ?? usage ?? session ?? null) !== null) return undefined;
	const detail = toError(body['detail']);
	return detail ?? (isFailure(body) || body['success'] === false ? body : undefined);
}

/** Whether fields have the code of a failure, or a message without the code of a success. */
function isFailure(fields: JsonObject): boolean {
	const code = partOf(fields, 'code');
	return code === undefined ? partOf(fields, 'message') !== undefined : !GOOD.test(code);
}

/** What a field for errors says: the first of a list, a text as a message. */
function toError(value: JsonValue | undefined): JsonObject | undefined {
	const [first] = [value].flat();
	if (typeof first === 'string' && first.trim() !== '') return { message: first };
	return isJsonObject(first) && Object.keys(first).length > 0 ? first : undefined;
}

/** Reads the error of a body, or of a chunk of a stream (spec 7), see `errorIn`. The status is that which it names, or the body around it. */
export function errorDetails(value: unknown): ErrorDetails {
	const body = objectOf(value);
	const error = errorIn(body) ?? {};
	const isServiceForm =
		isJsonObject(body['error']) || isText(body['error']) || isText(body['trace_id']);
	const named = [error, body].flatMap((fields) =>
		['status', ...NAMES.code].map((name) => Number(fields[name])),
	);
	const words = `${String(error['type'])} ${String(error['code'])}`;
	return withoutUndefined({
		status:
			named.find((code) => code >= 400 && code < 600) ??
			STATUSES_BY_TYPE.find(([pattern]) => pattern.test(words))?.[1],
		serviceMessage: messageOf(error),
		// Other services have a code in its place.
		serviceType: partOf(error, 'type') ?? (isServiceForm ? undefined : partOf(error, 'code')),
		traceId: partOf(body, 'trace') ?? partOf(error, 'trace'),
		isServiceForm: isServiceForm || undefined,
	});
}

const isText = (value: JsonValue | undefined) => typeof value === 'string' && value !== '';
