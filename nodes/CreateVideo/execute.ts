import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isOutcomeUnknown } from '../client/errors';
import { withRetryUntil } from '../client/http/retry';
import { createVideo } from '../client/video/tasks';
import type { Adjustment } from '../client/video/videoRequest';
import { asJson } from '../client/json';
import { counted } from '../client/values';
import { settled, valueOf } from '../client/concurrency';
import { readBatching } from '../shared/form/callOptions';
import { clearCallLog } from '../shared/ledger/callLog';
import type { PaidCalls } from '../shared/ledger/paidCalls';
import { hint } from '../shared/run/hints';
import { n8nClock } from '../shared/run/clock';
import { mapItems } from '../shared/run/mapItems';
import { readModelCodes } from '../shared/run/credential';
import { isToolRun } from '../shared/run/nodeContext';
import { trace } from '../shared/run/trace';
import { checkWaitFields } from '../shared/wait/options';
import { checkCostKnown, checkLimits, countEarlier, countSpent } from './limits';
import { openTasks, type CreatedVideo } from './tasks';
import { planVideo, type PlannedVideo } from './plan';
import { readWaits, waitForCreated } from './wait';

/** Maximum number of reasons in the hint below the output. */
const MAX_REASONS = 5;

/** Creates the videos of all items, and waits for them if that is on. Until all have succeeded, a retry knows the tasks. */
export async function createVideos(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const created = await createTasks(context);
	const items = readWaits(context) ? await waitForCreated(context, created) : created;
	if (items.every(({ json }) => json['error'] === undefined)) clearCallLog(context);
	return items;
}

/**
 * Creates the videos of all items: reads and validates all, checks the limits for those that will be sent, then sends
 * them. An invalid item stops the node before anything is billed, unless the node continues on errors.
 */
async function createTasks(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const planned = new Map<number, PlannedVideo>();
	const ownModels = readModelCodes(context, 'videoModels');
	const checked = await mapItems(
		context,
		() => ({ ...readBatching(context), concurrency: 1, batchInterval: 0 }),
		async (item) => {
			const video = await planVideo(context, item, await ownModels);
			if (video.options.maximumCost > 0) checkCostKnown(video);
			if (readWaits(context)) checkWaitFields(context, item);
			planned.set(item, video);
			return { json: {} };
		},
	);
	const videos = [...planned.values()];
	const opened = await settled(openTasks(context, videos));
	const toSend = 'value' in opened ? videos.filter(({ item }) => opened.value.isNew(item)) : [];
	/** The videos that are counted, but not created so far. A creation that certainly failed comes back. */
	const pending = new Set<PlannedVideo>();
	try {
		const items = await mapItems(
			context,
			() => {
				const calls = valueOf(opened);
				countEarlier(
					context,
					videos.filter(({ item }) => calls.isFromLedger(item)),
				);
				checkLimits(
					context,
					videos.filter(({ options }) => options.dryRun),
				);
				checkLimits(context, toSend);
				countSpent(context, toSend);
				toSend.forEach((video) => pending.add(video));
				return { ...readBatching(context), describeCompleted, calls };
			},
			async (item, { calls }) => {
				const video = planned.get(item);
				if (video === undefined) return checked[item]!;
				const json = await outputOf(context, video, calls, pending);
				return { json, pairedItem: { item } };
			},
		);
		hintAdjustments(context, items);
		return items;
	} finally {
		countSpent(context, [...pending], -1);
		if ('value' in opened) await opened.value.close();
	}
}

function describeCompleted(tasks: readonly IDataObject[]): string {
	const ids = tasks.flatMap(({ task_id: taskId }) => (taskId === undefined ? [] : [taskId]));
	return ids.length === 0
		? ''
		: `Tasks created before this error, still generating: ${ids.join(', ')}`;
}

/**
 * Creates the task of an item, or returns what an earlier try or execution created.
 *
 * @returns The service's response with `request`, which an agent's model does not need, and `adjustments` where the
 *   request differs from the input; for a dry run `request` and `adjustments`. Both with `estimated_cost` where it is
 *   known. A video that was created before has `reused`.
 * @throws ServiceError when the creation failed, now or in an earlier try.
 */
async function outputOf(
	context: IExecuteFunctions,
	video: PlannedVideo,
	calls: PaidCalls<CreatedVideo>,
	pending: Set<PlannedVideo>,
): Promise<IDataObject> {
	const { http, options, estimatedCost } = video;
	const cost = estimatedCost === undefined ? {} : { estimated_cost: estimatedCost };
	const { request: shown, adjustments } = video.plan;
	if (options.dryRun) return { request: shown, adjustments, ...cost };

	const { result, isReused } = await calls.make(video.item, async () => {
		const request = video.sign();
		pending.delete(video);
		const task = await withRetryUntil(
			n8nClock(context),
			http,
			options,
			async (port) => await createVideo(port, request, options.idleTimeoutMs),
		).catch((error: unknown) => {
			if (!isOutcomeUnknown(error)) pending.add(video);
			throw error;
		});
		return {
			...task,
			request: shown,
			...(adjustments.length > 0 ? { adjustments } : {}),
			...cost,
		};
	});
	const { request, ...rest } = result;
	if (!isReused) {
		trace(context, {
			'gen_ai.response.model': result.model,
			'agent_video.task_ids': result.task_id,
			'agent_video.video_seconds': video.plan.seconds,
			'agent_video.estimated_cost': estimatedCost,
		});
	}
	return asJson({
		...rest,
		// An agent's model needs it where it gets a video that it may not have asked for.
		...(isToolRun(context) && !isReused ? {} : { request }),
		...(isReused ? { reused: true } : {}),
	});
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
	hint(
		context,
		`Values were adjusted in ${counted(adjusted.length, 'item')}: ${[...shown, ...more].join('; ')}. See "adjustments" in the output.`,
	);
}
