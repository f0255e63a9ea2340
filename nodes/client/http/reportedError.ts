import { ServiceError } from '../errors';
import { objectOf, type JsonObject } from '../json';
import { errorDetails, excerpt, unexpectedResponse } from './request';
import { NO_STATUS, STATUSES, unlistedStatus, type Endpoint } from './statuses';

const IN_REPLY = 'The service reported an error during the reply';
/** HTTP statuses of errors that are reported without one, by their type or code. */
const STATUSES_BY_TYPE: readonly (readonly [RegExp, number])[] = [
	[/rate.?limit/i, 429],
	[/invalid_request/, 400],
];

/** Whether a body, or the chunk of a stream, reports an error. Some servers send an empty one where there is none. */
export function hasError({ error }: JsonObject): boolean {
	return Boolean(error) && (typeof error !== 'object' || Object.keys(error!).length > 0);
}

/** The error for a body that lacks what was asked for: the one that it reports, or that it cannot be from the service. */
export function bodyError(endpoint: Endpoint, body: JsonObject): ServiceError {
	const text = JSON.stringify(body);
	return hasError(body) ? reportedError(endpoint, text, body) : unexpectedResponse(text);
}

/**
 * An error that the service reports with status 200. In place of the reply, it is like the error status that it names.
 *
 * @param body `text` parsed, if it is a JSON object. Without a field `error` it is the error itself.
 */
export function reportedError(
	endpoint: Endpoint,
	text: string,
	body: JsonObject = {},
	isInReply = false,
): ServiceError {
	const fields = hasError(body) ? body : { ...body, error: body };
	const error = objectOf(fields.error);
	const codes = [error['status'], error['code'], body['status'], body['code']];
	const type = `${String(error['type'])} ${String(error['code'])}`;
	const status =
		codes.map(Number).find((code) => code >= 400 && code < 600) ??
		STATUSES_BY_TYPE.find(([pattern]) => pattern.test(type))?.[1];
	const { message, hint, ...flags } =
		status === undefined ? NO_STATUS : (STATUSES[endpoint][status] ?? unlistedStatus(status));
	const details = {
		...(status === undefined ? {} : { status }),
		serviceMessage: excerpt(text),
		...errorDetails(fields),
	};
	return isInReply
		? new ServiceError('stream', IN_REPLY, hint, { ...details, outcomeUnknown: true })
		: new ServiceError('http', message, hint, { ...details, ...flags });
}
