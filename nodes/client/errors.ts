import type { JsonObject } from './json';

/** Something that the user entered cannot be sent. Thrown before any request. */
export class InputError extends Error {
	override readonly name = 'InputError';

	/**
	 * @param field The field's name as the editor shows it.
	 * @param problem What is wrong, to follow the name: `is empty`.
	 * @param hint What to do, as a sentence.
	 */
	constructor(
		readonly field: string,
		problem: string,
		readonly hint: string,
	) {
		super(`${field} ${problem}`);
	}
}

export type ErrorKind =
	/** The service, or a file host, answered with an error status (spec 7). */
	| 'http'
	/** No answer, or the connection broke. */
	| 'network'
	/** The answer is not what the specification describes. */
	| 'protocol'
	/** The event stream ended before the reply did, or carried an error. */
	| 'stream'
	/** The service carried out the call, and its outcome is a failure: a video task that failed. */
	| 'failed'
	/** The person stopped the execution. */
	| 'cancelled';

export interface ErrorDetails {
	/** HTTP status, where the service answered. */
	readonly status?: number;
	/** Whether the same call may succeed a little later. */
	readonly retryable?: boolean;
	/**
	 * Whether the service may have carried out the call although it failed. Retrying such a call can be charged twice,
	 * so nothing retries it by itself.
	 */
	readonly outcomeUnknown?: boolean;
	/** The service's own words (`error.message`, spec 7). */
	readonly serviceMessage?: string;
	/** The service's own error type (`error.type`, spec 7). */
	readonly serviceType?: string;
	/** `trace_id`, for the service's support (spec 2.6). */
	readonly traceId?: string;
	/** The wait that the service asked for. */
	readonly retryAfterMs?: number;
	/** Code of a transport error, for example `ECONNREFUSED`. */
	readonly code?: string;
	/** What had arrived of a reply, in the form of a non-streamed body. */
	readonly partial?: JsonObject;
	/** What the call was about and must not be lost, by its output name: `task_id`, `video_url`. */
	readonly subject?: Readonly<Record<string, string>>;
	readonly cause?: unknown;
}

/** A call to the service went wrong. `message` and `hint` are our words for a person. */
export class ServiceError extends Error {
	override readonly name = 'ServiceError';

	constructor(
		readonly kind: ErrorKind,
		message: string,
		readonly hint: string,
		readonly details: ErrorDetails = {},
	) {
		super(message, { cause: details.cause });
	}

	/** The same error with more details. */
	with(details: ErrorDetails): ServiceError {
		return new ServiceError(this.kind, this.message, this.hint, {
			...this.details,
			...details,
		});
	}
}

/** Whether the service may have carried out the call although it failed. */
export function isOutcomeUnknown(error: unknown): error is ServiceError {
	return error instanceof ServiceError && error.details.outcomeUnknown === true;
}

/** Whether the error says that a person stopped the execution. */
export function isCancelled(error: unknown): boolean {
	return error instanceof ServiceError && error.kind === 'cancelled';
}
