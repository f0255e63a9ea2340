import type { IBinaryData, IN8nHttpFullResponse, INodeExecutionData } from 'n8n-workflow';

import { settled } from '../../client/concurrency';
import { isCanceled, ServiceError, type Advice } from '../../client/errors';
import { hostOf, isPrivateAddress, isPrivateUrl } from '../../client/http/publicUrl';
import { excerpt, readBytes } from '../../client/http/request';
import { startDeadline, withRetry } from '../../client/http/retry';
import { transportError } from '../../client/http/failures';
import { isJsonObject } from '../../client/json';
import { counted } from '../../client/values';
import { lookup, type Readable, streamOf, toStream } from '../engine/request';
import { blocked, watchRequest } from '../run/host';
import type { Run } from '../run/run';
import { countBytes, type DownloadLimits } from './downloadLimits';
import { inspectFile, type FileFacts } from './inspectFile';
import { fileNameOf, judgeFile, OPEN_URL } from './judgeFile';

export interface Download {
	readonly url: string;
	/** File name; it gets the extension of the file type. */
	readonly name: string;
	/** `video`, `image` or `audio` for a file of that kind; the media type of any other file, or ANY_FILE. */
	readonly expected: string;
	readonly limits: DownloadLimits;
	/** What an error must name so that it is not lost: the task ID, the URL. */
	readonly subject: Readonly<Record<string, string>>;
	/** What the user can do after the last failed attempt. Default: open the URL. */
	readonly advice?: Advice;
	/** Whether a model has written the URL. The service names its files itself. */
	readonly isFromModel?: boolean;
	/** Maximum number of retries. Default: 5. */
	readonly retries?: number;
}

/** Number of bytes by which a file is judged; the rest is streamed. */
const HEAD_BYTES = 4_096;

/** Delay before each retry; after the last one the download has failed. */
const RETRY_DELAYS_MS = [500, 2_000, 5_000, 10_000, 20_000];

/** Limit for one file with all retries: a host that sends a byte now and then never ends. */
const MAX_MINUTES = 15;
/** Idle timeout of a download. */
const IDLE_TIMEOUT_MS = 60_000;
const MAX_REDIRECTS = 10;

/** A file in n8n's binary store. */
export interface StoredFile {
	readonly data: IBinaryData;
	readonly facts: FileFacts;
}

/**
 * Streams a file into n8n's binary store. An interrupted download begins again: the store cannot take bytes back. So does
 * one that was not found or not whole, but only once.
 *
 * @throws ServiceError when the download fails or brings something else, with `subject` in its details.
 * @throws InputError when the file, or the run, exceeds a limit.
 */
export async function downloadFile(run: Run, download: Download): Promise<StoredFile> {
	const { name, expected, limits, subject, advice = OPEN_URL, retries = 5 } = download;
	const { clock, context } = run;
	const canceled = context.getExecutionCancelSignal();
	const deadline = startDeadline(clock, MAX_MINUTES * 60_000);
	const watch = watchRequest({ idleTimeoutMs: Infinity, deadline }, canceled);

	const policy = { retries, retryOutcomeUnknown: true, delaysMs: RETRY_DELAYS_MS };
	let attempts = 0;
	const stored = withRetry(clock, policy, async (): Promise<StoredFile> => {
		const isFirst = ++attempts === 1;
		const { headers, body, close } = await openFile(run, download, watch.signal, isFirst);
		try {
			const count = countBytes.bind(undefined, run, limits);
			count(Number(headers['content-length'] ?? 0), 0);
			const chunks = chunksOf(body, count);
			const head = await readHead(chunks);
			const type = judgeFile(head, headers['content-type'] ?? '', expected);
			const inspection = inspectFile(type, expected, headers, isFirst);
			let facts: FileFacts | undefined;
			async function* inspected(): AsyncGenerator<Uint8Array> {
				inspection.push(head);
				yield head;
				for await (const chunk of chunks) {
					inspection.push(chunk);
					yield chunk;
				}
				facts = inspection.end();
			}
			const stream = toStream(body, inspected());
			const fileName = fileNameOf(name, type);
			const data = await context.helpers.prepareBinaryData(stream, fileName, type);
			return { data, facts: facts! };
		} finally {
			close();
		}
	});
	const file = await settled(stored);
	watch.end();
	if ('value' in file) return file.value;
	const { error } = file;
	const isLate = watch.signal.aborted && canceled?.aborted !== true;
	if (!(error instanceof ServiceError) || (isCanceled(error) && !isLate)) throw error;
	if (isLate) {
		const message = `The download took more than ${MAX_MINUTES} minutes`;
		throw new ServiceError('deadline', message, advice, { subject });
	}
	const own = error.advice.map((each) => (each === OPEN_URL ? advice : each));
	throw error.with({ subject }, { advice: own });
}

/**
 * Requests a download. Sent without the credential: files are on third-party hosts. Redirects are followed here and not by
 * n8n, so that every host on the way is judged. A host that is known may be on a private network; a service there may also
 * name other files there.
 *
 * @returns The response with its body unread. `close` closes the connection: a body that waits for bytes cannot be closed by
 *   `destroy`, as n8n's helper wraps it.
 * @throws ServiceError `protocol` for a URL that is not http(s) or leads to a private network, `network` when the
 *   connection fails, `http` for an error status.
 */
async function openFile(
	run: Run,
	{ url, isFromModel = false }: Download,
	signal: AbortSignal,
	isFirst: boolean,
) {
	const { isPrivate, isKnown } = run.service();
	let at = url.trim();
	checkHttpUrl(at);
	for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
		const mayBePrivate = isKnown(at) || (isPrivate && !isFromModel);
		const agentOptions = mayBePrivate ? {} : await judgeHost(run, at);
		const closing = new AbortController();
		const response = (await run.context.helpers
			.httpRequest({
				url: at,
				method: 'GET',
				// Without compression, so that the announced length is that of the file.
				headers: { 'Accept-Encoding': 'identity' },
				agentOptions,
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
		const close = () => {
			closing.abort();
		};
		const { statusCode: status } = response;
		const headers = response.headers as Readonly<Record<string, string | undefined>>;
		const body = streamOf(response);
		const isFile = status === 206 ? isWholeRange(headers) : status >= 200 && status < 300;
		if (isFile) return { headers, body, close };
		close();
		const { location } = headers;
		if (status < 300 || status >= 400 || location === undefined) {
			const retryable =
				status >= 500 || PASSING.includes(status) || (status === 404 && isFirst);
			const message = 'The file could not be downloaded';
			throw new ServiceError('http', message, OPEN_URL, { status, retryable });
		}
		at = URL.canParse(location, at) ? new URL(location, at).href : '';
		if (!isHttpUrl(at)) throw badUrl('redirects to an address that cannot be opened');
	}
	throw badUrl('redirects without end');
}

/** Statuses of file hosts that pass: too slow, too early, too many requests. */
const PASSING = [408, 425, 429];

/** Whether a part of a file is all of it. */
function isWholeRange({
	'content-range': range = '',
}: Readonly<Record<string, string | undefined>>) {
	const [, last, length] = /^bytes 0-(\d+)\/(\d+)$/.exec(range.trim()) ?? [];
	return length !== undefined && Number(last) + 1 === Number(length);
}

const isHttpUrl = (url: string) => /^https?:\/\//i.test(url) && URL.canParse(url);

/** @throws ServiceError for a URL from which no file can come. */
export function checkHttpUrl(url: string, advice?: Advice): void {
	if (!isHttpUrl(url)) throw badUrl(`is not an http(s) URL: ${excerpt(url)}`, advice);
}

function badUrl(problem: string, advice: Advice = OPEN_URL): ServiceError {
	return new ServiceError('protocol', `The URL of the file ${problem}`, advice);
}

/** A name that never resolves (RFC 6761); the dot at its end keeps the domain of the machine off. */
const UNRESOLVED = 'unresolved.invalid.';

/**
 * Judges the host of a URL by all addresses that it resolves to, by n8n's resolver, before a connection is opened. n8n 2.20
 * gives nodes no resolver.
 *
 * The options that are returned make http: connect to the judged address, also if the name resolves to another one a
 * moment later (DNS rebinding). With https: the certificate proves the name: a private host has none for it, and an
 * address in place of the name would be wrong for a proxy. Behind a proxy the proxy resolves the name.
 *
 * @returns Options for the agent of n8n's request.
 * @throws ServiceError for a host on a private network.
 */
async function judgeHost(run: Run, url: string): Promise<{ readonly host?: string }> {
	const host = hostOf(url);
	const isPrivate = isPrivateUrl(url);
	const addresses = isPrivate ? undefined : await lookup(run.context, host);
	if (isPrivate || addresses?.some(isPrivateAddress)) {
		const todo = 'If you trust it, add it to File Hosts in the credential';
		throw badUrl(`leads to a private network: ${host}`, todo);
	}
	if (addresses === undefined || new URL(url).protocol === 'https:') return {};
	const [first = UNRESOLVED] = addresses;
	return { host: addresses.find((address) => !address.includes(':')) ?? first };
}

/** Codes of decompression, without that of data that ends too early: there the connection was lost. */
const BROKEN_DATA = /^(?!Z_BUF_)(Z_|ERR_+(BROTLI|ERROR_FORMAT|ZSTD))/;

/** The error for a failed download. Only a lost connection is retryable. */
function downloadInterrupted(cause: unknown): ServiceError {
	const error = blocked(cause) ?? transportError(cause);
	if (error === cause || error.kind === 'canceled') return error;
	const { code, cause: inner } = Object(cause) as Partial<Record<string, unknown>>;
	// What n8n says about an address that its rules forbid: its own errors have a level.
	const refusal = [cause, inner].find((each) => each instanceof Error && 'level' in each);
	const reason = BROKEN_DATA.test(String(code))
		? 'The host sent broken compressed data'
		: refusal && `n8n did not open the URL of the file: ${excerpt((refusal as Error).message)}`;
	return new ServiceError('network', reason ?? 'The download was interrupted', OPEN_URL, {
		...error.details,
		...(reason !== undefined && { retryable: false }),
	});
}

/** The chunks of a file. `count` counts them against the limits. */
async function* chunksOf(
	body: Readable,
	count: (fileBytes: number, newBytes: number) => void,
): AsyncGenerator<Uint8Array, undefined> {
	let bytes = 0;
	for await (const chunk of readBytes(body as AsyncIterable<Uint8Array>, downloadInterrupted)) {
		bytes += chunk.byteLength;
		count(bytes, chunk.byteLength);
		yield chunk;
	}
}

/** The first bytes of a file; all of a smaller one. */
async function readHead(chunks: AsyncGenerator<Uint8Array, undefined>): Promise<Buffer> {
	let head = Buffer.alloc(0);
	while (head.length < HEAD_BYTES) {
		const { value } = await chunks.next();
		if (value === undefined) break;
		head = Buffer.concat([head, value]);
	}
	return head;
}

/**
 * Stores the file that a data: URL contains.
 *
 * @throws ServiceError when the URL cannot be decoded, or contains something else.
 * @throws InputError when the file exceeds a limit.
 */
export async function decodeFile(
	run: Run,
	{ url, name, expected, limits }: Pick<Download, 'url' | 'name' | 'expected' | 'limits'>,
): Promise<IBinaryData> {
	const response = await fetch(url).catch((cause: unknown) => {
		throw new ServiceError('protocol', 'The file in the reply cannot be decoded', [], {
			cause,
		});
	});
	const bytes = Buffer.from(await response.arrayBuffer());
	countBytes(run, limits, bytes.length, bytes.length);
	const declared = response.headers.get('content-type') ?? '';
	const type = judgeFile(bytes.subarray(0, HEAD_BYTES), declared, expected, 'reply');
	const inspection = inspectFile(type, expected, {});
	inspection.push(bytes);
	inspection.end();
	return await run.context.helpers.prepareBinaryData(bytes, fileNameOf(name, type), type);
}

/** Shows how many files of the items are missing: those with an `error_message` in the list `field`. */
export function hintMissingFiles(
	run: Run,
	items: readonly INodeExecutionData[],
	field: 'media' | 'missing_files',
): void {
	// In a raw output, or in a report on a task, the service may have a field of this name.
	const files = items.flatMap(({ json }) => json[field] ?? []);
	const missing = files.filter((file) => isJsonObject(file) && 'error_message' in file).length;
	if (missing === 0) return;
	run.hint(`${counted(missing, 'file')} could not be downloaded. See "${field}" in the output.`);
}
