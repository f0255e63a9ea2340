import type {
	BinaryHelperFunctions,
	IDataObject,
	IExecuteFunctions,
	IN8nHttpFullResponse,
} from 'n8n-workflow';

import { InputError, ServiceError } from '../../client/errors';
import { transportError } from '../../client/http/transportError';

/** Node's stream, as n8n's store takes it. */
export type Readable = Exclude<
	Parameters<BinaryHelperFunctions['prepareBinaryData']>[0],
	Buffer | Uint8Array
>;

/** Milliseconds without a byte after which a download is given up. */
const IDLE_TIMEOUT_MS = 60_000;

/** An answer of a file host, its body unread. */
export interface FileAnswer {
	readonly status: number;
	readonly headers: Readonly<Record<string, string | undefined>>;
	readonly body: Readable;
}

/** Where to go on in a file that is there in part. */
export interface Rest {
	readonly fromByte: number;
	/** ETag or date of the file as it was: another one must not be glued to it. */
	readonly validator: string;
}

/**
 * Asks for a file, or for the rest of it. The file lies on another host than the service: the key stays here.
 *
 * @throws ServiceError when nothing answers, or with an error status.
 */
export async function openFile(
	context: IExecuteFunctions,
	url: string,
	rest?: Rest,
): Promise<FileAnswer> {
	const answer = await request(context, url, {
		// Bytes are counted, so they must be those of the file.
		'Accept-Encoding': 'identity',
		...(rest === undefined
			? {}
			: { Range: `bytes=${rest.fromByte}-`, 'If-Range': rest.validator }),
	});
	if (answer.status >= 200 && answer.status < 300) return answer;
	answer.body.destroy();
	throw notThere(answer.status);
}

async function request(
	context: IExecuteFunctions,
	url: string,
	headers: IDataObject,
): Promise<FileAnswer> {
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
			// n8n adds it to requests with a credential only.
			...(abortSignal === undefined ? {} : { abortSignal }),
		})) as IN8nHttpFullResponse;
		return {
			status: response.statusCode,
			headers: response.headers as FileAnswer['headers'],
			body: response.body as unknown as Readable,
		};
	} catch (error) {
		throw brokenOff(error);
	}
}

/** The validator of a file, where its host can give the rest of it; a weak one cannot tell two files apart. */
export function validatorOf({ headers }: FileAnswer): string | undefined {
	const { etag, 'last-modified': date } = headers;
	return etag !== undefined && !etag.startsWith('W/') ? etag : date;
}

/** Whether the answer is the rest that was asked for. */
export function isRest({ headers }: FileAnswer, { fromByte }: Rest): boolean {
	return (headers['content-range'] ?? '').startsWith(`bytes ${fromByte}-`);
}

/**
 * A stream of the chunks for n8n's store. The class of the stream that n8n handed over makes it: nodes may not import
 * Node's own modules.
 */
export function toStream(like: Readable, chunks: AsyncIterable<Uint8Array>): Readable {
	const { from } = like.constructor as unknown as {
		from: (chunks: AsyncIterable<Uint8Array>) => Readable;
	};
	return from(chunks);
}

/** The error for a connection to a file host that could not be made, or broke. */
export function brokenOff(cause: unknown): ServiceError {
	if (cause instanceof ServiceError) return cause;
	const error = transportError(cause);
	if (error.kind === 'cancelled') return error;
	return new ServiceError(
		'network',
		'The download of the finished file broke off',
		'Open its URL',
		error.details,
	);
}

/** The error for a file larger than the limit. */
export function tooLarge(bytes: number, maxBytes: number): InputError {
	const megabytes = (count: number) => `${Math.round(count / 100_000) / 10} MB`;
	return new InputError(
		'Maximum File Size',
		`is ${megabytes(maxBytes)}, but the file has ${megabytes(bytes)} or more`,
		'Raise the limit, or take the file from its URL',
	);
}

function notThere(status: number): ServiceError {
	return new ServiceError('http', 'The finished file could not be downloaded', 'Open its URL', {
		status,
		retryable: status === 429 || status >= 500,
	});
}
