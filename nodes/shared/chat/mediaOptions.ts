import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { fileSizeOption, readMaxBytes } from '../files/fileSizeOption';
import { booleanOption, textOption } from '../form/options';
import type { Service } from '../run/host';
import { isToolRun } from '../run/nodeContext';

const downloadMediaOption = booleanOption({
	name: 'downloadMedia',
	label: 'Download Media',
	help: 'Whether to download the images, videos and files that the reply links to as binary data',
});

const mediaPrefixOption = textOption({
	name: 'mediaPrefix',
	label: 'Media Prefix',
	help: 'Prefix of the output binary fields. The position in the list "media" follows, as in media_0.',
	default: 'media_',
});

/** Whether and how the files of replies become binary data. */
export const mediaProperties: INodeProperties[] = [
	downloadMediaOption.property,
	fileSizeOption.property,
	mediaPrefixOption.property,
];

/** How the files of a reply are downloaded. */
export interface MediaDownload {
	/** Prefix of the binary fields' names. */
	readonly prefix: string;
	/** Maximum size of a file in bytes; 0 means no limit. */
	readonly maxBytes: number;
	/** Whether files may be on a private network, because the service is on one. */
	readonly allowPrivate: boolean;
}

/** How the files of an item are downloaded; undefined where they are not, as in a tool run: an agent only takes URLs. */
export function readMediaDownload(
	context: IExecuteFunctions,
	itemIndex: number,
	{ isPrivate: allowPrivate }: Service,
): MediaDownload | undefined {
	if (!downloadMediaOption.read(context, itemIndex) || isToolRun(context)) return undefined;
	return {
		prefix: mediaPrefixOption.read(context, itemIndex),
		maxBytes: readMaxBytes(context, itemIndex),
		allowPrivate,
	};
}
