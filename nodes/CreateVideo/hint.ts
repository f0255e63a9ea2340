import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { Adjustment } from '../client/video/normalize';

/** Reasons that a hint has room for. */
const MAX_REASONS = 5;

/** Tells in the node's output panel which values have not gone out as they were entered. */
export function hintAdjustments(
	context: IExecuteFunctions,
	items: readonly INodeExecutionData[],
): void {
	const adjusted = items.flatMap(({ json: { adjustments } }) =>
		Array.isArray(adjustments) && adjustments.length > 0
			? [adjustments as unknown as readonly Adjustment[]]
			: [],
	);
	if (adjusted.length === 0) return;

	const reasons = [...new Set(adjusted.flat().map(({ reason }) => reason))];
	const shown = reasons.slice(0, MAX_REASONS);
	const more = reasons.length > shown.length ? [`${reasons.length - shown.length} more`] : [];
	const count = adjusted.length === 1 ? '1 item' : `${adjusted.length} items`;
	context.addExecutionHints({
		type: 'warning',
		location: 'outputPane',
		message: `Values were adjusted in ${count}: ${[...shown, ...more].join('; ')}. See "adjustments" in the output.`,
	});
}
