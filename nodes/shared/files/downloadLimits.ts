import { InputError } from '../../client/errors';
import { group, number, type ValuesOf } from '../form/form';
import type { Run } from '../run/run';

/** How large a downloaded file may be. */
export const maximumFileSizeField = number('Maximum File Size', {
	unit: 'MB',
	help: 'Larger files are not downloaded. 0 means no limit.',
	default: 500,
});

/** With how much one run of the node may download. */
const sizeFields = {
	maximumFileSize: maximumFileSizeField,
	maximumTotalSize: number('Maximum Total Size', {
		unit: 'MB',
		help: 'Limit for all files of one run of the node together. 0 means no limit.',
		default: 10_000,
	}),
};

export const fileGroupField = group('Downloaded Files', sizeFields);

/** How much may be downloaded, as the form has it. */
export type DownloadLimits = ValuesOf<typeof sizeFields>;

/**
 * Counts bytes against the limits.
 *
 * @param fileBytes Bytes of the file so far, or its announced size.
 * @param newBytes How many of them have arrived now; 0 for an announced size.
 * @throws InputError when the file, or the run, exceeds its limit.
 */
export function countBytes(
	{ downloaded }: Run,
	{ maximumFileSize, maximumTotalSize }: DownloadLimits,
	fileBytes: number,
	newBytes: number,
): void {
	downloaded.bytes += newBytes;
	const size = newBytes === 0 ? `has ${megabytes(fileBytes)}` : 'is larger';
	checkSize('File', fileBytes, maximumFileSize, `the file ${size}`);
	checkSize('Total', downloaded.bytes, maximumTotalSize, 'the files of this run have more');
}

function checkSize(which: 'File' | 'Total', bytes: number, limit: number, size: string): void {
	const maxBytes = limit * 1_000_000;
	if (limit === 0 || bytes <= maxBytes) return;
	const problem = `is ${megabytes(maxBytes)}, but ${size}`;
	throw new InputError(`Maximum ${which} Size`, problem, 'Raise the limit under Options');
}

const megabytes = (bytes: number) => `${Number((bytes / 1_000_000).toPrecision(3))} MB`;
