import { ServiceError, type ErrorKind } from '../errors';

interface TransportRow {
	readonly codes: RegExp;
	readonly kind: ErrorKind;
	readonly message: string;
	readonly hint: string;
	readonly retryable: boolean;
	/** Whether the request may have reached the service. */
	readonly outcomeUnknown: boolean;
}

/** What a broken connection means to a person, by the code that the HTTP library gives; the first match wins. */
export const TRANSPORT_ROWS: readonly TransportRow[] = [
	{
		codes: /^ECONNREFUSED$/,
		kind: 'network',
		message: 'Nothing answers at the address of the service',
		hint: 'Check host and port of the Base URL, and that the service is running',
		retryable: true,
		outcomeUnknown: false,
	},
	{
		codes: /^(ENOTFOUND|EAI_AGAIN)$/,
		kind: 'network',
		message: 'The host name of the service was not found',
		hint: 'Check the Base URL, and that this machine can look up names',
		retryable: true,
		outcomeUnknown: false,
	},
	{
		codes: /^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/,
		kind: 'network',
		message: 'The service did not answer in time',
		hint: 'Try again, or allow more time under Options',
		retryable: true,
		outcomeUnknown: true,
	},
	{
		codes: /^EPROTO$|CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/,
		kind: 'network',
		message: 'No secure connection to the service could be made',
		hint: 'Check the certificate of the host in the Base URL',
		retryable: false,
		outcomeUnknown: false,
	},
	{
		codes: /^(ERR_CANCELED|ABORT_ERR)$/,
		kind: 'cancelled',
		// n8n tells a stopped execution from a failed one by the word "canceled".
		message: 'The execution was canceled',
		hint: 'Run the workflow again when you want to',
		retryable: false,
		outcomeUnknown: false,
	},
	{
		codes: /^/,
		kind: 'network',
		message: 'The connection to the service broke',
		hint: 'Try again; if it stays, look for a proxy or firewall in between',
		retryable: true,
		outcomeUnknown: true,
	},
];

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

/** The error for an execution that a person stopped. */
export function cancelledError(): ServiceError {
	return transportError(Object.assign(new Error('canceled'), { code: 'ERR_CANCELED' }));
}

/** The error for a request that got no response, or whose connection broke; a ServiceError passes unchanged. */
export function transportError(cause: unknown): ServiceError {
	if (cause instanceof ServiceError) return cause;

	const code = codeOf(cause);
	const { kind, message, hint, retryable, outcomeUnknown } = TRANSPORT_ROWS.find(({ codes }) =>
		codes.test(code),
	)!;
	return new ServiceError(kind, message, hint, { code, retryable, outcomeUnknown, cause });
}
