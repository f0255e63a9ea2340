import type { IBinaryData, IN8nHttpFullResponse, INodeExecutionData } from 'n8n-workflow';

import { settled } from '../../client/concurrency';
import { isCanceled, ServiceError, type Advice } from '../../client/errors';
import { isDataUrl } from '../../client/fileTypes';
import type { Deadline } from '../../client/ports';
import { hostOf, isPrivateAddress, isPrivateUrl } from '../../client/http/publicUrl';
import { excerpt, readBytes } from '../../client/http/request';
import { transportError, withRetry } from '../../client/http/failures';
import { isJsonObject } from '../../client/json';
import { counted } from '../../client/values';
import { lookup, streamOf, toStream } from '../engine/request';
import { blocked, watchRequest } from '../run/host';
import type { Run } from '../run/run';
import { checkFileSize, fileCheck, fileNameOf, judgeFile, OPEN_URL } from './fileKind';

export interface Download {
	/** An http(s) URL, or a data: URL, which contains the file. */
	readonly url: string;
	/** File name; it gets the extension of the file type. */
	readonly name: string;
	/** `video`, `image` or `audio` for a file of that kind; the media type of any other file, or ANY_FILE. */
	readonly expected: string;
	/** In megabytes; 0 means no limit. */
	readonly maximumFileSize: number;
	/** What an error must name so that it is not lost: the task ID, the URL. */
	readonly subject: Readonly<Record<string, string>>;
	/** What the user can do after the last failed attempt. Default: open the URL. */
	readonly advice?: readonly Advice[];
	/** Whether a model has written the URL. The service names its files itself. */
	readonly isFromModel?: boolean;
	/** Maximum number of retries. Default: 4. */
	readonly retries?: number;
	/** Milliseconds for it with all retries. Default: DOWNLOAD_LIMIT_MS. */
	readonly limitMs?: number;
}

/** Number of bytes by which a file is judged; the rest is streamed. */
const HEAD_BYTES = 4_096;

/** Delay before each retry: a file may be there some seconds after its task is completed. */
const RETRY_DELAYS_MS = [1_000, 3_000, 9_000, 20_000];
/** Statuses of file hosts that pass, beside 5xx: a URL that is not valid yet, a file that is not there yet, too many requests. */
const PASSING = [403, 404, 408, 425, 429];
/** With this status a host asks for a key, and gets none. */
const WANTS_KEY = 401;

/** Limit for one file with all retries: a host that sends a byte now and then never ends. */
const MAX_MINUTES = 15;
/** The same in milliseconds. */
export const DOWNLOAD_LIMIT_MS = MAX_MINUTES * 60_000;
/** Idle timeout of a download. */
const IDLE_TIMEOUT_MS = 60_000;
const MAX_REDIRECTS = 10;

/**
 * Streams a file into n8n's binary store. A download that breaks begins again: the store cannot take bytes back.
 *
 * @throws ServiceError when the download fails or brings something else, with `subject` in its details.
 * @throws InputError when the file exceeds the limit.
 */
export async function downloadFile(run: Run, download: Download): Promise<IBinaryData> {
	const { subject, advice = [OPEN_URL], retries = RETRY_DELAYS_MS.length } = download;
	const { limitMs = DOWNLOAD_LIMIT_MS } = download;
	const policy = { retries, retryOutcomeUnknown: true, delaysMs: RETRY_DELAYS_MS, limitMs };
	const file = await settled(
		isDataUrl(download.url)
			? decodeFile(run, download)
			: withRetry(
					run.clock,
					policy,
					async (deadline) => await fetchFile(run, download, deadline),
				),
	);
	if ('value' in file) return file.value;
	const { error } = file;
	if (!(error instanceof ServiceError) || isCanceled(error)) throw error;
	if (error.kind === 'deadline') {
		const message = `The download took more than ${MAX_MINUTES} minutes`;
		throw new ServiceError('deadline', message, advice, { subject });
	}
	const own = error.advice.flatMap((each) => (each === OPEN_URL ? advice : each));
	throw error.with({ subject }, { advice: own });
}

/** One attempt: stores the file while its bytes pass, of which only the first ones are kept. */
async function fetchFile(run: Run, download: Download, deadline: Deadline): Promise<IBinaryData> {
	const { name, expected, maximumFileSize } = download;
	const { headers, body, watch } = await openFile(run, download, deadline);
	try {
		checkFileSize(maximumFileSize, Number(headers['content-length'] ?? 0), true);
		const chunks = chunksOf(body, watch);
		const head = await readHead(chunks);
		const type = judgeFile(head, headers['content-type'] ?? '', expected);
		const check = fileCheck(type, maximumFileSize);
		async function* checked(): AsyncGenerator<Uint8Array> {
			check.push(head);
			yield head;
			for await (const chunk of chunks) {
				check.push(chunk);
				yield chunk;
			}
			check.end();
		}
		const stream = toStream(body, checked());
		return await run.helpers.prepareBinaryData(stream, fileNameOf(name, type), type);
	} finally {
		watch.close();
	}
}

/**
 * Requests a download. Sent without the credential: files are on third-party hosts. Redirects are followed here and not by
 * n8n, so that every host on the way is judged. A host that is known may be on a private network; a service there may also
 * name other files there.
 *
 * @returns The response with its body unread. Its watch ends the attempt where the host is silent. Close it: a body that
 *   waits for bytes cannot be closed by `destroy`, as n8n's helper wraps it.
 * @throws ServiceError `protocol` for a URL that is not http(s) or leads to a private network, `network` when the
 *   connection fails, `http` for an error status.
 */
async function openFile(run: Run, { url, isFromModel = false }: Download, deadline: Deadline) {
	const { isPrivate, isKnown } = run.service();
	let at = url.trim();
	checkHttpUrl(at);
	for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
		const mayBePrivate = isKnown(at) || (isPrivate && !isFromModel);
		const agentOptions = mayBePrivate ? {} : await judgeHost(run, at);
		const watch = watchRequest({ idleTimeoutMs: IDLE_TIMEOUT_MS, deadline }, run.canceled);
		const response = (await run.helpers
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
				abortSignal: watch.signal,
			})
			.catch((error: unknown) => {
				watch.end();
				throw downloadInterrupted(watch.explain(error));
			})) as IN8nHttpFullResponse;
		watch.touch();
		const { statusCode: status } = response;
		const headers = response.headers as Readonly<Record<string, string | undefined>>;
		const body = streamOf(response);
		// A part of a file was not asked for, but may be all of it.
		const { location, 'content-range': range, 'content-length': length = '?' } = headers;
		const isAll = status !== 206 || range?.endsWith(`/${length}`) === true;
		if (status >= 200 && status < 300 && isAll) return { headers, body, watch };
		if (status < 300 || status >= 400 || location === undefined) {
			const words = await readHead(chunksOf(body, watch)).catch(() => '');
			watch.close();
			throw hostError(at, status, excerpt(words.toString()));
		}
		watch.close();
		at = URL.canParse(location, at) ? new URL(location, at).href : '';
		if (!isHttpUrl(at)) throw badUrl('redirects to an address that cannot be opened');
	}
	throw badUrl('redirects without end');
}

/** The error for a status of a file host, with its words. */
function hostError(url: string, status: number, words: string): ServiceError {
	if (status === WANTS_KEY) {
		const message = `The host ${hostOf(url)} wants a key, and only the service gets the API key`;
		const todo = 'Download it with an HTTP Request node and a credential for that host';
		return new ServiceError('http', message, todo, { status });
	}
	const said = /\p{L}/u.test(words) ? `: ${words}` : '';
	const retryable = status >= 500 || PASSING.includes(status);
	const message = `The file could not be downloaded${said}`;
	return new ServiceError('http', message, OPEN_URL, { status, retryable });
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
	const addresses = isPrivate ? undefined : await lookup(run.helpers, host);
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

/** The chunks of a body. */
const chunksOf = (body: unknown, watch: ReturnType<typeof watchRequest>) =>
	readBytes(watch.read(body), downloadInterrupted);

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

/** Stores the file that a data: URL contains. */
async function decodeFile(run: Run, download: Download): Promise<IBinaryData> {
	const { url, name, expected, maximumFileSize } = download;
	const response = await fetch(url.trim()).catch((cause: unknown) => {
		throw new ServiceError('protocol', 'The data: URL cannot be decoded', [], { cause });
	});
	const file = Buffer.from(await response.arrayBuffer());
	checkFileSize(maximumFileSize, file.length);
	const declared = response.headers.get('content-type') ?? '';
	const head = file.subarray(0, HEAD_BYTES);
	const type = judgeFile(head, declared, expected, 'The data: URL does not contain');
	const check = fileCheck(type, maximumFileSize);
	check.push(file);
	check.end();
	return await run.helpers.prepareBinaryData(file, fileNameOf(name, type), type);
}

/** The binary field of a file: the one that it wants, with a number if that is taken. */
export function freeField(taken: object, field: string): string {
	let free = field;
	for (let number = 2; Object.hasOwn(taken, free); number += 1) free = `${field}_${number}`;
	return free;
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
