import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { HttpPort } from '../client/ports';
import { withRetry } from '../client/http/retry';
import { createVideo } from '../client/video/createVideo';
import type { Adjustment } from '../client/video/normalize';
import { videoRequest, type VideoPlan } from '../client/video/videoRequest';
import { readBatching } from '../shared/form/batchOptions';
import { readSafeRetry } from '../shared/form/retryOptions';
import { callOnce, clearCallLog } from '../shared/run/callLog';
import { n8nClock, n8nService } from '../shared/run/host';
import { mapItems } from '../shared/run/mapItems';
import { readVideoInput, withUrls } from './input';
import { withinMaximumVideos } from './maximumVideos';
import { readOptions, type CreateVideoOptions } from './options';

/** Maximum number of reasons in the hint below the output. */
const MAX_REASONS = 5;

/** The validated input of an item. */
interface PreparedVideo {
	/** The entered values as text, to recognize the same call in a retry. */
	readonly fingerprint: string;
	readonly plan: VideoPlan;
	readonly http: HttpPort;
	readonly options: CreateVideoOptions;
}

/** Creates the videos of all items. An invalid item stops the node before anything is billed, unless the node continues on errors. */
export async function createVideos(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	if (!context.continueOnFail()) await checkItems(context);

	const items = await mapItems(
		context,
		() => ({ ...readBatching(context), describeCompleted }),
		async (item) => ({
			json: await createForItem(context, item),
			pairedItem: { item },
		}),
	);
	if (items.every(({ json }) => json['error'] === undefined)) clearCallLog(context);
	hintAdjustments(context, items);
	return items;
}

async function checkItems(context: IExecuteFunctions): Promise<void> {
	await mapItems(
		context,
		() => ({ concurrency: 1 }),
		async (item) => {
			await prepareVideo(context, item);
			return { json: {}, pairedItem: { item } };
		},
	);
}

function describeCompleted(tasks: readonly IDataObject[]): string {
	const ids = tasks.flatMap(({ task_id: taskId }) => (taskId === undefined ? [] : [taskId]));
	return ids.length === 0
		? ''
		: `Tasks created before this error, still generating: ${ids.join(', ')}`;
}

/**
 * Reads and validates the input of an item; sends nothing.
 *
 * @throws InputError when the input is invalid.
 */
async function prepareVideo(context: IExecuteFunctions, itemIndex: number): Promise<PreparedVideo> {
	const options = readOptions(context, itemIndex);
	const input = readVideoInput(context, itemIndex);
	const service = await n8nService(context);
	const entered = withUrls(context, itemIndex, input, service);
	return {
		// Without the URLs of binary files: each try signs a new one.
		fingerprint: JSON.stringify(input),
		plan: videoRequest(entered, options.unsupportedValues),
		http: service.http,
		options,
	};
}

/**
 * Creates the task of an item, or returns what an earlier try of this execution created.
 *
 * @returns The service's response, with `adjustments` where the request differs from the input; for a dry run `request`
 *   and `adjustments`.
 * @throws InputError when the input is invalid; ServiceError when the creation failed, now or in an earlier try.
 */
async function createForItem(context: IExecuteFunctions, itemIndex: number): Promise<IDataObject> {
	const { fingerprint, plan, http, options } = await prepareVideo(context, itemIndex);
	if (options.dryRun) return { ...plan };

	const create = async () => ({
		...(await withRetry(
			n8nClock(context),
			readSafeRetry(context, itemIndex),
			async () => await createVideo(http, plan.request, options.idleTimeoutMs),
		)),
		...(plan.adjustments.length > 0 ? { adjustments: plan.adjustments } : {}),
	});
	const created = await callOnce(
		context,
		{
			item: itemIndex,
			request: fingerprint,
			retryOutcomeUnknown: options.retryOutcomeUnknown,
		},
		async () => await withinMaximumVideos(context, itemIndex, create),
	);
	return { ...created };
}

/** Lists in a hint below the output why values were adjusted. */
function hintAdjustments(context: IExecuteFunctions, items: readonly INodeExecutionData[]): void {
	const adjusted = items.flatMap(({ json: { adjustments } }) =>
		Array.isArray(adjustments) && adjustments.length > 0
			? // This node has written them; the type of an item's JSON does not tell.
				[adjustments as unknown as readonly Adjustment[]]
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
