import type { IBinaryKeyData, IExecuteFunctions } from 'n8n-workflow';

import { ServiceError } from '../client/errors';
import type { PollResult } from '../client/video/poll/result';
import { downloadFile } from '../shared/files/download';
import { readMaxBytes } from '../shared/files/fileSizeOption';
import { readText } from '../shared/run/parameters';
import { downloadThumbnailOption, fileNameOption, thumbnailFieldOption } from './options';

type Read<T> = (context: IExecuteFunctions, itemIndex: number) => T;

/** A kind of file that a completed task has. */
interface FileRow {
	readonly urlField: 'video_url' | 'thumbnail_url';
	/** Whether the item's parameters select this file. */
	readonly isSelected: Read<boolean>;
	/** Name of its binary field. */
	readonly binaryField: Read<string>;
	readonly mimeType: string;
	/** Whether every completed task has one. */
	readonly isRequired: boolean;
}

const FILES: readonly FileRow[] = [
	{
		urlField: 'video_url',
		isSelected: (context, item) => context.getNodeParameter('download', item, false),
		binaryField: (context, item) => readText(context, 'binaryProperty', item).trim() || 'video',
		mimeType: 'video/mp4',
		isRequired: true,
	},
	{
		urlField: 'thumbnail_url',
		isSelected: downloadThumbnailOption.read,
		binaryField: thumbnailFieldOption.read,
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
			if (!row.isSelected(context, itemIndex)) continue;
			const url = result[row.urlField] ?? '';
			if (url === '' && !row.isRequired) continue;
			binary[row.binaryField(context, itemIndex)] = await downloadFile(context, {
				url: url === '' ? missing(row) : url,
				name: fileNameOption.read(context, itemIndex) || result.task_id,
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

function missing({ urlField }: FileRow): never {
	throw new ServiceError(
		'protocol',
		`The service returned no ${urlField}`,
		'Run this node again with the same task ID',
	);
}
