import { ServiceError, type ErrorKind } from '../errors';
import type { Deadline } from '../ports';

interface TransportRow {
	readonly codes: RegExp;
	/** Default: `network`. */
	readonly kind?: ErrorKind;
	/** Must not contain an error code such as EPERM, in any case: n8n replaces such a message with its own. */
	readonly message: string;
	readonly hint: string;
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
		hint: 'Check host and port of the Base URL, and that the service is running',
		retryable: true,
	},
	{
		codes: /^(ENOTFOUND|EAI_AGAIN)$/,
		message: 'Could not resolve the host name of the service',
		hint: 'Check the Base URL, and that DNS works on the machine that runs n8n',
		retryable: true,
	},
	{
		codes: /^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/,
		message: 'The service did not respond in time',
		hint: 'Try again. If it happens again, check host and port of the Base URL, or raise the timeout of the node under Options',
		retryable: true,
		outcomeUnknown: true,
	},
	{
		codes: /^EPROTO$|CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/,
		message: 'Could not establish a secure connection to the service',
		hint: 'Check the certificate of the host in the Base URL, and that https:// is right',
	},
	{
		codes: /^SsrfBlocked/,
		message: 'n8n does not open this address',
		hint: 'Check the Base URL, or allow the host in N8N_SSRF_ALLOWED_HOSTNAMES of n8n',
	},
	{
		codes: /^(ERR_CANCELED|ABORT_ERR)$/,
		kind: 'canceled',
		// n8n recognizes a canceled execution by the word "canceled" in the message.
		message: 'The execution was canceled',
		hint: 'Run the workflow again to start over',
	},
	{
		codes: /^/,
		message: 'The connection to the service was lost',
		hint: 'Try again; if it happens again, check scheme and port of the Base URL, and look for a proxy or firewall in between',
		retryable: true,
		outcomeUnknown: true,
	},
];

/** The first error code in the chain of causes; n8n wraps the errors of axios. */
function codeOf(error: unknown): string {
	for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
		const { code, httpCode, name } = at as Error & { code?: unknown; httpCode?: unknown };
		const found = [code, httpCode, /^Ssrf/.exec(name) && name].find(
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
		'Ask for less in one call, or raise Maximum Duration under Options',
		{ retryable: true, outcomeUnknown: true },
	);
}

/** Classifies an error of the HTTP port: no response, or the connection was lost. Returns a ServiceError unchanged. */
export function transportError(cause: unknown): ServiceError {
	if (cause instanceof ServiceError) return cause;

	const code = codeOf(cause);
	const row = TRANSPORT_ROWS.find(({ codes }) => codes.test(code))!;
	const { kind = 'network', message, hint, retryable = false, outcomeUnknown = false } = row;
	return new ServiceError(kind, message, hint, { code, retryable, outcomeUnknown, cause });
}
