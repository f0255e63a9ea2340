import type { IBinaryKeyData, IExecuteFunctions } from 'n8n-workflow';

import { isCanceled, ServiceError } from '../../client/errors';
import type { JsonObject } from '../../client/json';
import { shown } from '../../client/values';
import type { PollResult } from '../../client/video/poll/result';
import { downloadFile } from '../files/download';
import { readLimits } from '../files/downloadLimits';
import { errorLine } from '../run/nodeErrors';
import { BINARY_FIELDS, fileOptions, readDownload } from './options';

type Read<T> = (context: IExecuteFunctions, itemIndex: number) => T;

/** The files of a completed task: whether the item's parameters select them, and their binary fields. */
const FILES: readonly (readonly ['video' | 'thumbnail', Read<boolean>, Read<string>])[] = [
	['video', readDownload, BINARY_FIELDS.video],
	['thumbnail', fileOptions.downloadThumbnail.read, BINARY_FIELDS.thumbnail],
];

const ADVICE = 'The video is completed: open its URL, or run Wait for Video with this task ID';

/**
 * Downloads the files that the parameters of the item select. A cancellation is returned like any other error.
 *
 * @returns The files, those that are missing beside the video, and the error of the video.
 */
export async function downloadFiles(
	context: IExecuteFunctions,
	itemIndex: number,
	result: PollResult,
) {
	const files = { binary: {} as IBinaryKeyData, missing: [] as JsonObject[] };
	for (const [file, isSelected, binaryField] of FILES) {
		const url = shown(result[`${file}_url`] ?? '').trim();
		const isWanted = isSelected(context, itemIndex);
		if (file === 'thumbnail' && (!isWanted || url === '')) continue;
		try {
			checkUrl(url);
			if (!isWanted) continue;
			files.binary[binaryField(context, itemIndex)] = await downloadFile(context, {
				url,
				name: fileOptions.fileName.read(context, itemIndex) || result.task_id,
				expected: file === 'video' ? 'video' : 'image',
				limits: readLimits(context, itemIndex),
				subject: { task_id: result.task_id, [`${file}_url`]: url },
				advice: ADVICE,
			});
		} catch (error) {
			if (file === 'video' || isCanceled(error)) return { ...files, error: error as Error };
			files.missing.push({ file, url, error_message: errorLine(error as Error) });
		}
	}
	return { ...files, error: undefined };
}

/** @throws ServiceError for a URL that is missing, or so long that it was cut. */
function checkUrl(url: string): void {
	if (url !== '' && !url.endsWith('…')) return;
	const problem = url === '' ? 'no video_url' : 'a URL that is too long';
	throw new ServiceError(
		'protocol',
		`The service returned ${problem}`,
		'Run Wait for Video with this task ID',
	);
}
