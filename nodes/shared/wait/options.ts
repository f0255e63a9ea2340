import type { IExecuteFunctions } from 'n8n-workflow';

import { InputError } from '../../client/errors';
import { maximumFileSizeField } from '../files/fileKind';
import { notInTools } from '../form/fields';
import { changedAll, count, number, toggle, trimmed, type ValuesOf } from '../form/form';
import { isToolRun } from '../engine/runs';

/** Maximum number of status polls at the same time. */
export const pollConcurrencyField = count('Concurrency', {
	help: 'Maximum number of status polls at the same time',
	default: 10,
	max: 50,
});

export const maximumWaitField = number('Maximum Wait', {
	unit: 'Minutes',
	help: 'Timeout: a video that is not finished by then counts as failed',
	default: 10,
	min: 1,
	// Recommended by the service (spec 3.1).
	max: 10,
});

/** Whether the file of the video is downloaded, and its binary field. A tool returns no files. */
export const downloadFields = changedAll(notInTools, {
	download: toggle('Download Video', {
		help: 'Whether to download the file as binary data',
		default: true,
	}),
	binaryProperty: trimmed('Put Output File in Field', {
		default: 'data',
		hint: 'The name of the output binary field to put the file in',
		displayOptions: { show: { download: [true] } },
	}),
});

/** Which files are downloaded beside the video, their binary field and their name; and how large they may be. */
export const fileFields = changedAll(notInTools, {
	fileName: trimmed('File Name', {
		help: 'Name of the downloaded file, without extension: that follows from the file type. Empty means the task ID.',
		placeholder: 'e.g. {{ $json.topic }}',
	}),
	downloadThumbnail: toggle('Download Thumbnail', {
		help: 'Whether to also download the thumbnail (only some models provide one)',
	}),
	thumbnailProperty: trimmed('Put Thumbnail in Field', {
		help: 'The name of the output binary field to put the thumbnail in',
		default: 'thumbnail',
	}),
	maximumFileSize: maximumFileSizeField,
});

/** The fields of a wait, in the form of either node. */
type WaitValues = ValuesOf<typeof downloadFields> & {
	readonly options: ValuesOf<typeof fileFields>;
};

/** Which files of an item are downloaded, and where they go. */
export type WantedFiles = ReturnType<typeof toWantedFiles>;

/**
 * What the form of an item says about its files. A tool returns none.
 *
 * @throws InputError for the one name that no object can have, and for a thumbnail in the field of its video.
 */
export function toWantedFiles(
	context: IExecuteFunctions,
	{ download, binaryProperty, options }: WaitValues,
) {
	const { downloadThumbnail, thumbnailProperty, fileName, maximumFileSize } = options;
	const isTool = isToolRun(context);
	const video = download && !isTool ? binaryProperty : undefined;
	const thumbnail = downloadThumbnail && !isTool ? thumbnailProperty : undefined;
	checkFieldName(binaryProperty, 'Put Output File in Field');
	checkFieldName(thumbnailProperty, 'Put Thumbnail in Field', thumbnail && video);
	return { fields: { video, thumbnail }, fileName, maximumFileSize };
}

function checkFieldName(name: string, label: string, taken?: string): void {
	if (name !== taken && name !== '__proto__') return;
	const problem = name === taken ? 'is also the field of the video' : `is ${name}`;
	throw new InputError(label, problem, 'Enter another name');
}
