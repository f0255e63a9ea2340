import type { IBinaryKeyData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { findMedia, type Media } from '../../client/chat/media';
import type { ChatCompletion } from '../../client/chat/types';
import { InputError, isCanceled } from '../../client/errors';
import { isPrivateUrl } from '../../client/http/publicUrl';
import { toDataObject } from '../run/dataObject';
import { downloadFile } from '../files/download';
import { errorLine } from '../run/nodeErrors';
import { mimeTypeOf } from '../files/fileName';
import type { MediaDownload } from './mediaOptions';

/** A file that a reply links to, with the binary field it was downloaded to, or why the download failed. */
type FetchedMedia = Media & { readonly binary?: string; readonly error_message?: string };

/** The fields that the files of a reply add to its item. */
export interface ReplyMedia {
	readonly media?: readonly FetchedMedia[];
	readonly binary?: IBinaryKeyData;
}

/** MIME types for URLs without a known file extension, where the host sends none. */
const FALLBACK_TYPES: Readonly<Record<Media['kind'], string>> = {
	image: 'image/jpeg',
	video: 'video/mp4',
	audio: 'audio/mpeg',
	file: 'application/octet-stream',
};

/**
 * Downloads the files that a reply links to. A failed download does not fail the item, as the reply is paid for: its
 * error goes to the file's entry of `media`.
 *
 * @param download Undefined if nothing is to be downloaded.
 * @throws ServiceError when the execution is canceled.
 */
export async function fetchMedia(
	context: IExecuteFunctions,
	{ choices }: ChatCompletion,
	download: MediaDownload | undefined,
): Promise<ReplyMedia> {
	const found = download === undefined ? [] : findMedia(choices[0]!.message.content ?? '');
	if (download === undefined || found.length === 0) return {};

	const media: FetchedMedia[] = [];
	const binary: IBinaryKeyData = {};
	for (const [index, entry] of found.entries()) {
		const name = `${download.prefix}${index}`;
		const file = await fetchFile(context, entry, name, download).catch(unlessCanceled);
		if (file instanceof Error) {
			media.push({ ...entry, error_message: errorLine(file) });
		} else {
			binary[name] = file;
			media.push({ ...entry, binary: name });
		}
	}
	return { media, ...(Object.keys(binary).length === 0 ? {} : { binary }) };
}

/** Adds the files of a reply to its item. */
export function withMedia(
	item: INodeExecutionData,
	{ media, binary }: ReplyMedia,
): INodeExecutionData {
	if (media === undefined) return item;
	return {
		...item,
		json: { ...item.json, media: media.map(toDataObject) },
		...(binary === undefined ? {} : { binary }),
	};
}

/** Shows in the node's output panel how many downloads failed. */
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
	// The model wrote this URL: without the check a prompt could make n8n read files of its private network.
	if (!allowPrivate && isPrivateUrl(url)) {
		throw new InputError(
			'The URL',
			'leads to a private network',
			'If you trust it, download it with an HTTP Request node',
		);
	}
	const name = lastSegment(url) || fieldName;
	return await downloadFile(context, {
		url,
		name,
		mimeType: mimeTypeOf(name) ?? FALLBACK_TYPES[kind],
		maxBytes,
		subject: { url },
		hint: 'Open the URL of the file',
	});
}

function unlessCanceled(error: Error): Error {
	if (isCanceled(error)) throw error;
	return error;
}

function lastSegment(url: string): string {
	const part = new URL(url).pathname.split('/').at(-1)!;
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}
