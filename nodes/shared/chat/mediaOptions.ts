import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { fileSizeOption, readMaxBytes } from '../files/fileSizeOption';
import type { Service } from '../run/host';
import { isToolRun } from '../run/nodeContext';
import { readText } from '../run/parameters';

/** Whether and how the files of replies become binary data. */
export const mediaOptions: INodeProperties[] = [
	{
		displayName: 'Download Media',
		name: 'downloadMedia',
		type: 'boolean',
		default: false,
		description:
			'Whether to get the images, videos and files that the reply links to as binary data, not only their URLs',
	},
	{
		...fileSizeOption,
		description:
			'Megabytes that a downloaded file may have; 0 for any size. Larger ones are not kept.',
	},
	{
		displayName: 'Media Prefix',
		name: 'mediaPrefix',
		type: 'string',
		default: 'media_',
		description:
			'Beginning of the names of the output binary fields. The place in the list "media" follows, as in media_0.',
	},
];

/** What the options ask for. */
export interface MediaDownload {
	readonly prefix: string;
	/** Bytes that a file may have; 0 for any number. */
	readonly maxBytes: number;
	/** Whether the service is on a private network, so that its files may be there. */
	readonly allowPrivate: boolean;
}

/** What the options of an item ask for; nothing in a tool run, where an agent takes the addresses only. */
export function readMediaDownload(
	context: IExecuteFunctions,
	itemIndex: number,
	{ isPrivate: allowPrivate }: Service,
): MediaDownload | undefined {
	const isWanted = context.getNodeParameter('options.downloadMedia', itemIndex, false) === true;
	if (!isWanted || isToolRun(context)) return undefined;
	const prefix = readText(context, 'options.mediaPrefix', itemIndex).trim() || 'media_';
	return { prefix, maxBytes: readMaxBytes(context, itemIndex), allowPrivate };
}
