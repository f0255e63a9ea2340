import type { IBinaryKeyData, IExecuteFunctions } from 'n8n-workflow';

import { ServiceError } from '../client/errors';
import type { PollResult } from '../client/video/poll/result';
import { downloadFile } from '../shared/files/download';
import { readMaxBytes } from '../shared/files/fileSizeOption';
import { readText } from '../shared/run/parameters';

/** A kind of file that a completed task has. */
interface FileRow {
	/** Parameter that tells whether to download it. */
	readonly toggle: string;
	readonly urlField: 'video_url' | 'thumbnail_url';
	/** Parameter with the name of the binary field. */
	readonly propertyField: string;
	readonly property: string;
	readonly mimeType: string;
	/** Whether every completed task has one. */
	readonly isRequired: boolean;
}

const FILES: readonly FileRow[] = [
	{
		toggle: 'download',
		urlField: 'video_url',
		propertyField: 'binaryProperty',
		property: 'video',
		mimeType: 'video/mp4',
		isRequired: true,
	},
	{
		toggle: 'options.downloadThumbnail',
		urlField: 'thumbnail_url',
		propertyField: 'options.thumbnailProperty',
		property: 'thumbnail',
		mimeType: 'image/jpeg',
		isRequired: false,
	},
];

const HINT = 'The video is completed: open its URL, or run this node again with the same task ID';

/** The downloaded files of a completed task, with the error of the first download that failed. */
export interface WaitFiles {
	readonly binary: IBinaryKeyData;
	readonly error?: Error;
}

/** Downloads the files that the parameters of the item select. A cancellation is returned like any other error. */
export async function downloadFiles(
	context: IExecuteFunctions,
	itemIndex: number,
	result: PollResult,
): Promise<WaitFiles> {
	const binary: IBinaryKeyData = {};
	try {
		for (const row of FILES) {
			if (context.getNodeParameter(row.toggle, itemIndex, false) !== true) continue;
			const url = result[row.urlField] ?? '';
			if (url === '' && !row.isRequired) continue;
			const property = propertyOf(context, itemIndex, row);
			binary[property] = await downloadFile(context, {
				url: url === '' ? missing(row) : url,
				name: fileNameFor(context, itemIndex, result),
				mimeType: row.mimeType,
				maxBytes: readMaxBytes(context, itemIndex),
				subject: { task_id: result.task_id, [row.urlField]: url },
				hint: HINT,
			});
		}
		return { binary };
	} catch (error) {
		return { binary, error: error as Error };
	}
}

function propertyOf(
	context: IExecuteFunctions,
	itemIndex: number,
	{ propertyField, property }: FileRow,
): string {
	return readText(context, propertyField, itemIndex).trim() || property;
}

function fileNameFor(
	context: IExecuteFunctions,
	itemIndex: number,
	{ task_id: taskId }: PollResult,
): string {
	return readText(context, 'options.fileName', itemIndex).trim() || taskId;
}

function missing({ urlField }: FileRow): never {
	throw new ServiceError(
		'protocol',
		`The service returned no ${urlField}`,
		'Run this node again with the same task ID',
	);
}
