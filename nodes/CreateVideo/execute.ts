import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { settled, valueOf } from '../client/concurrency';
import { isCanceled, ServiceError } from '../client/errors';
import { withDeadline, withRetry } from '../client/http/retry';
import { asJson, parseJsonObject } from '../client/json';
import { counted, oneLine, shown } from '../client/values';
import { createVideo, type CreatedTask } from '../client/video/tasks';
import type { Adjustment } from '../client/video/videoRequest';

import { showItems } from '../shared/chat/chatStream';
import { canLeave, linkedToPlaces } from '../shared/engine/rest';
import { readBatching } from '../shared/form/callOptions';
import { clearCallLog } from '../shared/ledger/callLog';
import type { LedgerKind } from '../shared/ledger/call';
import { taskLedger } from '../shared/ledger/ledgerOption';
import type { Limit } from '../shared/ledger/limit';
import { attemptOf } from '../shared/ledger/paidCall';
import { openCalls, type PaidCalls } from '../shared/ledger/paidCalls';
import { TASK_TABLE, taskIdOf } from '../shared/ledger/taskTable';
import { readModelCodes } from '../shared/run/credential';
import { executionOf } from '../shared/engine/execution';
import { isToolRun, isTriedAgain } from '../shared/engine/nodeRun';
import { workflowOf } from '../shared/engine/workflow';
import { mapItems } from '../shared/run/mapItems';
import { openedRun } from '../shared/run/run';

import { failForLost, isPutOff, notCreated } from '../shared/wait/lostVideos';
import type { Delivered } from '../shared/wait/record';

import {
	checkCostKnown,
	countSpent,
	periodLimit,
	planVideo,
	spend,
	type PlannedVideo,
} from './plan';
import { ADVICE, readWaits, waitForCreated, type CreateRun } from './wait';

/** Types of nodes that may wait for a video. */
const WAITING_NODES = /\.(waitForVideo|executeWorkflow|httpRequest)$/;

/** A created task, with what was sent for it. */
type CreatedVideo = CreatedTask & {
	readonly request: Partial<PlannedVideo['plan']['request']>;
	readonly adjustments?: readonly Adjustment[];
	readonly estimated_cost?: number;
	/** How many videos its key has had with this one, where the others have failed. */
	readonly attempt?: number;
	/** When Wait for Video has first handed out the video. */
	readonly delivered_at?: string;
};

/**
 * Creates the videos of all items, and waits for them if that is on. Until all have succeeded, a retry knows the tasks. Where some
 * fail, what is paid for comes out, and the node fails in a run of its own.
 *
 * @returns Null if this run was not needed and is not to be recorded.
 */
export async function createVideos(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][] | null> {
	if (isPutOff(context)) return null;
	const stops = !context.continueOnFail() && !isToolRun(context);
	const leaves = !isTriedAgain(context) && canLeave(context);
	const loss = { advice: Object.values(ADVICE), canLeave: leaves };
	const run: CreateRun = { stops, leaves, planned: new Map() };
	const created = await createTasks(context, run);
	if (!leaves) failForLost(context, created, loss);
	const waits = readWaits(context);
	const delivered = waits ? await waitForCreated(context, created, run) : created;
	if (stops) failForLost(context, delivered, loss);
	const items = delivered.flatMap(({ item, ending }) =>
		stops && ending === 'failed' ? [] : [item],
	);
	if (!waits) hintUnattended(context, items);
	const hasAll = items.length === delivered.length;
	if (hasAll && items.every(({ json }) => json['error'] === undefined)) clearCallLog(context);
	return [linkedToPlaces(context, showItems(openedRun(context), items))];
}

/**
 * Creates the videos of all items: reads and validates all, checks the limits for those that will be sent, then sends
 * them. An invalid item stops the node before anything is billed, unless the node continues on errors.
 */
async function createTasks(
	context: IExecuteFunctions,
	{ planned, stops }: CreateRun,
): Promise<readonly Delivered[]> {
	const ownModels = readModelCodes(context, 'videoModels');
	const checked = await mapItems(
		openedRun(context),
		() => ({ ...readBatching(context), concurrency: 1, batchInterval: 0 }),
		async (item) => {
			const video = await planVideo(context, item, await ownModels);
			if (video.options.maximumCost > 0) checkCostKnown(video);
			planned.set(item, video);
			return { json: {} };
		},
	);
	const videos = [...planned.values()];
	const dryRuns = videos.filter(({ options }) => options.dryRun);
	const limit = periodLimit(context, videos);
	const opened = await settled(openTasks(context, videos, limit));
	const toSend =
		'value' in opened ? videos.filter(({ call }) => opened.value.isNew(call.item)) : [];
	/** The videos that are counted for a limit of the execution. */
	let counted: readonly PlannedVideo[] = [];
	const tasks = new Map<string, string>();
	/** The items whose video was not created. After the first one, only what costs nothing comes out. */
	const failed = new Map<number, Delivered>();
	try {
		const items = await mapItems(
			openedRun(context),
			() => {
				const calls = valueOf(opened);
				const earlier = videos.filter(({ call }) => calls.isFromLedger(call.item));
				if (limit === undefined) {
					spend(context, earlier, dryRuns, toSend);
					counted = toSend;
				}
				return { ...readBatching(context), describeCompleted, calls };
			},
			async (item, { calls }) => {
				const video = planned.get(item);
				if (video === undefined) return checked[item]!;
				const pairedItem = { item };
				const isFree = video.options.dryRun || calls.isKnown(video.call.item);
				if (failed.size > 0 && !isFree) {
					failed.set(item, notCreated(new Error('Not sent, because another one failed')));
					return { json: {} };
				}
				const made = await settled(outputOf(context, video, calls, tasks));
				if ('value' in made || !stops || isCanceled(made.error))
					return { json: valueOf(made), pairedItem };
				failed.set(item, notCreated(made.error as Error));
				return { json: {} };
			},
		);
		hintAdjusted(context, videos);
		return items.map((item, index) => failed.get(index) ?? { item, ending: 'completed' });
	} finally {
		if ('value' in opened) {
			const { isSent, close } = opened.value;
			// What certainly failed, or was never sent, counts no more.
			const free = counted.filter(({ call }) => !isSent(call.item));
			if (free.length > 0) countSpent(context, free, -1);
			await close();
		}
	}
}

function describeCompleted(tasks: readonly IDataObject[]): string {
	const ids = tasks.flatMap(({ task_id: taskId }) => taskId ?? []).join(', ');
	return ids && `Tasks created before this error, still generating: ${ids}`;
}

/** Creations of videos in the task ledger. */
const CREATIONS: LedgerKind<CreatedVideo> = {
	table: TASK_TABLE,
	keptDays: 90,
	field: 'Prompt',
	describe: ({ prompt, model, duration, size }) =>
		`the prompt "${oneLine(shown(prompt))}" (${[model, duration && `${shown(duration)} s`, size].filter(Boolean).join(', ')})`,
	toRow: ({ task_id, status, model, ...others }) => ({
		task_id,
		status,
		model,
		details: JSON.stringify(others),
	}),
	toResult(row) {
		const task_id = taskIdOf(row);
		if (task_id === '') return undefined;
		const { prompt, model, duration, size, audio: generate_audio, delivered_at } = row;
		const sent = Object.entries({ prompt, model, duration, size, generate_audio });
		return {
			task_id,
			status: String(row['status']),
			model: String(model),
			request: Object.fromEntries(sent.filter(([, value]) => value !== null && value !== '')),
			...(attemptOf(row) > 1 && { attempt: attemptOf(row) }),
			// So that a reused video has the fields of a new one; a person can change any cell.
			...parseJsonObject(String(row['details'])),
			...(delivered_at ? { delivered_at: shown(delivered_at) } : {}),
		};
	},
};

/** Opens the creations of a run in the task ledger. */
async function openTasks(
	context: IExecuteFunctions,
	videos: readonly PlannedVideo[],
	limit: Limit | undefined,
) {
	const calls = videos.flatMap(({ options, call }) => (options.dryRun ? [] : call));
	const { concurrency } = readBatching(context);
	const isOn = taskLedger.read(context, 0);
	return await openCalls(context, CREATIONS, calls, { isOn, concurrency }, limit);
}

/**
 * Creates the task of an item, or returns what an earlier try or execution created.
 *
 * @returns The service's response with `request`, which an agent's model does not need, and `adjustments` where the
 *   request differs from the input; for a dry run `request` and `adjustments`. Both with `estimated_cost` where it is
 *   known. A video that was created before has `reused`.
 * @param tasks What was sent for the tasks of this run.
 * @throws ServiceError when the creation failed, now or in an earlier try.
 */
async function outputOf(
	context: IExecuteFunctions,
	video: PlannedVideo,
	calls: PaidCalls<CreatedVideo>,
	tasks: Map<string, string>,
): Promise<IDataObject> {
	const { http, options, estimatedCost, plan } = video;
	const { request, adjustments } = plan;
	if (options.dryRun) return { ...video.details, adjustments };

	const { result, isReused } = await calls.make(video.call.item, async (attempt) => {
		const toSend = video.sign();
		const { retry, limitMs, idleTimeoutMs } = options;
		const task = await withRetry(
			openedRun(context).clock,
			{ ...retry, limitMs },
			async (deadline) =>
				await createVideo(withDeadline(http, deadline), toSend, idleTimeoutMs),
		);
		const sent = JSON.stringify(request);
		if ((tasks.get(task.task_id) ?? sent) !== sent) throw taskOfOther(task.task_id);
		tasks.set(task.task_id, sent);
		return { ...task, ...video.details, ...(attempt > 1 && { attempt }) };
	});
	if (!isReused) {
		openedRun(context).trace({
			'gen_ai.response.model': result.model,
			'agent_video.task_ids': result.task_id,
			'agent_video.video_seconds': plan.seconds,
			'agent_video.estimated_cost': estimatedCost,
		});
	}
	const { request: sent, ...rest } = result;
	return asJson({
		...rest,
		// An agent's model needs it where it gets a video that it may not have asked for.
		...((isReused || !isToolRun(context)) && { request: sent }),
		...(isReused && { reused: true }),
	});
}

function taskOfOther(taskId: string): ServiceError {
	const message = 'The service answered with the task of another video of this run';
	const details = { outcomeUnknown: true, serviceMessage: taskId };
	return new ServiceError('protocol', message, ['findProxy', 'checkTask'], details);
}

/** Says in a hint below the output that videos are generated which nothing in the workflow waits for. */
function hintUnattended(context: IExecuteFunctions, items: readonly INodeExecutionData[]): void {
	const ids = items.flatMap(({ json }) => json['task_id'] ?? []);
	if (ids.length === 0 || isAwaited(context)) return;
	const videos = ids.length === 1 ? '1 video is' : `${ids.length} videos are`;
	const todo = 'Connect Wait for Video, or switch on Wait Until Finished';
	openedRun(context).hint(`${videos} generating, and nothing in this workflow waits. ${todo}`);
}

/** Whether a node waits for the videos of this one, or may do so: of a sub-workflow the caller, and after "Execute step" a later run. */
function isAwaited(context: IExecuteFunctions): boolean {
	const { nodes, destination } = workflowOf(context);
	if (destination !== undefined || executionOf(context).current.parent) return true;
	const after = context.getChildNodes(context.getNode().name).map(({ name }) => name);
	return Object.values(nodes).some((node) => {
		const { name, type, disabled, parameters } = node!;
		if (disabled === true) return false;
		const collects = type.endsWith('.waitForVideoTool') || parameters['tasks'] === 'ledger';
		return collects || (after.includes(name) && WAITING_NODES.test(type));
	});
}

/** Says in a hint below the output that durations were adjusted. */
function hintAdjusted(context: IExecuteFunctions, videos: readonly PlannedVideo[]): void {
	const { length } = videos.filter(({ plan }) => plan.adjustments.length > 0);
	if (length === 0) return;
	const where = counted(length, 'item');
	openedRun(context).hint(
		`The duration was adjusted in ${where}. See "adjustments" in the output.`,
	);
}
