import type { NodeContext } from '../run/nodeContext';
import { numberOption } from '../form/options';

/** How large a downloaded file may be. */
export const fileSizeOption = numberOption({
	name: 'maximumFileSize',
	label: 'Maximum File Size',
	unit: 'MB',
	help: 'Larger files are not downloaded. 0 means no limit.',
	default: 0,
	min: 0,
});

/** Maximum size of a downloaded file of the item in bytes; 0 means no limit. */
export function readMaxBytes(context: NodeContext, itemIndex: number): number {
	return fileSizeOption.read(context, itemIndex) * 1_000_000;
}
