import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

import { InputError, isCancelled, ServiceError } from '../../client/errors';
import { fileNameOf } from './fileName';
import {
	brokenOff,
	isRest,
	openFile,
	tooLarge,
	toStream,
	validatorOf,
	type FileAnswer,
	type Rest,
} from './fileResponse';
import { n8nClock } from '../run/host';

export interface Download {
	readonly url: string;
	/** Without it the file gets the ending of its type. */
	readonly name: string;
	/** Media type where the host declares none that fits. */
	readonly mimeType: string;
	/** Bytes that the file may have; 0 for any number. */
	readonly maxBytes: number;
	/** What an error must name, so that it is not lost: the task id, the address. */
	readonly subject: Readonly<Record<string, string>>;
	/** What a person can do when it failed for good. */
	readonly hint: string;
}

/** What hosts declare for files that they know nothing about, and for pages in place of files. */
const SAYS_NOTHING = /^(|application\/octet-stream|binary\/octet-stream|text\/html)$/;
const IS_FILM = /^(video|image|audio)\//;

/** Milliseconds before each new try; when they are used up the download has failed for good. */
const PAUSES_MS = [500, 2_000, 5_000, 10_000, 20_000];

/**
 * Streams a finished file into n8n's binary store. A connection that breaks is made again: the rest of the file
 * follows where its host can give it, else the whole file comes anew.
 *
 * @throws ServiceError when the file cannot be had, with `subject` in its details.
 * @throws InputError when the file is larger than `maxBytes`.
 */
export async function downloadFile(
	context: IExecuteFunctions,
	{ url, name, mimeType, maxBytes, subject, hint }: Download,
): Promise<IBinaryData> {
	const clock = n8nClock(context);
	let tries = 0;

	/** Waits before the next try, or throws the error when there is none. */
	async function beforeNextTry(error: unknown): Promise<void> {
		const pauseMs = PAUSES_MS[tries++];
		const isPassing = error instanceof ServiceError && error.details.retryable === true;
		if (!isPassing || pauseMs === undefined) throw error;
		await clock.sleep(pauseMs);
	}

	/** The answer with the rest of the file; `undefined` where its host has no such thing. */
	async function openRest(rest: Rest): Promise<FileAnswer | undefined> {
		for (;;) {
			try {
				const answer = await openFile(context, url, rest);
				if (isRest(answer, rest)) return answer;
				answer.body.destroy();
				return undefined;
			} catch (error) {
				await beforeNextTry(error);
			}
		}
	}

	async function* chunksOf(first: FileAnswer): AsyncGenerator<Uint8Array> {
		const validator = validatorOf(first);
		let bytes = 0;
		for (let answer = first; ;) {
			try {
				for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
					bytes += chunk.byteLength;
					if (maxBytes > 0 && bytes > maxBytes) throw tooLarge(bytes, maxBytes);
					yield chunk;
				}
				return;
			} catch (error) {
				const broken = error instanceof InputError ? error : brokenOff(error);
				if (validator === undefined || bytes === 0) throw broken;
				await beforeNextTry(broken);
				const next = await openRest({ fromByte: bytes, validator });
				// What the store has taken cannot be taken back: it starts anew.
				if (next === undefined) throw broken;
				answer = next;
			}
		}
	}

	function named(error: unknown): unknown {
		if (!(error instanceof ServiceError) || isCancelled(error)) return error;
		const { kind, message, details } = error;
		return new ServiceError(kind, message, hint, { ...details, subject });
	}

	async function store(): Promise<IBinaryData> {
		const answer = await openFile(context, url);
		const length = Number(answer.headers['content-length'] ?? 0);
		if (maxBytes > 0 && length > maxBytes) {
			answer.body.destroy();
			throw tooLarge(length, maxBytes);
		}
		const type = typeOf(answer, mimeType);
		const stream = toStream(answer.body, chunksOf(answer));
		return await context.helpers.prepareBinaryData(stream, fileNameOf(name, type), type);
	}

	for (;;) {
		try {
			return await store();
		} catch (error) {
			await beforeNextTry(error).catch((final: unknown) => {
				throw named(final);
			});
		}
	}
}

/** What the host says the file is, unless that is nothing or, where a film or a picture is expected, something else. */
function typeOf({ headers }: FileAnswer, expected: string): string {
	const declared = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
	const fits = IS_FILM.test(expected) ? IS_FILM.test(declared) : !SAYS_NOTHING.test(declared);
	return fits ? declared : expected;
}
