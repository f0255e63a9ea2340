import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { settled, valueOf } from '../client/concurrency';
import { isAbout, isCanceled, type ServiceError } from '../client/errors';
import { withDeadline, withRetry } from '../client/http/failures';
import { asJson, parseJsonObject } from '../client/json';
import { counted, oneLine, shown } from '../client/values';
import { createVideo, taskState, type CreatedTask } from '../client/video/tasks';
import type { Adjustment } from '../client/video/videoRequest';

import { showItems } from '../shared/chat/chatStream';
import { canLeave, linkedToPlaces } from '../shared/engine/rest';
import { readBatching } from '../shared/form/callOptions';
import type { CallKind } from '../shared/durable/call';
import { clearCallLog } from '../shared/durable/callRun';
import { taskLedger, taskIdOf } from '../shared/durable/taskTable';
import { openPaidCalls, type PaidCalls } from '../shared/durable/paidCalls';
import { stateOf } from '../shared/durable/states';
import { readModelCodes } from '../shared/run/credential';
import { executionOf } from '../shared/engine/context';
import { ignoreAlwaysOutputData } from '../shared/engine/runs';
import { isFollowed, workflowOf } from '../shared/engine/workflow';
import { mapItems } from '../shared/run/mapItems';
import type { Run } from '../shared/run/run';

import {
	describeVideos,
	failForLost,
	isLeftOut,
	isPutOff,
	namingTask,
	NOT_SENT,
	notCreated,
} from '../shared/wait/lostVideos';
import type { Delivered } from '../shared/wait/record';

import { checkCostKnown, limitOf, planVideo, type PlannedVideo } from './plan';
import { readWaits, TO_GO_ON, waitForCreated, type CreateRun } from './wait';

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
export async function createVideos(run: Run): Promise<INodeExecutionData[][] | null> {
	const { context } = run;
	if (isPutOff(run)) {
		ignoreAlwaysOutputData(context);
		return null;
	}
	const stops = !run.continuesOnFail() && !run.isTool;
	const leaves = !run.isTriedAgain && canLeave(context);
	const loss = { advice: [TO_GO_ON] as const, canLeave: leaves };
	const creation: CreateRun = { stops, leaves, planned: new Map() };
	const created = await createTasks(run, creation);
	if (!leaves) failForLost(run, created, loss);
	const waits = readWaits(run);
	const delivered = waits ? await waitForCreated(run, created, creation) : created;
	if (stops) failForLost(run, delivered, loss);
	const items = delivered.flatMap(({ item, ending }) =>
		stops && ending === 'failed' ? [] : [item],
	);
	if (!waits) hintUnattended(run, items);
	const hasAll = items.length === delivered.length;
	if (hasAll && items.every(({ json }) => json['error'] === undefined)) clearCallLog(run);
	return [linkedToPlaces(context, showItems(run, items))];
}

/**
 * Creates the videos of all items: reads and validates all, checks the limits for those that will be sent, then sends
 * them. An invalid item stops the node before anything is billed, unless the node continues on errors.
 */
async function createTasks(run: Run, { planned, stops }: CreateRun): Promise<readonly Delivered[]> {
	const ownModels = readModelCodes(run.context, 'videoModels');
	const oneByOne = () => ({ ...readBatching(run), concurrency: 1, batchInterval: 0 });
	const checked = await mapItems(run, oneByOne, async (item) => {
		const video = await planVideo(run, item, await ownModels);
		if (video.options.maximumCost !== undefined) checkCostKnown(video);
		planned.set(item, video);
		return { json: {} };
	});
	const videos = [...planned.values()];
	const opened = await settled(openTasks(run, videos));
	/** The items whose video was not created. */
	const failed = new Map<number, Delivered>();
	/** Why nothing more is sent. What costs nothing comes out all the same. */
	let stop: unknown = stops && 'value' in opened ? opened.value.refusal : undefined;
	const readOptions = () => {
		const calls = valueOf(opened);
		const sends = (item: number) => stop === undefined && calls.sends(item);
		return { ...readBatching(run), describeCompleted, calls, sends };
	};
	try {
		const made = await mapItems(run, readOptions, async (item, { calls }) => {
			const video = planned.get(item);
			if (video === undefined) return checked[item]!;
			const isFree = video.options.dryRun || calls.isKnown(item);
			if (stop !== undefined && !isFree) {
				if (!stops) throw notSentAfter(stop as ServiceError);
				failed.set(item, NOT_SENT);
				return { json: {} };
			}
			const output = await settled(outputOf(run, video, calls));
			if ('value' in output) return { json: output.value, pairedItem: { item } };
			const { error } = output;
			if (!isFree && (stops ? !isAbout('request', error) : isAbout('credit', error)))
				stop ??= error;
			if (!stops || isCanceled(error)) throw error;
			failed.set(item, notCreated(error as Error));
			return { json: {} };
		});
		const foreign =
			'value' in opened ? await opened.value.findForeign() : new Map<number, Error>();
		const items = await mapItems(run, oneByOne, async (item) => {
			const error = foreign.get(item);
			if (error === undefined) return made[item]!;
			if (!stops) throw error;
			failed.set(item, notCreated(error));
			return { json: {} };
		});
		hintChanges(run, videos, items);
		return items.map((item, index) => {
			const ending = isLeftOut(item) ? 'unsent' : 'completed';
			return failed.get(index) ?? { item: namingTask(item), ending };
		});
	} finally {
		if ('value' in opened) await opened.value.close();
	}
}

/** The error of an item that is not sent, with On Error: Continue: another one would fail in the same way. */
const notSentAfter = (error: ServiceError) =>
	error.with({}, { message: `Not sent: ${error.message}` });

function describeCompleted(tasks: readonly IDataObject[]): string {
	return describeVideos(
		tasks.flatMap(({ task_id, status }) => (task_id ? { name: shown(task_id), status } : [])),
	);
}

/** The service's words for the states of a row whose video has ended. */
const ENDED: Readonly<Record<string, object>> = {
	done: { status: 'completed' },
	failed: { status: 'failed' },
};

/** Creations of videos in the task ledger. */
const CREATIONS: CallKind<CreatedVideo> = {
	field: 'Prompt',
	describe: ({ prompt, model, duration, size }) =>
		`the prompt "${oneLine(shown(prompt))}" (${[model, duration && `${shown(duration)} s`, size].filter(Boolean).join(', ')})`,
	toRow: ({ task_id, model, ...others }) => ({
		task_id,
		status: 'open',
		...(model && { model }),
		details: JSON.stringify(others),
	}),
	toResult(row) {
		const task_id = taskIdOf(row);
		if (task_id === '') return undefined;
		const { prompt, model, duration, size, audio: generate_audio, delivered_at } = row;
		const sent = Object.entries({ prompt, model, duration, size, generate_audio });
		return {
			task_id,
			status: 'pending',
			model: String(model),
			request: Object.fromEntries(sent.filter(([, value]) => value !== null && value !== '')),
			// So that a reused video has the fields of a new one; a person can change any cell.
			...parseJsonObject(String(row['details'])),
			...ENDED[stateOf(row)],
			...(delivered_at ? { delivered_at: shown(delivered_at) } : {}),
		};
	},
};

/** Opens the creations of a run in the task ledger. */
async function openTasks(run: Run, videos: readonly PlannedVideo[]) {
	const calls = videos.flatMap(({ options, call }) => (options.dryRun ? [] : call));
	const isOn = taskLedger.read(run, 0);
	return await openPaidCalls(run, CREATIONS, calls, isOn, limitOf(run, videos));
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
	run: Run,
	video: PlannedVideo,
	calls: PaidCalls<CreatedVideo>,
): Promise<IDataObject> {
	const { http, options, estimatedCost, plan } = video;
	const { adjustments } = plan;
	if (options.dryRun) return { task_id: '', reason: 'dry_run', ...video.details, adjustments };

	const paid = await calls.make(video.item, async (attempt) => {
		const toSend = video.sign();
		const { retry, limitMs, idleTimeoutMs } = options;
		const task = await withRetry(
			run.clock,
			{ ...retry, limitMs },
			async (deadline) =>
				await createVideo(withDeadline(http, deadline), toSend, idleTimeoutMs),
		);
		return { ...task, ...video.details, ...(attempt > 1 && { attempt }) };
	});
	if (paid === undefined) return { task_id: '', reason: 'limit', ...video.details };
	const { result, isReused } = paid;
	if (!isReused) {
		run.trace({
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
		...((isReused || !run.isTool) && { request: sent }),
		...(isReused && { reused: true }),
	});
}

/** Says in a hint below the output that videos are generated which nothing in the workflow waits for. */
function hintUnattended(run: Run, items: readonly INodeExecutionData[]): void {
	const { length } = items.filter(
		({ json: { task_id, status } }) =>
			task_id && taskState({ status: shown(status) }) === undefined,
	);
	if (length === 0 || isAwaited(run)) return;
	const videos = `${counted(length, 'video')} ${length === 1 ? 'is' : 'are'}`;
	run.hint(
		`${videos} generating, and nothing in this workflow waits. Connect Wait for Video, or switch on Wait Until Finished`,
	);
}

/** Whether a node waits for the videos of this one, or may do so: of a sub-workflow the caller, and after "Execute step" a later run. */
function isAwaited({ context, node: own }: Run): boolean {
	const { nodes, destination } = workflowOf(context);
	if (executionOf(context).current.parent) return true;
	if (destination !== undefined) return isFollowed(context);
	const after = context.getChildNodes(own.name).map(({ name }) => name);
	return Object.values(nodes).some((node) => {
		const { name, type, disabled, parameters } = node!;
		if (disabled === true) return false;
		const collects = type.endsWith('.waitForVideoTool') || parameters['tasks'] === 'ledger';
		return collects || (after.includes(name) && WAITING_NODES.test(type));
	});
}

/** Says in hints below the output that durations were adjusted, and that a limit has left out items. */
function hintChanges(
	{ hint }: Run,
	videos: readonly PlannedVideo[],
	items: readonly INodeExecutionData[],
): void {
	const adjusted = videos.filter(({ plan }) => plan.adjustments.length > 0).length;
	const unsent = items.filter(isLeftOut).length;
	const where = counted(adjusted, 'item');
	if (adjusted > 0)
		hint(`The duration was adjusted in ${where}. See "adjustments" in the output.`);
	const were = `${counted(unsent, 'item')} ${unsent === 1 ? 'was' : 'were'}`;
	if (unsent > 0)
		hint(
			`${were} not sent, because of Maximum Videos or Maximum Cost. See "reason" in the output.`,
		);
}
