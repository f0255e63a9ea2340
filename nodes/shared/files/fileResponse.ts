import type {
	BinaryHelperFunctions,
	IDataObject,
	IExecuteFunctions,
	IN8nHttpFullResponse,
} from 'n8n-workflow';

import { InputError, ServiceError } from '../../client/errors';
import { transportError } from '../../client/http/transportError';

/** The stream type that n8n's binary store accepts; nodes must not import Node's own. */
export type Readable = Exclude<
	Parameters<BinaryHelperFunctions['prepareBinaryData']>[0],
	Buffer | Uint8Array
>;

/** Idle timeout of a download. */
const IDLE_TIMEOUT_MS = 60_000;

/** The response of a file host, with its body unread. */
export interface FileResponse {
	readonly status: number;
	readonly headers: Readonly<Record<string, string | undefined>>;
	readonly body: Readable;
}

/** The position at which an interrupted download resumes (HTTP Range and If-Range). */
export interface ResumePoint {
	readonly fromByte: number;
	/** ETag or modification date of the file, so that two versions of a file are never joined. */
	readonly validator: string;
}

/**
 * Requests a download, optionally resuming with Range and If-Range. Sent without the credential: files are on
 * third-party hosts.
 *
 * @throws ServiceError `network` when the connection fails, `http` for an error status.
 */
export async function openFile(
	context: IExecuteFunctions,
	url: string,
	resume?: ResumePoint,
): Promise<FileResponse> {
	const response = await request(context, url, {
		// Without compression, so that byte positions in the response are positions in the file.
		'Accept-Encoding': 'identity',
		...(resume === undefined
			? {}
			: { Range: `bytes=${resume.fromByte}-`, 'If-Range': resume.validator }),
	});
	if (response.status >= 200 && response.status < 300) return response;
	response.body.destroy();
	throw httpError(response.status);
}

async function request(
	context: IExecuteFunctions,
	url: string,
	headers: IDataObject,
): Promise<FileResponse> {
	const abortSignal = context.getExecutionCancelSignal();
	try {
		const response = (await context.helpers.httpRequest({
			method: 'GET',
			url,
			headers,
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			timeout: IDLE_TIMEOUT_MS,
			// n8n adds the cancel signal only to requests with a credential.
			...(abortSignal === undefined ? {} : { abortSignal }),
		})) as IN8nHttpFullResponse;
		return {
			status: response.statusCode,
			headers: response.headers as FileResponse['headers'],
			// `encoding: 'stream'` makes it a stream; n8n's type does not follow the option.
			body: response.body as unknown as Readable,
		};
	} catch (error) {
		throw downloadInterrupted(error);
	}
}

/** The strong validator for If-Range; undefined where the host sends none. A weak ETag does not identify the bytes. */
export function validatorOf({ headers }: FileResponse): string | undefined {
	const { etag, 'last-modified': date } = headers;
	return etag !== undefined && !etag.startsWith('W/') ? etag : date;
}

/** Whether the response continues the file at the requested position. */
export function isRemainder({ headers }: FileResponse, { fromByte }: ResumePoint): boolean {
	return (headers['content-range'] ?? '').startsWith(`bytes ${fromByte}-`);
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

/** The error for a lost or failed connection to a file host. */
export function downloadInterrupted(cause: unknown): ServiceError {
	if (cause instanceof ServiceError) return cause;
	const error = transportError(cause);
	if (error.kind === 'canceled') return error;
	return new ServiceError(
		'network',
		'The download was interrupted',
		'Open the URL of the file',
		error.details,
	);
}

/** The error for a file that exceeds the limit. */
export function tooLarge(bytes: number, maxBytes: number): InputError {
	const megabytes = (count: number) => `${Math.round(count / 100_000) / 10} MB`;
	return new InputError(
		'Maximum File Size',
		`is ${megabytes(maxBytes)}, but the file has at least ${megabytes(bytes)}`,
		'Raise the limit, or open the URL of the file',
	);
}

function httpError(status: number): ServiceError {
	return new ServiceError(
		'http',
		'The file could not be downloaded',
		'Open the URL of the file',
		{
			status,
			retryable: status === 429 || status >= 500,
		},
	);
}
