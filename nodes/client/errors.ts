import { shorten, withoutUndefined, type JsonObject } from './json';

/** Invalid input: a value or a connection that the user has to change. */
export class InputError extends Error {
	override readonly name = 'InputError';

	/**
	 * @param field Label of the field in the editor.
	 * @param problem What is wrong, as a continuation of the label: `is empty`.
	 * @param hint What to do, as a sentence without a period.
	 */
	constructor(
		readonly field: string,
		problem: string,
		readonly hint: string,
	) {
		// It may quote a value of any length.
		super(shorten(`${field} ${problem}`, 1_000));
	}
}

/** @throws InputError for the first of these mistakes that is made, by default with the usual hint. */
export function rejectMistakes(
	field: string,
	mistakes: readonly (readonly [isMade: boolean, problem: string, hint?: string])[],
	usualHint = '',
): void {
	const [, problem, hint = usualHint] = mistakes.find(([isMade]) => isMade) ?? [];
	if (problem !== undefined) throw new InputError(field, problem, hint);
}

/** Hint for a required text that is empty. */
export const EMPTY_TEXT_HINT = 'Enter a text, or an expression that returns one for every item';

/** The error for a required text field that is empty. */
export function emptyText(field: string): InputError {
	return new InputError(field, 'is empty', EMPTY_TEXT_HINT);
}

/** What kind of failure a ServiceError is. */
export type ErrorKind =
	/** The service or a file host returned an error status (spec 7). */
	| 'http'
	/** No response, or the connection was lost. */
	| 'network'
	/** The call exceeded its maximum duration. */
	| 'deadline'
	/** The response does not follow the specification. */
	| 'protocol'
	/** The event stream ended before the reply was complete, or contained an error. */
	| 'stream'
	/** The request succeeded, but the video task failed (spec 3.1). */
	| 'failed'
	/** The execution was canceled. */
	| 'canceled';

/** Facts of a failure. */
export interface ErrorDetails {
	/** HTTP status, if there was a response. */
	readonly status?: number;
	/** Whether the same request may succeed a little later. */
	readonly retryable?: boolean;
	/** What it is about: this request alone, so that another one may succeed; or the credit, without which none does. */
	readonly affects?: 'request' | 'credit';
	/** Whether the service may have processed the request. A retry may be charged twice, so only the user can allow it. */
	readonly outcomeUnknown?: boolean;
	/** Error message of the service (`error.message`, spec 7). */
	readonly serviceMessage?: string;
	/** Whether the body of the response has an error in the service's form (spec 7), so that the service itself has answered. */
	readonly isServiceForm?: boolean;
	/** Error type of the service (`error.type`, spec 7). */
	readonly serviceType?: string;
	/** Code of the error, where the service gives one beside the type. */
	readonly serviceCode?: string;
	/** `trace_id`: identifies the request for the support of the service (spec 2.6). */
	readonly traceId?: string;
	/** Delay requested by the `Retry-After` header. */
	readonly retryAfterMs?: number;
	/** Code of a transport error, e.g. `ECONNREFUSED`. */
	readonly code?: string;
	/** Partial reply received before the failure, in the form of a non-streamed body. */
	readonly partial?: JsonObject;
	/** Identifiers that must not be lost, by output field: `task_id`, `video_url`, `session_id`. */
	readonly subject?: Readonly<Record<string, string>>;
	readonly cause?: unknown;
}

/** A text of the service, shortened, and without control characters except line breaks and tabs. */
function plain(text: string | undefined, max: number): string | undefined {
	return text && shorten(text, max).replace(/[^\P{C}\n\t]+/gu, ' ');
}

/** What can be done about a failure. The host has the words for it: they name its forms and settings. */
export type AdviceCode =
	// The address, the key, the account.
	| 'checkAddress'
	| 'checkAddressOrCode'
	| 'askFirewall'
	| 'checkHostAndPort'
	| 'checkDns'
	| 'checkCertificate'
	| 'checkConnection'
	| 'useFinalAddress'
	| 'checkKey'
	| 'useAnotherKey'
	| 'topUp'
	| 'checkAppCode'
	| 'checkCreditAndModel'
	| 'checkAccess'
	| 'publishApp'
	// The request.
	| 'correctWhatIsNamed'
	| 'chooseModel'
	| 'rephrasePrompt'
	| 'rephraseQuestion'
	| 'askForLess'
	| 'continueSession'
	| 'shortenReply'
	| 'shortenConversation'
	| 'askAgain'
	| 'describeFields'
	// The same again.
	| 'tryLater'
	| 'slowDown'
	| 'raiseTimeout'
	| 'tasksContinue'
	| 'checkTask'
	| 'findProxy';

/** A code, or a sentence without a period: errors of the host have their own words. */
export type Advice = AdviceCode | `${string} ${string}`;

/** A failed request to the service. `message` says what happened, `advice` what can be done. */
export class ServiceError extends Error {
	override readonly name = 'ServiceError';

	readonly advice: readonly Advice[];
	readonly details: ErrorDetails;

	constructor(
		readonly kind: ErrorKind,
		message: string,
		advice: Advice | readonly Advice[],
		details: ErrorDetails = {},
	) {
		super(message, { cause: details.cause });
		this.advice = [advice].flat();
		this.details = withoutUndefined({
			...details,
			serviceMessage: plain(details.serviceMessage, 2_000),
			serviceType: plain(details.serviceType, 200),
			serviceCode: plain(details.serviceCode, 200),
			traceId: plain(details.traceId, 200),
		});
	}

	/** The same error with more details, and in other words. */
	with(details: ErrorDetails, words: Partial<SavedError> = {}): ServiceError {
		return fromSaved({ ...toSaved(this), ...words, details: this.details }, details);
	}
}

/** A ServiceError as plain JSON, without its cause, so that it can be saved with the execution. */
export type SavedError = Pick<ServiceError, 'kind' | 'message' | 'advice' | 'details'>;

/** The error as it is saved. */
export function toSaved({ kind, message, advice, details }: ServiceError): SavedError {
	const { cause, ...plain } = details;
	return { kind, message, advice, details: plain };
}

/** The error of a saved one, with `more` details. */
export function fromSaved(
	{ kind, message, advice, details }: SavedError,
	more: ErrorDetails = {},
): ServiceError {
	return new ServiceError(kind, message, advice, { ...details, ...more });
}

/** The error of a request: any other one than ours was thrown while its response was read. */
export function requestError(error: unknown): ServiceError {
	if (error instanceof ServiceError) return error;
	const details = { outcomeUnknown: true, cause: error };
	return new ServiceError('protocol', 'The response cannot be read', 'findProxy', details);
}

/** Whether the service may have processed the failed request. */
export function isOutcomeUnknown(error: unknown): error is ServiceError {
	return error instanceof ServiceError && error.details.outcomeUnknown === true;
}

/** Whether a failure is about this; see `ErrorDetails`. */
export function isAbout(what: NonNullable<ErrorDetails['affects']>, error: unknown): boolean {
	return error instanceof ServiceError && error.details.affects === what;
}

/** Whether the execution was canceled. */
export function isCanceled(error: unknown): boolean {
	return error instanceof ServiceError && error.kind === 'canceled';
}
