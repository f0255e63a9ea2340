import type { IBinaryKeyData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { findMedia, type Media } from '../../client/chat/media';
import type { ChatCompletion } from '../../client/chat/types';
import { InputError, isCancelled } from '../../client/errors';
import { isPrivateUrl } from '../../client/http/publicUrl';
import { downloadFile } from '../files/download';
import { errorLine } from '../run/nodeErrors';
import { mimeTypeOf } from '../files/fileName';
import type { MediaDownload } from './mediaOptions';

/** A file that a reply links to, and what came of its download. */
type FetchedMedia = Media & { readonly binary?: string; readonly error_message?: string };

/** What the files of a reply add to its item. */
export interface ReplyMedia {
	readonly media?: readonly FetchedMedia[];
	readonly binary?: IBinaryKeyData;
}

/** Media types for addresses whose ending and host tell none. */
const EXPECTED: Readonly<Record<Media['kind'], string>> = {
	image: 'image/jpeg',
	video: 'video/mp4',
	audio: 'audio/mpeg',
	file: 'application/octet-stream',
};

/**
 * Downloads the files that a reply links to. The reply is paid for: a file that does not come is noted in its entry of
 * `media` and stops nothing.
 *
 * @param wish What the options ask for; without it nothing is downloaded.
 * @throws ServiceError when the execution is cancelled.
 */
export async function fetchMedia(
	context: IExecuteFunctions,
	{ choices }: ChatCompletion,
	wish: MediaDownload | undefined,
): Promise<ReplyMedia> {
	const found = wish === undefined ? [] : findMedia(choices[0]!.message.content ?? '');
	if (wish === undefined || found.length === 0) return {};

	const media: FetchedMedia[] = [];
	const binary: IBinaryKeyData = {};
	for (const [index, entry] of found.entries()) {
		const name = `${wish.prefix}${index}`;
		const file = await fetchFile(context, entry, name, wish).catch(unlessCancelled);
		if (file instanceof Error) {
			media.push({ ...entry, error_message: errorLine(file) });
		} else {
			binary[name] = file;
			media.push({ ...entry, binary: name });
		}
	}
	return { media, ...(Object.keys(binary).length === 0 ? {} : { binary }) };
}

/** The item with the files of its reply. */
export function withMedia(
	item: INodeExecutionData,
	{ media, binary }: ReplyMedia,
): INodeExecutionData {
	if (media === undefined) return item;
	return {
		...item,
		json: { ...item.json, media },
		...(binary === undefined ? {} : { binary }),
	};
}

/** Tells in the node's output panel how many files are missing. */
export function hintMissingMedia(
	context: IExecuteFunctions,
	items: readonly INodeExecutionData[],
): void {
	const missing = items
		.flatMap(({ json: { media } }) => (Array.isArray(media) ? (media as FetchedMedia[]) : []))
		.filter(({ error_message: message }) => message !== undefined);
	if (missing.length === 0) return;
	const count = missing.length === 1 ? '1 file' : `${missing.length} files`;
	context.addExecutionHints({
		type: 'warning',
		location: 'outputPane',
		message: `${count} could not be downloaded. See "media" in the output.`,
	});
}

async function fetchFile(
	context: IExecuteFunctions,
	{ kind, url }: Media,
	fieldName: string,
	{ maxBytes, allowPrivate }: MediaDownload,
) {
	// The address comes from the words of a model.
	if (!allowPrivate && isPrivateUrl(url)) {
		throw new InputError(
			'The URL',
			'leads to a private network',
			'Fetch it with a node of its own if you trust it',
		);
	}
	const name = lastPart(url) || fieldName;
	return await downloadFile(context, {
		url,
		name,
		mimeType: mimeTypeOf(name) ?? EXPECTED[kind],
		maxBytes,
		subject: { url },
		hint: 'Open its URL',
	});
}

function unlessCancelled(error: Error): Error {
	if (isCancelled(error)) throw error;
	return error;
}

function lastPart(url: string): string {
	const part = new URL(url).pathname.split('/').at(-1)!;
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}
