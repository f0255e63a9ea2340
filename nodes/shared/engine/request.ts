import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
	ISupplyDataFunctions,
} from 'n8n-workflow';

/**
 * The context with other members in place of its own.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/node-execution-context/execute-context.js: its methods read `this`
 * Without it: n8n throws, before anything is sent, where it needs its own object.
 */
export function deriveContext<T extends object>(context: T, members: Partial<T>): T {
	return Object.create(context, Object.getOwnPropertyDescriptors(members)) as T;
}

/** A credential that is decrypted, and its type. */
interface Decrypted {
	readonly type: string;
	readonly data: ICredentialDataDecryptedObject;
}

/**
 * Sends a request with a credential that has been read already: n8n would load and decrypt it for every request. The signal of
 * the options ends it: n8n would replace that with the one of the execution.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/node-execution-context/utils/request-helpers/authentication.js
 * Without it: n8n reads the credential again; a request ends with the execution or after its idle timeout, not at its deadline.
 */
export async function requestWithCredential(
	context: IExecuteFunctions | ISupplyDataFunctions,
	{ type, data }: Decrypted,
	options: IHttpRequestOptions & { readonly abortSignal: AbortSignal },
): Promise<IN8nHttpFullResponse> {
	const credentialsDecrypted = { id: '', name: type, type, data };
	return (await context.helpers.httpRequestWithAuthentication.call(
		deriveContext(context, { getExecutionCancelSignal: () => options.abortSignal }),
		type,
		options,
		{ credentialsDecrypted },
	)) as IN8nHttpFullResponse;
}

/**
 * The name of n8n's error about an address that its rules forbid (SSRF protection), which its other errors wrap.
 *
 * n8n 2.41.1, @n8n/backend-network/dist/ssrf/ssrf-blocked-ip.error.js
 * Without it: undefined; such a request is tried again as a lost connection, free of charge.
 */
export function ssrfErrorName(error: unknown): string | undefined {
	for (let cause = error; cause instanceof Error; cause = cause.cause)
		if (cause.name.startsWith('SsrfBlocked')) return cause.name;
	return undefined;
}
