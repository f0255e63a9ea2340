import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

import { InputError, isCanceled, ServiceError } from '../../client/errors';
import { fileNameOf } from './fileName';
import {
	downloadInterrupted,
	isRemainder,
	openFile,
	tooLarge,
	toStream,
	validatorOf,
	type FileResponse,
	type ResumePoint,
} from './fileResponse';
import { n8nClock } from '../run/host';

export interface Download {
	readonly url: string;
	/** File name; without an extension it gets that of the file type. */
	readonly name: string;
	/** Media type that is used where the host declares none or an unsuitable one. */
	readonly mimeType: string;
	/** Maximum size in bytes; 0 means no limit. */
	readonly maxBytes: number;
	/** What an error must name so that it is not lost: the task ID, the URL. */
	readonly subject: Readonly<Record<string, string>>;
	/** What the user can do after the last failed attempt. */
	readonly hint: string;
}

/** Media types that hosts declare for unknown files, or for an HTML page in place of a file. */
const UNSPECIFIC = /^(|application\/octet-stream|binary\/octet-stream|text\/html)$/;
const IS_MEDIA = /^(video|image|audio)\//;

/** Delay before each retry; after the last one the download has failed. */
const RETRY_DELAYS_MS = [500, 2_000, 5_000, 10_000, 20_000];

/**
 * Streams a file into n8n's binary store. An interrupted download resumes where the host supports range requests, and
 * starts over otherwise.
 *
 * @throws ServiceError when the download fails, with `subject` in its details.
 * @throws InputError when the file is larger than `maxBytes`.
 */
export async function downloadFile(
	context: IExecuteFunctions,
	{ url, name, mimeType, maxBytes, subject, hint }: Download,
): Promise<IBinaryData> {
	const clock = n8nClock(context);
	let retries = 0;

	/** Waits before the next attempt; throws the error when it is not retryable or no attempt is left. */
	async function waitToRetry(error: unknown): Promise<void> {
		const delayMs = RETRY_DELAYS_MS[retries++];
		const isRetryable = error instanceof ServiceError && error.details.retryable === true;
		if (!isRetryable || delayMs === undefined) throw error;
		await clock.sleep(delayMs);
	}

	/** The remainder of the file; undefined where the host does not continue this file. */
	async function openRemainder(resume: ResumePoint): Promise<FileResponse | undefined> {
		for (;;) {
			try {
				const response = await openFile(context, url, resume);
				if (isRemainder(response, resume)) return response;
				response.body.destroy();
				return undefined;
			} catch (error) {
				await waitToRetry(error);
			}
		}
	}

	async function* chunksOf(first: FileResponse): AsyncGenerator<Uint8Array> {
		const validator = validatorOf(first);
		let bytes = 0;
		for (let response = first; ;) {
			try {
				for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
					bytes += chunk.byteLength;
					if (maxBytes > 0 && bytes > maxBytes) throw tooLarge(bytes, maxBytes);
					yield chunk;
				}
				return;
			} catch (error) {
				const failure = error instanceof InputError ? error : downloadInterrupted(error);
				if (validator === undefined || bytes === 0) throw failure;
				await waitToRetry(failure);
				const next = await openRemainder({ fromByte: bytes, validator });
				// The store cannot take bytes back: the outer loop starts over with a new file.
				if (next === undefined) throw failure;
				response = next;
			}
		}
	}

	function withSubject(error: unknown): unknown {
		if (!(error instanceof ServiceError) || isCanceled(error)) return error;
		const { kind, message, details } = error;
		return new ServiceError(kind, message, hint, { ...details, subject });
	}

	async function store(): Promise<IBinaryData> {
		const response = await openFile(context, url);
		const length = Number(response.headers['content-length'] ?? 0);
		if (maxBytes > 0 && length > maxBytes) {
			response.body.destroy();
			throw tooLarge(length, maxBytes);
		}
		const type = typeOf(response, mimeType);
		const stream = toStream(response.body, chunksOf(response));
		return await context.helpers.prepareBinaryData(stream, fileNameOf(name, type), type);
	}

	for (;;) {
		try {
			return await store();
		} catch (error) {
			await waitToRetry(error).catch((final: unknown) => {
				throw withSubject(final);
			});
		}
	}
}

/** The declared media type, unless it is unspecific or does not fit the expected kind of file. */
function typeOf({ headers }: FileResponse, expected: string): string {
	const declared = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
	const fits = IS_MEDIA.test(expected) ? IS_MEDIA.test(declared) : !UNSPECIFIC.test(declared);
	return fits ? declared : expected;
}
