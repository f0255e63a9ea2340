import { ServiceError, type AdviceCode, type ErrorKind } from '../errors';
import type { Deadline } from '../ports';

interface TransportRow {
	readonly codes: RegExp;
	/** Default: `network`. */
	readonly kind?: ErrorKind;
	/** Must not contain an error code such as EPERM, in any case: the host replaces such a message with its own. */
	readonly message: string;
	readonly advice: AdviceCode;
	/** Default: false. */
	readonly retryable?: boolean;
	/** Whether the request may have reached the service. Default: false. */
	readonly outcomeUnknown?: boolean;
}

/** Errors without an HTTP response, by the error code of Node or axios; the first match wins. */
export const TRANSPORT_ROWS: readonly TransportRow[] = [
	{
		codes: /^ECONNREFUSED$/,
		message: 'Could not connect to the service (connection refused)',
		advice: 'checkHostAndPort',
		retryable: true,
	},
	{
		codes: /^(ENOTFOUND|EAI_AGAIN)$/,
		message: 'Could not resolve the host name of the service',
		advice: 'checkDns',
		retryable: true,
	},
	{
		codes: /^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/,
		message: 'The service did not respond in time',
		advice: 'raiseTimeout',
		retryable: true,
		outcomeUnknown: true,
	},
	{
		codes: /^EPROTO$|CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/,
		message: 'Could not establish a secure connection to the service',
		advice: 'checkCertificate',
	},
	{
		codes: /^(ERR_CANCELED|ABORT_ERR)$/,
		kind: 'canceled',
		// The host recognizes a canceled execution by the word "canceled" in the message.
		message: 'The execution was canceled',
		advice: 'startOver',
	},
	{
		codes: /^/,
		message: 'The connection to the service was lost',
		advice: 'checkConnection',
		retryable: true,
		outcomeUnknown: true,
	},
];

/** The first error code in the chain of causes: a host may wrap it. */
function codeOf(error: unknown): string {
	for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
		const { code, httpCode } = at as Error & { code?: unknown; httpCode?: unknown };
		const found = [code, httpCode].find(
			(value) => typeof value === 'string' && /^[A-Z]/.test(value),
		);
		if (typeof found === 'string') return found;
	}
	return '';
}

/** The error for a canceled execution. */
export function canceledError(): ServiceError {
	return transportError(Object.assign(new Error('canceled'), { code: 'ERR_CANCELED' }));
}

/** The error for a call that exceeded its total timeout. */
export function deadlineError({ limitMs }: Deadline): ServiceError {
	return new ServiceError(
		'deadline',
		`The call exceeded its Maximum Duration of ${limitMs / 1000} seconds`,
		'askForLess',
		{ retryable: true, outcomeUnknown: true },
	);
}

/** Classifies an error of the HTTP port: no response, or the connection was lost. Returns a ServiceError unchanged. */
export function transportError(cause: unknown): ServiceError {
	if (cause instanceof ServiceError) return cause;

	const code = codeOf(cause);
	const row = TRANSPORT_ROWS.find(({ codes }) => codes.test(code))!;
	const { kind = 'network', message, advice, retryable = false, outcomeUnknown = false } = row;
	return new ServiceError(kind, message, advice, { code, retryable, outcomeUnknown, cause });
}
