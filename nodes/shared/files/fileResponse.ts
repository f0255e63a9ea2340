import type {
	BinaryHelperFunctions,
	IExecuteFunctions,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
	RequestHelperFunctions,
} from 'n8n-workflow';

import { ServiceError, type Advice } from '../../client/errors';
import { hostOf, isPrivateAddress, isPrivateUrl } from '../../client/http/publicUrl';
import { excerpt } from '../../client/http/request';
import { transportError } from '../../client/http/failures';
import { blocked, n8nService } from '../run/host';

/** The stream type that n8n's binary store accepts; nodes must not import Node's own. */
export type Readable = Exclude<
	Parameters<BinaryHelperFunctions['prepareBinaryData']>[0],
	Buffer | Uint8Array
>;

/** Idle timeout of a download. */
const IDLE_TIMEOUT_MS = 60_000;
const MAX_REDIRECTS = 10;

/** What the user can do after a failed download. */
export const OPEN_URL = 'Open the URL of the file';

const TRUST_HOST = 'If you trust it, download it with an HTTP Request node';

/** The response of a file host, with its body unread. */
export type FileResponse = Awaited<ReturnType<typeof request>>;

/**
 * Requests a download. Sent without the credential: files are on third-party hosts. Redirects are followed here and not by n8n, so that every host on the way is judged. Only a service
 * on a private network may have its files there.
 *
 * @throws ServiceError `protocol` for a URL that is not http(s) or leads to a private network, `network` when the
 *   connection fails, `http` for an error status.
 */
export async function openFile(
	context: IExecuteFunctions,
	url: string,
	signal: AbortSignal,
): Promise<FileResponse> {
	const { isPrivate: allowsPrivate } = await n8nService(context);
	let at = url.trim();
	if (!isHttpUrl(at)) throw badUrl(`is not an http(s) URL: ${excerpt(url)}`);
	for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
		const host = allowsPrivate ? {} : await judgeHost(context, at);
		if (host === 'private')
			throw badUrl(`leads to a private network: ${hostOf(at)}`, TRUST_HOST);
		const response = await request(context, {
			url: at,
			// Without compression, so that the announced length is that of the file.
			headers: { 'Accept-Encoding': 'identity' },
			agentOptions: host,
			signal,
		});
		const { status, headers, close } = response;
		if (status >= 200 && status < 300 && status !== 206) return response;
		close();
		const { location } = headers;
		if (status < 300 || status >= 400 || location === undefined) throw badStatus(status);
		at = URL.canParse(location, at) ? new URL(location, at).href : '';
		if (!isHttpUrl(at)) throw badUrl('redirects to an address that cannot be opened');
	}
	throw badUrl('redirects without end');
}

async function request(
	context: IExecuteFunctions,
	{ signal, ...options }: IHttpRequestOptions & { readonly signal: AbortSignal },
) {
	const closing = new AbortController();
	const response = (await context.helpers
		.httpRequest({
			...options,
			method: 'GET',
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: IDLE_TIMEOUT_MS,
			abortSignal: AbortSignal.any([signal, closing.signal]),
		})
		.catch((error: unknown) => {
			throw downloadInterrupted(error);
		})) as IN8nHttpFullResponse;
	const headers = response.headers as Readonly<Record<string, string | undefined>>;
	const { 'content-length': length } = headers;
	return {
		status: response.statusCode,
		headers,
		// `encoding: 'stream'` makes it a stream; n8n's type does not follow the option.
		body: response.body as unknown as Readable,
		/** Closes the connection. A body that waits for bytes cannot be closed by `destroy`: n8n's helper wraps it. */
		close: () => {
			closing.abort();
		},
		/** Announced size in bytes. Of a file that the host compresses all the same, it is the compressed size. */
		length: length === undefined ? undefined : Number(length),
	};
}

/**
 * A Node stream of the chunks. It is made with the class of a stream that n8n returned, because nodes must not import
 * Node's own modules.
 */
export function toStream(like: Readable, chunks: AsyncIterable<Uint8Array>): Readable {
	const Stream = like.constructor as unknown as {
		from(chunks: AsyncIterable<Uint8Array>): Readable;
	};
	return Stream.from(chunks);
}

/** Codes of decompression, without that of data that ends too early: there the connection was lost. */
const BROKEN_DATA = /^(?!Z_BUF_)(Z_|ERR_+(BROTLI|ERROR_FORMAT|ZSTD))/;

/** The error for a failed download. Only a lost connection is retryable. */
export function downloadInterrupted(cause?: unknown): ServiceError {
	if (cause instanceof ServiceError) return cause;
	const error = blocked(cause) ?? transportError(cause);
	if (error.kind === 'canceled') return error;
	const { code } = Object(cause) as { code?: unknown };
	const isBroken = BROKEN_DATA.test(String(code));
	const reason = isBroken ? 'The host sent broken compressed data' : refusal(cause);
	const message = reason ?? 'The download was interrupted';
	const final = reason === undefined ? {} : { retryable: false };
	return new ServiceError('network', message, OPEN_URL, { ...error.details, ...final });
}

/** What n8n says about an address that its rules forbid. Its own errors have a level. */
function refusal(cause: unknown): string | undefined {
	const errors = [cause, (cause as Error | undefined)?.cause].filter(
		(each) => each instanceof Error,
	);
	const own = errors.find((error) => 'level' in error);
	return own && `n8n did not open the URL of the file: ${excerpt(own.message)}`;
}

function isHttpUrl(url: string): boolean {
	return /^https?:\/\//i.test(url) && URL.canParse(url);
}

function badUrl(problem: string, advice: Advice = OPEN_URL): ServiceError {
	return new ServiceError('protocol', `The URL of the file ${problem}`, advice);
}

function badStatus(status: number): ServiceError {
	return new ServiceError('http', 'The file could not be downloaded', OPEN_URL, {
		status,
		retryable: status === 429 || status >= 500,
	});
}

/** A name that never resolves (RFC 6761); the dot at its end keeps the domain of the machine off. */
const UNRESOLVED = 'unresolved.invalid.';

/**
 * Judges the host of a URL by all addresses that it resolves to, before a connection is opened.
 *
 * The options that are returned make http: connect to the judged address, also if the name resolves to another one a
 * moment later (DNS rebinding). With https: the certificate proves the name: a private host has none for it, and an
 * address in place of the name would be wrong for a proxy. Behind a proxy the proxy resolves the name.
 *
 * @returns `private`, or options for the agent of n8n's request.
 */
export async function judgeHost(
	context: IExecuteFunctions,
	url: string,
): Promise<'private' | { readonly host?: string }> {
	if (isPrivateUrl(url)) return 'private';
	const addresses = await lookUp(context, hostOf(url));
	if (addresses?.some(isPrivateAddress)) return 'private';
	if (addresses === undefined || new URL(url).protocol === 'https:') return {};
	const [first = UNRESOLVED] = addresses;
	return { host: addresses.find((address) => !address.includes(':')) ?? first };
}

/** The addresses of a host, by n8n's resolver; none where it does not resolve. An older n8n gives nodes no resolver. */
async function lookUp(context: IExecuteFunctions, host: string): Promise<string[] | undefined> {
	const helpers: Partial<RequestHelperFunctions> = context.helpers;
	const resolve = helpers.getSecureEgressFilter?.().createSecureLookup();
	if (resolve === undefined) return undefined;
	return await new Promise((done) => {
		resolve(host, { all: true }, (error, found) => {
			const list = typeof found === 'string' ? [] : found;
			done(error === null ? list.map(({ address }) => address) : []);
		});
	});
}
