import {
	fromSaved,
	ServiceError,
	type Advice,
	type ErrorDetails,
	type ErrorKind,
	type SavedError,
} from '../errors';
import { shorten } from '../json';
import { oneLine } from '../values';
import type { Deadline } from '../ports';

/** Endpoint group: some statuses have different meanings for chat and for video (spec 7), and in a chat without an app code. */
export type Endpoint = 'chat' | 'model' | 'video';

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
const MAY_BE_DONE = { retryable: true, outcomeUnknown: true } as const;

/** Statuses with the same meaning for chat and for video. */
const COMMON: Readonly<Record<number, SavedError>> = {
	401: row('The service rejected the API key', 'checkKey'),
	406: row('Insufficient credit', 'topUp'),
	429: row('Too many requests: rate limit reached', 'slowDown', PASSES),
	503: row('The service is temporarily unavailable', 'tryLater', MAY_BE_DONE),
};

const MODERATED = 'Content moderation rejected the request';
const NO_MODEL = 'The video model does not exist, or the account has no access to it';

const CHAT: Readonly<Record<number, SavedError>> = {
	...COMMON,
	400: row('The service rejected the request as malformed', 'correctWhatIsNamed'),
	402: row('There is no application with this app code', 'checkAppCode'),
	403: row('The API key has no access to this application', 'publishApp'),
	409: row(MODERATED, 'rephraseQuestion'),
};

/** Error statuses by endpoint group (spec 7.1, 7.2). */
export const STATUSES: Readonly<Record<Endpoint, Readonly<Record<number, SavedError>>>> = {
	chat: CHAT,
	model: {
		...CHAT,
		402: row('The account has no credit, or no access to the model', 'checkCreditAndModel'),
		403: row('The API key has no access', 'checkAccess'),
	},
	video: {
		...COMMON,
		400: row('The service rejected a parameter', 'correctWhatIsNamed'),
		402: row(NO_MODEL, 'chooseModel'),
		409: row(MODERATED, 'rephrasePrompt'),
	},
};

/** An error in a response with status 200. */
const NO_STATUS = row('The service returned an error', 'seeDetails');

/** Failures by a pattern: the first match counts. */
type Rows = readonly (readonly [RegExp, SavedError])[];

const REDIRECTS = [
	'The service redirects the request to another address',
	'useFinalAddress',
] as const;
/** Error statuses that the specification does not list. They usually come from a proxy or from another server. */
const UNLISTED: Rows = [
	// "See Other" may lead to the result of a request that was processed.
	[/^303/, row(...REDIRECTS, { outcomeUnknown: true })],
	[/^[1-3]/, row(...REDIRECTS)],
	[/^403/, row('The API key has no access', 'useAnotherKey')],
	[/^40[45]/, row('The service was not found at this address', 'checkAddress')],
	[
		/^(408|[5-9])/,
		row('The service or a proxy in front of it failed', 'tryLaterOrContact', MAY_BE_DONE),
	],
	[/^/, row('The service rejected the request', 'seeDetails')],
];

const NOT_SENT = { kind: 'network', retryable: true } as const;
const LOST = { ...NOT_SENT, outcomeUnknown: true } as const;
/** Errors without an HTTP response, by the error code of Node or axios. */
export const TRANSPORT_ERRORS: Rows = [
	[
		/^ECONNREFUSED$/,
		row('Could not connect to the service (connection refused)', 'checkHostAndPort', NOT_SENT),
	],
	[
		/^(ENOTFOUND|EAI_AGAIN)$/,
		row('Could not resolve the host name of the service', 'checkDns', NOT_SENT),
	],
	[
		/^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/,
		row('The service did not respond in time', 'raiseTimeout', LOST),
	],
	[
		/^EPROTO$|CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/,
		row('Could not establish a secure connection to the service', 'checkCertificate', {
			kind: 'network',
		}),
	],
	// The host recognizes a canceled execution by the word "canceled" in the message.
	[
		/^(ERR_CANCELED|ABORT_ERR)$/,
		row('The execution was canceled', 'startOver', { kind: 'canceled' }),
	],
	[/^/, row('The connection to the service was lost', 'checkConnection', LOST)],
];

function firstOf(rows: Rows, text: string): SavedError {
	return rows.find(([pattern]) => pattern.test(text))![1];
}

/** What the words of an error mean, in whatever status they come: its message, its type or its code. */
const MEANINGS: Rows = [
	[
		/(insufficient|not enough|no|out of|exceeded|low)\W+(\w+\W+){0,3}(balance|credits?|quota|funds)|(balance|credits?|quota) \w+ (insufficient|exhausted|exceeded)|arrear|overdue|billing|欠费|余额/i,
		row('Insufficient credit', 'topUp'),
	],
	[
		/model\b.{0,80}(not (found|exist|open)|n.t exist|no access)|model_?not_?found|(unknown|no such|invalid) model|模型不存在/i,
		row('The service does not know this model', 'chooseModel'),
	],
	[
		/application\b.{0,80}(not (found|exist)|n.t exist)|app_?not_?found|应用不存在/i,
		row('There is no application with this app code', 'checkAppCode'),
	],
	[
		/(?<!case.?)sensitive|moderation|content.?filter|data.?inspection|inappropriate|flagged/i,
		row(MODERATED, 'rephraseQuestion'),
	],
	[
		/(invalid|incorrect|expired) (api.?key|token)|unauthorized|login fail/i,
		row('The service rejected the API key', 'checkKey'),
	],
	[
		/(maximum|max) (context|input) length|context.length.exceeded|prompt is too long/i,
		row('The conversation is too long for the model', 'shortenConversation'),
	],
];
/** Statuses that say all by themselves. */
const CLEAR: readonly (number | undefined)[] = [401, 406, 409];

/**
 * The error for an error status; undefined stands for an error in a response with status 200. The words of the error decide
 * before a status that others use differently, and the advice quotes those that did.
 *
 * @param known What is known of the error.
 */
export function statusError(
	endpoint: Endpoint,
	status: number | undefined,
	known: ErrorDetails = {},
): ServiceError {
	const listed = status === undefined ? NO_STATUS : STATUSES[endpoint][status];
	const failure = listed ?? firstOf(UNLISTED, String(status));
	const isClear = CLEAR.includes(status) || (endpoint === 'video' && listed !== undefined);
	const { serviceMessage = '', serviceType = '' } = known;
	const words = shorten(`${serviceMessage} ${serviceType}`, 2_000);
	const meaning = isClear ? undefined : MEANINGS.find(([pattern]) => pattern.test(words));
	if (meaning === undefined) return fromSaved(failure, known);
	const [pattern, { message, advice }] = meaning;
	const quoted = `Seen in its message: "${oneLine(pattern.exec(words)![0].trim())}"` as const;
	const details = { ...failure.details, retryable: false, ...known };
	return new ServiceError(failure.kind, message, [quoted, ...advice], details);
}

/** The error for a call that exceeded its total timeout. */
export function deadlineError({ limitMs }: Deadline): ServiceError {
	const message = `The call exceeded its Timeout of ${limitMs / 1000} seconds`;
	return new ServiceError('deadline', message, 'askForLess', MAY_BE_DONE);
}

/** The error for a canceled execution. */
export function canceledError(): ServiceError {
	return transportError(Object.assign(new Error('canceled'), { code: 'ERR_CANCELED' }));
}

/** Classifies an error of the HTTP port: no response, or the connection was lost. Returns a ServiceError unchanged. */
export function transportError(cause: unknown): ServiceError {
	if (cause instanceof ServiceError) return cause;
	const code = codeOf(cause);
	return fromSaved(firstOf(TRANSPORT_ERRORS, code), { code, cause });
}

/** The first error code in the chain of causes: a host may wrap it. */
function codeOf(error: unknown): string {
	for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
		const { code, httpCode } = at as Error & { code?: unknown; httpCode?: unknown };
		for (const found of [code, httpCode])
			if (typeof found === 'string' && /^[A-Z]/.test(found)) return found;
	}
	return '';
}
