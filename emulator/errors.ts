import TYPES from './errorTypes.json';

/**
 * `type` of the error body, by HTTP status. The specification shows `invalid_request_error` only
 * (spec 7); the other values are ours. 404, 405, 413 and 415 are plain HTTP.
 */
const ERROR_TYPES: Readonly<Record<number, string>> = TYPES;

/** Error response: HTTP status, message for the caller, and extra headers. */
export class HttpError extends Error {
	override readonly name = 'HttpError';

	constructor(
		readonly status: number,
		message: string,
		readonly headers: Readonly<Record<string, string>> = {},
	) {
		super(message);
	}
}

/** Limit, because messages quote values of the request. */
const MAX_CHARACTERS = 500;

/** Error body of the chat and video endpoints (spec 7). */
export function errorBody(status: number, message: string) {
	const shown = message.slice(0, MAX_CHARACTERS);
	return { error: { message: shown, type: ERROR_TYPES[status] ?? 'invalid_request_error' } };
}
