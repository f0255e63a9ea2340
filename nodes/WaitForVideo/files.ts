import type { IBinaryKeyData, IExecuteFunctions } from 'n8n-workflow';

import { ServiceError } from '../client/errors';
import type { PollResult } from '../client/video/poll/result';
import { downloadFile } from '../shared/files/download';
import { readMaxBytes } from '../shared/files/fileSizeOption';
import { readText } from '../shared/run/parameters';

/** A kind of file that a finished task has. */
interface FileRow {
	readonly wanted: string;
	readonly urlField: 'video_url' | 'thumbnail_url';
	readonly propertyField: string;
	readonly property: string;
	readonly mimeType: string;
	/** Whether every finished task has one. */
	readonly always: boolean;
}

const FILES: readonly FileRow[] = [
	{
		wanted: 'download',
		urlField: 'video_url',
		propertyField: 'binaryProperty',
		property: 'video',
		mimeType: 'video/mp4',
		always: true,
	},
	{
		wanted: 'options.downloadThumbnail',
		urlField: 'thumbnail_url',
		propertyField: 'options.thumbnailProperty',
		property: 'thumbnail',
		mimeType: 'image/jpeg',
		always: false,
	},
];

const HINT = 'The video exists: open its URL, or run this node again with the same task ID';

/** The files of a finished task, with the error of the first that did not come; those before it are kept. */
export interface WaitFiles {
	readonly binary: IBinaryKeyData;
	readonly error?: Error;
}

/** Downloads what the item's fields ask for. Cancelling is an error like any other here. */
export async function downloadFiles(
	context: IExecuteFunctions,
	itemIndex: number,
	result: PollResult,
): Promise<WaitFiles> {
	const binary: IBinaryKeyData = {};
	try {
		for (const row of FILES) {
			if (context.getNodeParameter(row.wanted, itemIndex, false) !== true) continue;
			const url = result[row.urlField] ?? '';
			if (url === '' && !row.always) continue;
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
		`The service gave no ${urlField}`,
		'Run this node again with the same task ID',
	);
}
