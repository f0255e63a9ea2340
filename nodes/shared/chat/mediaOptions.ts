import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { readLimits, sizeOptions } from '../files/downloadLimits';
import { booleanOption, countOption, optionGroup, optionTable, textOption } from '../form/options';
import { isToolRun } from '../run/nodeContext';

const { downloadMedia } = optionTable({
	downloadMedia: booleanOption('Download Media', {
		help: 'Whether to download the images, videos and files that the reply links to as binary data',
	}),
});

/** In place of the group `fileGroup`, whose sizes it has. */
const mediaGroup = optionGroup('Downloaded Files', 'files', {
	mediaPrefix: textOption('Media Prefix', {
		help: 'Prefix of the output binary fields. The position in the list "media" follows, as in media_0.',
		default: 'media_',
	}),
	maximumFiles: countOption('Maximum Files', {
		help: 'Maximum number of files to download for one reply',
		default: 20,
	}),
	...sizeOptions,
});

/** Whether and how the files of replies become binary data. */
export const mediaProperties: INodeProperties[] = [downloadMedia.property, mediaGroup.property];

/** How the files of a reply are downloaded: the prefix of the binary fields' names, and the limits of one reply. */
export type MediaDownload = NonNullable<ReturnType<typeof readMediaDownload>>;

/** How the files of an item are downloaded; undefined where they are not, as in a tool run: an agent only takes URLs. */
export function readMediaDownload(context: IExecuteFunctions, itemIndex: number) {
	if (!downloadMedia.read(context, itemIndex) || isToolRun(context)) return undefined;
	return {
		prefix: mediaGroup.options.mediaPrefix.read(context, itemIndex),
		maxFiles: mediaGroup.options.maximumFiles.read(context, itemIndex),
		limits: readLimits(context, itemIndex),
	};
}
