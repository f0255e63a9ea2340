import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { InputError } from '../../client/errors';
import { isBlank } from '../../client/values';
import { readLimits } from '../files/downloadLimits';
import { booleanField, notInTools, textField } from '../form/fields';
import {
	booleanOption,
	countOption,
	numberOption,
	optionTable,
	readOptions,
	readSwitch,
	textOption,
} from '../form/options';
import { readText } from '../run/parameters';

/** How the tasks are polled. */
export const pollOptions = optionTable({
	concurrency: countOption('Concurrency', {
		help: 'Maximum number of status polls at the same time',
		default: 10,
		max: 50,
	}),
	maximumWait: numberOption('Maximum Wait', {
		unit: 'Minutes',
		help: 'Timeout: a video that is not finished by then counts as failed',
		default: 10,
		min: 1,
		// Recommended by the service (spec 3.1).
		max: 10,
	}),
});

/** Which files are downloaded beside the video, their binary field and their name. */
export const fileOptions = optionTable({
	downloadThumbnail: booleanOption('Download Thumbnail', {
		help: 'Whether to also download the thumbnail (only some models provide one)',
	}),
	thumbnailProperty: textOption('Put Thumbnail in Field', {
		help: 'The name of the output binary field to put the thumbnail in',
		default: 'thumbnail',
	}),
	fileName: textOption('File Name', {
		help: 'Name of the downloaded file, without extension: that follows from the file type. Empty means the task ID.',
		default: '',
		placeholder: 'e.g. {{ $json.topic }}',
	}),
});

/** Whether the file of the video is downloaded, and its binary field. A tool returns no files. */
export const downloadFields: readonly INodeProperties[] = [
	booleanField('Download Video', 'download', 'Whether to download the file as binary data'),
	textField('Put Output File in Field', 'binaryProperty', {
		default: 'data',
		hint: 'The name of the output binary field to put the file in',
		displayOptions: { show: { download: [true] } },
	}),
].map(notInTools);

/**
 * Whether the file of the video is downloaded; also where an expression gives nothing, as the default says.
 *
 * @throws InputError for a value that is neither on nor off.
 */
export function readDownload(context: IExecuteFunctions, itemIndex: number): boolean {
	// A tool has no such field.
	const value: unknown = context.getNodeParameter('download', itemIndex, false);
	return isBlank(value) || readSwitch(value, 'Download Video');
}

/** How long a run polls, in milliseconds. n8n evaluates the option for the first item, and it applies to all. */
export function readPolling(context: IExecuteFunctions) {
	// Used for the downloads: a bad value must be found before the wait.
	readLimits(context, 0);
	readDownload(context, 0);
	return { timeoutMs: pollOptions.maximumWait.read(context, 0) * 60_000 };
}

/** Reads what the wait for an item will use: a bad value must be found before its video is paid for. */
export function checkWaitFields(context: IExecuteFunctions, itemIndex: number): void {
	readPolling(context);
	readLimits(context, itemIndex);
	readDownload(context, itemIndex);
	readOptions(fileOptions, context, itemIndex);
	BINARY_FIELDS.video(context, itemIndex);
	BINARY_FIELDS.thumbnail(context, itemIndex);
}

type ReadField = (context: IExecuteFunctions, itemIndex: number) => string;

/**
 * The binary field of each file.
 *
 * @throws InputError for the one name that no object can have, and for a thumbnail in the field of its video.
 */
export const BINARY_FIELDS: Readonly<Record<'video' | 'thumbnail', ReadField>> = {
	video: (context, item) =>
		checkFieldName(
			readText(context, 'binaryProperty', item).trim() || 'data',
			'Put Output File in Field',
		),
	thumbnail: (context, item) => {
		const { thumbnailProperty, downloadThumbnail } = fileOptions;
		const isOfBoth = downloadThumbnail.read(context, item) && readDownload(context, item);
		const name = thumbnailProperty.read(context, item);
		const taken = isOfBoth ? [BINARY_FIELDS.video(context, item)] : [];
		return checkFieldName(name, 'Put Thumbnail in Field', taken);
	},
};

function checkFieldName(name: string, label: string, taken: readonly string[] = []): string {
	const isTaken = taken.includes(name);
	if (!isTaken && name !== '__proto__') return name;
	const problem = isTaken ? 'is also the field of the video' : `is ${name}`;
	throw new InputError(label, problem, 'Enter another name');
}
