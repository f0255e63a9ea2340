import { settled } from '../concurrency';
import {
	fromSaved,
	ServiceError,
	type Advice,
	type ErrorDetails,
	type ErrorKind,
	type SavedError,
} from '../errors';
import { isJsonObject, objectOf, shorten } from '../json';
import type { Clock, Deadline, HttpPort } from '../ports';

/**
 * Endpoint group: some statuses have different meanings for chat and for video (spec 7), in a chat without an app code, and for a
 * super assistant.
 */
export type Endpoint = 'chat' | 'model' | 'assistant' | 'video';

/**
 * What a status or a transport error means.
 *
 * @param message Must not contain an error code such as EPERM, in any case: the host replaces such a message with its own.
 */
const row = (
	message: string,
	advice: Advice,
	{ kind = 'http', ...flags }: ErrorDetails & { readonly kind?: ErrorKind } = {},
): SavedError => ({
	kind,
	message,
	advice: [advice],
	details: { retryable: false, outcomeUnknown: false, ...flags },
});

const PASSES = { retryable: true } as const;
const OF_REQUEST = { affects: 'request' } as const;
const MAY_BE_DONE = { retryable: true, outcomeUnknown: true } as const;

/** Statuses with the same meaning for chat and for video. */
const COMMON: Readonly<Record<number, SavedError>> = {
	401: row('The service rejected the API key', 'checkKey'),
	406: row('Insufficient credit', 'topUp', { affects: 'credit' }),
	429: row('Too many requests: rate limit reached', 'slowDown', PASSES),
	503: row('The service is temporarily unavailable', 'tryLater', MAY_BE_DONE),
};

const MODERATED = 'Content moderation rejected the request';
const UNKNOWN_MODEL = row(
	'The model does not exist, or the account has no access to it',
	'chooseModel',
);

const CHAT: Readonly<Record<number, SavedError>> = {
	...COMMON,
	400: row('The service rejected the request as malformed', 'correctWhatIsNamed', OF_REQUEST),
	402: row('There is no application with this app code', 'checkAppCode'),
	403: row('The API key has no access to this application', 'publishApp'),
	409: row(MODERATED, 'rephraseQuestion', OF_REQUEST),
};

/** Error statuses by endpoint group (spec 7.1, 7.2). */
export const STATUSES: Readonly<Record<Endpoint, Readonly<Record<number, SavedError>>>> = {
	chat: CHAT,
	model: {
		...CHAT,
		402: row('The account has no credit, or no access to the model', 'checkCreditAndModel'),
		403: row('The API key has no access', 'checkAccess'),
	},
	assistant: {
		...CHAT,
		// It may be about the answer, whose steps were charged (spec 2.7).
		409: row(MODERATED, 'rephraseQuestion', { ...OF_REQUEST, outcomeUnknown: true }),
	},
	video: {
		...COMMON,
		400: row('The service rejected a parameter', 'correctWhatIsNamed', OF_REQUEST),
		402: UNKNOWN_MODEL,
		409: row(MODERATED, 'rephrasePrompt', OF_REQUEST),
	},
};

/** Failures by a pattern: the first match counts. */
type Rows = readonly (readonly [RegExp, SavedError])[];

const REDIRECT = row('The service redirects the request to another address', 'useFinalAddress');
const NO_ACCESS = row('The API key has no access', 'useAnotherKey');
const NOT_FOUND = row('Not found: the address, or what the request names', 'checkAddressOrCode');
const REJECTED = 'The service rejected the request';
const FAILED = 'The service or a proxy in front of it failed';
/** Error statuses that the specification does not list. They usually come from a proxy or from another server. */
const UNLISTED: Rows = [
	// In a response with status 200.
	[/^$/, row('The service returned an error', 'correctWhatIsNamed')],
	// "See Other" may lead to the result of a request that was processed.
	[/^303/, { ...REDIRECT, details: { ...REDIRECT.details, outcomeUnknown: true } }],
	[/^[1-3]/, REDIRECT],
	[/^403/, NO_ACCESS],
	[/^40[45]/, NOT_FOUND],
	[/^(408|[5-9])/, row(FAILED, 'tryLater', MAY_BE_DONE)],
	// What the request contains (RFC 9110).
	[/^422/, row(REJECTED, 'correctWhatIsNamed', OF_REQUEST)],
	[/^/, row(REJECTED, 'correctWhatIsNamed')],
];

const UNSENT = { kind: 'network', retryable: true } as const;
const LOST = { ...UNSENT, outcomeUnknown: true } as const;
const REFUSED = 'Could not connect to the service';
const NO_NAME = 'Could not resolve the host name of the service';
const SILENT = 'The service did not respond in time';
const INSECURE = 'Could not establish a secure connection to the service';
// The host recognizes a canceled execution by the word "canceled" in the message.
const CANCELED = row('The execution was canceled', 'tasksContinue', { kind: 'canceled' });
/** Errors without an HTTP response, by the error code of Node or axios, or the system call `connect`. */
export const TRANSPORT_ERRORS: Rows = [
	[/^(ECONNREFUSED|connect)$/, row(REFUSED, 'checkHostAndPort', UNSENT)],
	[/^(ENOTFOUND|EAI_\w+)$/, row(NO_NAME, 'checkDns', UNSENT)],
	[/^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/, row(SILENT, 'raiseTimeout', LOST)],
	// In the handshake. Node reports what breaks after it, when the request may have arrived, as ERR_SSL_…
	[
		/^EPROTO$|CERT|^ERR_TLS|SELF_SIGNED|UNABLE_TO/,
		row(INSECURE, 'checkCertificate', { kind: 'network' }),
	],
	[/^(ERR_CANCELED|ABORT_ERR)$/, CANCELED],
	[/^/, row('The connection to the service was lost', 'checkConnection', LOST)],
];

function firstOf(rows: Rows, text: string): SavedError {
	return rows.find(([pattern]) => pattern.test(text))![1];
}

/** What an error means: a status, or a row of its own. */
type Meaning = number | SavedError;

const NO_APP = CHAT[402]!;
const TOO_LONG = row(
	'The conversation is too long for the model',
	'shortenConversation',
	OF_REQUEST,
);

// cspell:ignore accountoverdueerror invalidapikey datainspectionfailed sensitivecontentdetected invalidendpointormodel
/** Meanings by the code or the type of an error, whole and in lower case, in whatever status they come. */
const CODE_ROWS: readonly (readonly [Meaning, string])[] = [
	[406, 'insufficient_quota insufficient_user_quota insufficient_balance insufficient_credits'],
	[406, 'insufficient_balance_error exceeded_current_quota_error arrearage accountoverdueerror'],
	[401, 'invalid_api_key invalidapikey'],
	[429, 'rate_limit_exceeded rate_limit_error'],
	[409, 'content_filter content_policy_violation datainspectionfailed sensitivecontentdetected'],
	[UNKNOWN_MODEL, 'model_not_found invalidendpointormodel.notfound'],
	[NO_APP, 'app_not_found application_not_found'],
	[TOO_LONG, 'context_length_exceeded'],
];
const CODES = new Map(
	CODE_ROWS.flatMap(([meaning, codes]) => codes.split(' ').map((code) => [code, meaning])),
);
/** Meanings by the message of an error, where the specification is silent: the first match counts. */
const WORDS: readonly (readonly [RegExp, Meaning])[] = [
	[/\b(insufficient|not enough|exceeded|no) (\w+ ){0,3}(balance|credits?|quota|funds)\b/i, 406],
	[/\b(balance|credits?|quota) (\w+ )?(insufficient|not enough|exhausted|exceeded)\b/i, 406],
	[/\b(arrears|overdue)\b|欠费|余额/i, 406],
	[/\bmodel\b.{0,80}(not (found|exist|open)|n.t exist|no access)|模型不存在/i, UNKNOWN_MODEL],
	[/\b(unknown|no such|invalid) model\b/i, UNKNOWN_MODEL],
	[/\bapplication\b.{0,80}(not (found|exist)|n.t exist)|应用不存在/i, NO_APP],
	[/(?<!case.?)sensitive|moderation|content.?filter|inappropriate|flagged/i, 409],
	[/(invalid|incorrect|expired) (api.?key|token)|unauthorized|login fail/i, 401],
	[/(maximum|max) (context|input) length|prompt is too long/i, TOO_LONG],
];
/** Statuses that services use for credit, key, model and moderation alike, except where the specification says what they mean. */
const SHARED: readonly number[] = [402, 403];

/**
 * The error for an error status. An exact code of the service decides before the status, the words of its message only where
 * the specification is silent: about an error in a response with status 200, and where services use one status for everything.
 * In a response of a super assistant it may be about one of the steps that are charged (spec 2.7): only a code or a status that
 * rejects the whole call says that it has run none, in whatever words.
 *
 * @param status Undefined for an error in a response with status 200, which may name one: `known.status`.
 * @param known What is known of the error.
 */
export function statusError(
	endpoint: Endpoint,
	status: number | undefined,
	known: ErrorDetails = {},
): ServiceError {
	const { serviceMessage = '', serviceType = '', serviceCode = '' } = known;
	const isShared = endpoint === 'model' || endpoint === 'video';
	const isSilent = status === undefined || (isShared && SHARED.includes(status));
	const words = isSilent ? shorten(serviceMessage, 2_000) : '';
	const coded = CODES.get(serviceCode.toLowerCase()) ?? CODES.get(serviceType.toLowerCase());
	const told = coded ?? WORDS.find(([pattern]) => pattern.test(words))?.[1];
	const named = status ?? known.status;
	const rows = STATUSES[endpoint];
	const rowOf = (meaning: Meaning = 0) => (typeof meaning === 'object' ? meaning : rows[meaning]);
	const found = rowOf(told ?? named) ?? firstOf(UNLISTED, String(named ?? ''));
	const sure = rowOf(coded ?? named);
	const isRejected = sure?.details.outcomeUnknown === false && Object.values(rows).includes(sure);
	const mayHaveRun = endpoint === 'assistant' && (status ?? 500) >= 500 && !isRejected;
	return fromSaved(found, mayHaveRun ? { ...known, outcomeUnknown: true } : known);
}

/** The error for a call that exceeded its total timeout. */
export function deadlineError({ limitMs }: Deadline): ServiceError {
	const message = `The call exceeded its Timeout of ${limitMs / 1000} seconds`;
	return new ServiceError('deadline', message, 'askForLess', MAY_BE_DONE);
}

/** The error for a canceled execution. */
export function canceledError(): ServiceError {
	return fromSaved(CANCELED);
}

/** Classifies an error of the HTTP port: no response, or the connection was lost. Returns a ServiceError unchanged. */
export function transportError(cause: unknown): ServiceError {
	if (cause instanceof ServiceError) return cause;
	let code = '';
	let means = '';
	// A host may wrap it.
	for (let at = cause, depth = 0; isJsonObject(at) && depth < 5; at = at['cause'], depth++) {
		for (const found of [at['code'], at['httpCode']])
			if (typeof found === 'string' && /^[A-Z]/.test(found)) code ||= found;
		// Whatever the code is: without a connection nothing was sent.
		if (isUnconnected(at)) means = 'connect';
	}
	return fromSaved(firstOf(TRANSPORT_ERRORS, means || code), { code, cause });
}

/** Whether no connection was made: of a host with several addresses, to none of them. */
function isUnconnected(error: unknown): boolean {
	const { syscall, errors } = objectOf(error);
	if (Array.isArray(errors) && errors.length > 0) return errors.every(isUnconnected);
	return syscall === 'connect';
}

/** How a call is retried. */
export interface RetryPolicy {
	/** Maximum retries after the first attempt. */
	readonly retries: number;
	/** Whether to retry requests that the service may have processed. They may be charged twice. */
	readonly retryOutcomeUnknown: boolean;
	/** Maximum milliseconds from the first request to the last byte of the last one, with the pauses before retries. */
	readonly limitMs?: number;
	/** The delay before each retry, in place of the backoff. */
	readonly delaysMs?: readonly number[];
	/** Called before each retry. */
	readonly onRetry?: () => void;
}

/** Exponential backoff: the base delay doubles with every retry up to a maximum; jitter is a range of factors. */
const BACKOFF = { firstMs: 1_000, maxMs: 20_000, jitter: [0, 1] } as const;
/** For 429 without Retry-After: three retries outlast a limit per minute. */
const RATE_LIMIT_BACKOFF = { firstMs: 10_000, maxMs: 40_000, jitter: [1, 1.5] } as const;
/** Maximum sum of the delays of one call. A longer Retry-After ends the retries at once. */
const MAX_TOTAL_DELAY_MS = 120_000;

/**
 * Runs a call and retries retryable failures (spec 7: 429, 503, connection errors) with exponential backoff and jitter,
 * never sooner than Retry-After. Failures with an unknown outcome are retried only if the policy says so; 400, 401,
 * 402, 403, 406 and 409 never are.
 *
 * @param call Sends a request, which ends at the total timeout. No retry starts after it.
 * @param mayRetry Asked before each retry; `false` forbids it, e.g. when text has been streamed to the user.
 * @throws The last failure; ServiceError `deadline` after a pause that ended too late; the rejection of `clock.sleep` when
 *   the execution is canceled.
 */
export async function withRetry<T>(
	clock: Clock,
	{ retries, retryOutcomeUnknown, limitMs = Infinity, delaysMs = [], onRetry }: RetryPolicy,
	call: (deadline: Deadline) => Promise<T>,
	mayRetry: () => boolean = () => true,
): Promise<T> {
	const deadline = startDeadline(clock, limitMs);
	let totalDelayMs = 0;
	for (let retry = 0; ; retry++) {
		const outcome = await settled(call(deadline));
		if ('value' in outcome) return outcome.value;

		const { error: failure } = outcome;
		// Any other error is a bug.
		if (!(failure instanceof ServiceError)) throw failure;
		const leftMs = MAX_TOTAL_DELAY_MS - totalDelayMs;
		const delayMs = delaysMs[retry] ?? retryDelay(failure, retry, clock, leftMs);
		const isRetryable = failure.details.retryable === true;
		const isSafe = failure.details.outcomeUnknown !== true || retryOutcomeUnknown;
		const isInBudget = retry < retries && leftMs > 0 && delayMs <= leftMs;
		const isInTime = delayMs < deadline.leftMs();
		if (!isRetryable || !isSafe || !isInBudget || !isInTime || !mayRetry()) throw failure;

		await clock.sleep(delayMs);
		if (deadline.leftMs() <= 0)
			throw deadlineError(deadline).with({ outcomeUnknown: retryOutcomeUnknown });
		totalDelayMs += delayMs;
		onRetry?.();
	}
}

/** The delay that the service asks for, at least the backoff; the last backoff is clipped to the time that is left. */
function retryDelay(
	{ details: { status, retryAfterMs } }: ServiceError,
	retry: number,
	clock: Clock,
	leftMs: number,
): number {
	const isRateLimit = status === 429 && retryAfterMs === undefined;
	const { firstMs, maxMs, jitter } = isRateLimit ? RATE_LIMIT_BACKOFF : BACKOFF;
	const [low, high] = jitter;
	const backoffMs = Math.min(maxMs, firstMs * 2 ** retry) * (low + (high - low) * clock.random());
	return Math.max(retryAfterMs ?? 0, Math.min(backoffMs, leftMs));
}

/** Adds a total timeout to the requests of one call: bytes that keep arriving do not extend it. */
export function withDeadline(http: HttpPort, deadline: Deadline): HttpPort {
	return async (request) => await http({ ...request, deadline });
}

/** A total timeout that starts now. */
export function startDeadline({ now }: Pick<Clock, 'now'>, limitMs: number): Deadline {
	const endMs = now() + limitMs;
	return { limitMs, leftMs: () => endMs - now() };
}
