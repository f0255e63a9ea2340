import { ServiceError, type ErrorKind } from '../errors';

interface TransportRow {
	readonly codes: RegExp;
	readonly kind: ErrorKind;
	/** Must not contain an error code such as EPERM, in any case: n8n replaces such a message with its own. */
	readonly message: string;
	readonly hint: string;
	readonly retryable: boolean;
	/** Whether the request may have reached the service. */
	readonly outcomeUnknown: boolean;
}

/** Errors without an HTTP response, by the error code of Node or axios; the first match wins. */
export const TRANSPORT_ROWS: readonly TransportRow[] = [
	{
		codes: /^ECONNREFUSED$/,
		kind: 'network',
		message: 'Could not connect to the service (connection refused)',
		hint: 'Check host and port of the Base URL, and that the service is running',
		retryable: true,
		outcomeUnknown: false,
	},
	{
		codes: /^(ENOTFOUND|EAI_AGAIN)$/,
		kind: 'network',
		message: 'Could not resolve the host name of the service',
		hint: 'Check the Base URL, and that DNS works on the machine that runs n8n',
		retryable: true,
		outcomeUnknown: false,
	},
	{
		codes: /^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/,
		kind: 'network',
		message: 'The service did not respond in time',
		hint: 'Try again, or raise the timeout under Options',
		retryable: true,
		outcomeUnknown: true,
	},
	{
		codes: /^EPROTO$|CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/,
		kind: 'network',
		message: 'Could not establish a secure connection to the service',
		hint: 'Check the certificate of the host in the Base URL',
		retryable: false,
		outcomeUnknown: false,
	},
	{
		codes: /^(ERR_CANCELED|ABORT_ERR)$/,
		kind: 'canceled',
		// n8n recognizes a canceled execution by the word "canceled" in the message.
		message: 'The execution was canceled',
		hint: 'Run the workflow again to start over',
		retryable: false,
		outcomeUnknown: false,
	},
	{
		codes: /^/,
		kind: 'network',
		message: 'The connection to the service was lost',
		hint: 'Try again; if it happens again, look for a proxy or firewall in between',
		retryable: true,
		outcomeUnknown: true,
	},
];

/** The first error code in the chain of causes; n8n wraps the errors of axios. */
function codeOf(error: unknown): string {
	for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
		const { code, httpCode } = at as { code?: unknown; httpCode?: unknown };
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

/** Classifies an error of the HTTP port: no response, or the connection was lost. Returns a ServiceError unchanged. */
export function transportError(cause: unknown): ServiceError {
	if (cause instanceof ServiceError) return cause;

	const code = codeOf(cause);
	const { kind, message, hint, retryable, outcomeUnknown } = TRANSPORT_ROWS.find(({ codes }) =>
		codes.test(code),
	)!;
	return new ServiceError(kind, message, hint, { code, retryable, outcomeUnknown, cause });
}
