import { InputError } from '../../client/errors';
import { number } from '../form/form';

/** How large a downloaded file may be. */
export const maximumFileSizeField = number('Maximum File Size', {
	unit: 'MB',
	help: 'Larger files are not downloaded. 0 means no limit.',
	default: 500,
});

/**
 * Checks a file against the limit.
 *
 * @param limit In megabytes; 0 for none.
 * @param bytes Its announced size, or what has come of it.
 * @throws InputError for a larger one.
 */
export function checkFileSize(limit: number, bytes: number, isAnnounced = false): void {
	if (limit === 0 || bytes <= limit * 1_000_000) return;
	const size = isAnnounced ? `has ${megabytes(bytes / 1_000_000)}` : 'is larger';
	const problem = `is ${megabytes(limit)}, but the file ${size}`;
	throw new InputError('Maximum File Size', problem, 'Raise the limit under Options');
}

const megabytes = (count: number) => `${Number(count.toPrecision(3))} MB`;
