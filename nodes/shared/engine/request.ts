import type {
	BinaryHelperFunctions,
	ICredentialDataDecryptedObject,
	ICredentialTestFunctions,
	IExecuteFunctions,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
	ISupplyDataFunctions,
	RequestHelperFunctions,
} from 'n8n-workflow';

import { missing } from './context';

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

/** The stream type that n8n's binary store accepts; nodes must not import Node's own. */
export type Readable = Exclude<
	Parameters<BinaryHelperFunctions['prepareBinaryData']>[0],
	Buffer | Uint8Array
>;

/**
 * The body of a response: the option `encoding: 'stream'` makes it a stream. n8n's type does not follow the option.
 *
 * n8n 2.41.1, @n8n/backend-network/dist/http/axios/legacy.js
 * Without it: reading the body throws; a call has an unknown outcome, a download fails.
 */
export function streamOf({ body }: IN8nHttpFullResponse): Readable {
	return body as unknown as Readable;
}

/**
 * A Node stream of the chunks, made with the class of a stream that n8n returned: nodes must not import Node's own modules.
 *
 * n8n 2.41.1, n8n-core/dist/binary-data/binary-data.service.js
 * Without it: the download fails, and its URL stays in the output.
 */
export function toStream(like: Readable, chunks: AsyncIterable<Uint8Array>): Readable {
	type From = (chunks: AsyncIterable<Uint8Array>) => Readable;
	return (like.constructor as unknown as { readonly from: From }).from(chunks);
}

/**
 * The addresses of a host, by n8n's resolver; empty if it has none.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/node-execution-context/utils/request-helpers/factory.js
 * Without it, as in n8n 2.20, and from 2.30 on where its SSRF protection is off: undefined; only the name of the host is judged.
 */
export async function lookup(
	helpers: Partial<RequestHelperFunctions>,
	host: string,
): Promise<readonly string[] | undefined> {
	const filter = helpers.getSecureEgressFilter?.();
	const resolve = filter?.createSecureLookup();
	if (resolve === undefined) return undefined;
	return await new Promise((done) => {
		resolve(host, { all: true }, (error, found) => {
			const list = error !== null || typeof found === 'string' ? [] : found;
			done(list.map(({ address }) => address));
		});
	});
}

/**
 * Sends a request of a credential test, by the only helper that n8n gives it. Every status resolves; redirects are not followed.
 *
 * n8n 2.41.1, n8n/dist/services/credentials-tester.service.js
 * Without it: the test fails with an error that says so.
 */
export async function testRequest({ helpers }: ICredentialTestFunctions, options: object) {
	const { request } = helpers as Partial<typeof helpers>;
	if (request === undefined) throw missing('how a credential is tested');
	const form = { followRedirect: false, simple: false, resolveWithFullResponse: true };
	return (await request({ ...options, ...form, useStream: true })) as {
		readonly statusCode: number;
		readonly headers: Readonly<Record<string, string | undefined>>;
		readonly body: AsyncIterable<Uint8Array> & { destroy(): void };
	};
}

/**
 * Whether a URL is one that n8n has signed for a binary file, and so expires.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/node-execution-context/utils/binary-helper-functions.js
 * Without it: false; a memory keeps images whose URLs have expired.
 */
export const isSignedUrl = (url: string) => url.includes('/binary-data/signed?token=');
