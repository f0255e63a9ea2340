import type { IBinaryData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isCanceled, ServiceError, type Advice } from '../../client/errors';
import { isJsonObject } from '../../client/json';
import { counted } from '../../client/values';
import { settled } from '../../client/concurrency';
import { hint } from '../run/hints';
import { n8nClock } from '../run/clock';
import { countBytes, type DownloadLimits } from './downloadLimits';
import {
	downloadInterrupted,
	OPEN_URL,
	openFile,
	toStream,
	type FileResponse,
} from './fileResponse';
import { fileNameOf, judgeFile } from './judgeFile';

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
	/** Maximum number of retries. Default: 5. */
	readonly retries?: number;
}

/** Number of bytes by which a file is judged; the rest is streamed. */
const HEAD_BYTES = 4_096;

/** Delay before each retry; after the last one the download has failed. */
const RETRY_DELAYS_MS = [500, 2_000, 5_000, 10_000, 20_000];

/** Limit for one file with all retries: a host that sends a byte now and then never ends. */
const MAX_MINUTES = 15;

/**
 * Streams a file into n8n's binary store. An interrupted download begins again.
 *
 * @throws ServiceError when the download fails or brings something else, with `subject` in its details.
 * @throws InputError when the file, or the run, exceeds a limit.
 */
export async function downloadFile(
	context: IExecuteFunctions,
	{ url, name, expected, limits, subject, advice = OPEN_URL, retries = 5 }: Download,
): Promise<IBinaryData> {
	const clock = n8nClock(context);
	const canceled = context.getExecutionCancelSignal();
	const late = new AbortController();
	const done = new AbortController();
	const signal = AbortSignal.any([late.signal, ...(canceled ? [canceled] : [])]);

	/** The chunks of a file, counted against the limits. */
	async function* chunksOf({ body }: FileResponse): AsyncGenerator<Uint8Array, undefined> {
		const reader = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
		let bytes = 0;
		for (;;) {
			const read = await settled(reader.next());
			if ('error' in read) throw downloadInterrupted(read.error);
			if (read.value.done === true) return undefined;
			const chunk = read.value.value;
			bytes += chunk.byteLength;
			countBytes(context, limits, bytes, chunk.byteLength);
			yield chunk;
		}
	}

	async function store(): Promise<IBinaryData> {
		const response = await openFile(context, url, signal);
		try {
			countBytes(context, limits, response.length ?? 0, 0);
			const { head, whole } = await peek(chunksOf(response));
			const type = judgeFile(head, response.headers['content-type'] ?? '', expected);
			const stream = toStream(response.body, whole);
			return await context.helpers.prepareBinaryData(stream, fileNameOf(name, type), type);
		} finally {
			response.close();
		}
	}

	/** Begins again after each failure that may pass: the store cannot take bytes back. */
	async function storeWithRetries(): Promise<IBinaryData> {
		const delaysMs = RETRY_DELAYS_MS.slice(0, retries);
		for (;;) {
			const file = await settled(store());
			if ('value' in file) return file.value;
			const { error } = file;
			const isRetryable = error instanceof ServiceError && error.details.retryable === true;
			const delayMs = isRetryable ? delaysMs.shift() : undefined;
			if (delayMs === undefined) throw error;
			await clock.sleep(delayMs);
		}
	}

	function explain(error: unknown): unknown {
		const isLate = late.signal.aborted && canceled?.aborted !== true;
		if (!(error instanceof ServiceError) || (isCanceled(error) && !isLate)) return error;
		if (isLate) {
			const message = `The download took more than ${MAX_MINUTES} minutes`;
			return new ServiceError('deadline', message, advice, { subject });
		}
		const { kind, message, details } = error;
		const own = error.advice.map((each) => (each === OPEN_URL ? advice : each));
		return new ServiceError(kind, message, own, { ...details, subject });
	}

	const abort = () => {
		if (!done.signal.aborted) late.abort();
	};
	// The sleep rejects when the execution is canceled.
	void clock.sleep(MAX_MINUTES * 60_000, done.signal).then(abort, () => undefined);
	const file = await settled(storeWithRetries());
	done.abort();
	if ('error' in file) throw explain(file.error);
	return file.value;
}

/**
 * Stores the file that a data: URL contains.
 *
 * @throws ServiceError when the URL cannot be decoded, or contains something else.
 * @throws InputError when the file exceeds a limit.
 */
export async function decodeFile(
	context: IExecuteFunctions,
	{ url, name, expected, limits }: Pick<Download, 'url' | 'name' | 'expected' | 'limits'>,
): Promise<IBinaryData> {
	const response = await fetch(url).catch((cause: unknown) => {
		throw new ServiceError('protocol', 'The file in the reply cannot be decoded', [], {
			cause,
		});
	});
	const bytes = Buffer.from(await response.arrayBuffer());
	countBytes(context, limits, bytes.length, bytes.length);
	const declared = response.headers.get('content-type') ?? '';
	const type = judgeFile(bytes.subarray(0, HEAD_BYTES), declared, expected, 'reply');
	return await context.helpers.prepareBinaryData(bytes, fileNameOf(name, type), type);
}

/** The first bytes of a file, and the whole file. */
async function peek(chunks: AsyncGenerator<Uint8Array, undefined>) {
	let head = Buffer.alloc(0);
	while (head.length < HEAD_BYTES) {
		const { value } = await chunks.next();
		if (value === undefined) break;
		head = Buffer.concat([head, value]);
	}
	async function* whole(): AsyncGenerator<Uint8Array> {
		yield head;
		yield* chunks;
	}
	return { head, whole: whole() };
}

/** Shows how many files of the items are missing: those with an `error_message` in the list `field`. */
export function hintMissingFiles(
	context: IExecuteFunctions,
	items: readonly INodeExecutionData[],
	field: 'media' | 'missing_files',
): void {
	// In a raw output, or in a report on a task, the service may have a field of this name.
	const files = items.flatMap(({ json }) => json[field] ?? []);
	const missing = files.filter((file) => isJsonObject(file) && 'error_message' in file).length;
	if (missing === 0) return;
	hint(
		context,
		`${counted(missing, 'file')} could not be downloaded. See "${field}" in the output.`,
	);
}
