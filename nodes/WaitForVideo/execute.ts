import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { readResult } from '../client/concurrency';
import { InputError } from '../client/errors';
import { counted } from '../client/values';
import type { PollState } from '../client/video/pollTasks';
import { showItems } from '../shared/chat/chatStream';
import { canLeave, linkedToPlaces } from '../shared/engine/rest';
import {
	canPlanRuns,
	ignoreAlwaysOutputData,
	isFirstTry,
	suspendUntil,
} from '../shared/engine/runs';
import { isConnected, workflowOf } from '../shared/engine/workflow';
import { toNodeError } from '../shared/run/nodeErrors';
import { checkNotRounded } from '../shared/run/parameters';
import type { Run } from '../shared/run/run';
import { deliver, type WaitItem } from '../shared/wait/deliver';
import { failForLost, isPutOff, isUnsent, lostBefore } from '../shared/wait/lostVideos';
import {
	poll,
	toWantedFiles,
	withProgress,
	type Progress,
	type WaitMode,
} from '../shared/wait/poll';
import { collectTasks, forgetTasks, runOfTasks, withLedger, type LedgerTask } from './collect';
import { runForm, waitForm } from './properties';

/** @param isSet Whether its option fails the node, whatever is connected. */
const toGoOn = (isSet: boolean) =>
	`To go on without them, ${isSet ? 'set On Failed Videos to Send to Failed Output, ' : ''}connect the output Failed and retry with the currently saved workflow, free of charge` as const;

/**
 * One run of Wait for Video: all polls of its tasks, or in suspend mode one step of them. Failed videos that fail the node
 * do so in a run of their own, after the others have gone on.
 *
 * @returns Null if this run was not needed and is not to be recorded.
 */
export async function runWait(run: Run): Promise<INodeExecutionData[][] | null> {
	const { context, isTool, isTriedAgain } = run;
	// Its empty item would leave through Completed, where each item is a video.
	if (!isTool) ignoreAlwaysOutputData(context);
	if (isPutOff(run)) return null;
	const outputs = await withProgress(run, async (progress) => {
		const { collected, isSuspended, onFailed, ...polled } = await pollItems(run, progress);
		// n8n removes this run when it resumes; until then a webhook may answer with its items, as with n8n's Wait node. Copies:
		// with an error output n8n empties the list that a node returns. With Retry On Fail an `error` of the first item would
		// make it run the node again, whose entry has no items any more.
		if (isSuspended) {
			return [
				run.items().map(({ json: { error, ...json }, ...item }) => ({ ...item, json })),
			];
		}
		const own = collected === undefined ? run : runOfTasks(run, collected);
		const isSet = onFailed === 'fail';
		const fails = isSet || (onFailed === 'auto' && !isTool && !isConnected(context, FAILED));
		const stops = fails && !run.continuesOnFail();
		const leaves = stops && !isTriedAgain && canLeave(context);
		const delivered = await deliver(own, progress, {
			...polled,
			failsItems: fails && !stops,
			dropsAll: stops && !leaves,
		});
		const isCollected = collected !== undefined;
		const loss = { advice: [toGoOn(isSet)], canLeave: leaves, isCollected };
		if (stops) failForLost(run, delivered, loss);
		const outputs = toOutputs(run, delivered);
		const unsent = delivered.filter(({ ending }) => ending === 'unsent').length;
		if (unsent > 0)
			run.hint(`${counted(unsent, 'item')} without a task, which Create Video has not sent`);
		if (stops) outputs[FAILED] = outputs[FAILED]!.filter(isUnsent);
		if (collected === undefined) return outputs;
		// For an error there n8n runs the node again, and forgets these outputs.
		const isAgain = isTriedAgain && outputs[0]?.[0]?.json['error'] !== undefined;
		if (!isAgain) forgetTasks(run);
		return withLedger(outputs, collected);
	});
	return outputs.map((items, output) => linkedToPlaces(context, showItems(run, items, output)));
}

/**
 * Polls the tasks of all items, or those that were collected from the task ledger. An error is part of the result, so that
 * the task IDs are not lost with it.
 */
async function pollItems(run: Run, progress: Progress) {
	let items: readonly WaitItem[] = [];
	let collected: readonly LedgerTask[] | undefined;
	try {
		const mode = readWaitMode(run);
		checkConnections(run.context, mode);
		collected = await collectTasks(run);
		items = readItems(run, collected);
		const taskIds = items.map(({ taskId }) => taskId);
		const options = runForm.read(run, 0);
		const polled = await poll(run, taskIds, progress, mode, options);
		if (polled.isSuspended) {
			const nowMs = Date.now();
			const resumeMs = nextResumeMs(polled, nowMs, options.maximumWait * 60_000);
			const seconds = Math.round((resumeMs - nowMs) / 1000);
			progress.finish(polled.polls, `, next poll in ${seconds} s`);
			await suspendUntil(run.context, resumeMs);
		}
		return { collected, items, onFailed: options.onFailed, ...polled };
	} catch (error) {
		// The value is not read again outside: for an error there n8n would pass the input on as a success.
		const none = { polls: [], isSuspended: false, onFailed: 'auto' } as const;
		return { collected, items, ...none, error };
	}
}

const NO_TASK = 'Create Video outputs it as task_id: connect it, or enter the ID of a task';

/** Reads all items: a bad value stops the node before the first poll. With On Error: Continue it fails its own item only. */
function readItems(run: Run, collected: readonly LedgerTask[] | undefined) {
	const read = (item: number): WaitItem => {
		const values = waitForm.read(run, item);
		if (collected === undefined) checkNotRounded(run.context, item, 'taskId', 'Task ID');
		return { taskId: values.taskId, files: toWantedFiles(run, values) };
	};
	if (collected !== undefined)
		return collected.map(({ task_id: taskId }) => ({ ...read(0), taskId }));
	return run.items().map((item, index): WaitItem => {
		const result = readResult((): WaitItem => {
			const value = read(index);
			if (value.taskId === '' && isUnsent(item))
				return { taskId: '', given: { item, ending: 'unsent' } };
			const lost = lostBefore(item, value.taskId);
			if (lost) return { taskId: '', given: { item: lost, ending: 'failed' } };
			if (value.taskId === '') throw new InputError('Task ID', 'is empty', NO_TASK);
			return value;
		});
		if ('value' in result) return result.value;
		const error = result.error as Error;
		// What stops polling is the error of all items, if it does not name its own.
		if (!run.continuesOnFail()) throw toNodeError(run, error, index);
		return { taskId: '', given: { item, ending: undefined, error } };
	});
}

/**
 * Minimum length of a step. n8n looks once a minute for executions to resume: a step of at least a minute ends on time,
 * a shorter one up to a minute late.
 */
const STEP_MS = 60_000;

/**
 * When a suspended execution resumes, in milliseconds since the epoch: in about a minute, so that a later step ends on
 * the deadline of the oldest task, and not before the end of a pause after a 429.
 */
export function nextResumeMs(
	{ polls, pausedUntilMs }: PollState,
	nowMs: number,
	timeoutMs: number,
): number {
	const unfinished = polls.filter(({ outcome }) => outcome === undefined);
	const deadlineMs = Math.min(...unfinished.map(({ startedAtMs }) => startedAtMs + timeoutMs));
	const remainingMs = deadlineMs - nowMs;
	const stepMs = Math.max(0, remainingMs) / Math.max(1, Math.floor(remainingMs / STEP_MS));
	return Math.ceil(Math.max(nowMs + stepMs, Math.min(pausedUntilMs, deadlineMs)));
}

/** Outputs of Wait for Video by index. As a tool all results use the first one, the only one that an agent reads. */
const [COMPLETED, FAILED, GENERATING] = [0, 1, 2] as const;
const NAMES = ['Completed', 'Failed', 'Generating'] as const;
/** What became of the videos of each output. */
const ENDINGS = [['completed'], ['failed', 'unsent'], ['generating']] as const;

/** The outputs; only Ask Once has the third one, for videos that are not finished yet. */
export const WAIT_OUTPUTS = `={{ ${JSON.stringify(NAMES)}
	.slice(0, $parameter.waitMode === 'once' ? 3 : 2)
	.map((displayName) => ({ type: 'main', displayName })) }}` as const;

/**
 * The mode of this run. The node polls in place whatever the form says where suspending does not work: it would cut off
 * a streamed response, n8n does not resume a node that was started with "Execute step", and it counts no tries across steps.
 */
function readWaitMode(run: Run): WaitMode {
	const { context } = run;
	const { waitUntilFinished, waitMode } = waitForm.fields;
	if (run.isTool) return waitUntilFinished.read(run, 0) ? 'inPlace' : 'once';
	const mode = waitMode.read(run, 0);
	const { destination } = workflowOf(context);
	const isStep = destination === context.getNode().name;
	const canSuspend = !run.isStreamed && !isStep && canPlanRuns(context) && isFirstTry(context);
	return mode === 'suspend' && !canSuspend ? 'inPlace' : mode;
}

/** The items by output. An error goes on where On Error says so: where Failed leads nowhere, as from other nodes. */
function toOutputs(
	{ context, isTool, node }: Run,
	delivered: Awaited<ReturnType<typeof deliver>>,
): INodeExecutionData[][] {
	if (isTool) return [delivered.map(({ item }) => item)];
	// n8n itself moves errors to an error output. Without one the node continues, in the older form of On Error as well.
	const hasErrorOutput = node.onError === 'continueErrorOutput';
	const errorOutput = hasErrorOutput || isConnected(context, FAILED) ? 'failed' : 'completed';
	const outputs = ENDINGS.map((endings: readonly string[]) =>
		delivered.flatMap(({ item, ending = errorOutput }) =>
			endings.includes(ending) ? [item] : [],
		),
	);
	return outputs.slice(0, outputs[GENERATING]!.length > 0 ? 3 : 2);
}

/**
 * Checks the connections before the first poll.
 *
 * @throws InputError for an output that leads back to the node: it would run again without a pause, and without an end.
 */
function checkConnections(context: IExecuteFunctions, mode: WaitMode): void {
	const { name } = context.getNode();
	const outputs = workflowOf(context).connections?.[name]?.['main'] ?? [];
	const waiting = mode === 'once' ? [COMPLETED, GENERATING] : [COMPLETED];
	const looping = waiting.find((index) => outputs[index]?.some(({ node }) => node === name));
	if (looping === undefined) return;
	throw new InputError(
		NAMES[looping],
		'is connected to the input of this node',
		'Remove that connection: to wait for a video, set Wait Mode to Poll in Place or Suspend Between Polls',
	);
}
