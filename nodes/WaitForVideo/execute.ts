import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { ignoreAlwaysOutputData } from '../shared/run/engine';
import { n8nClock } from '../shared/run/clock';
import { isToolRun } from '../shared/run/nodeContext';
import { readText } from '../shared/run/parameters';
import { checkTaskId, deliver } from '../shared/wait/deliver';
import { readPolling } from '../shared/wait/options';
import { poll, savePolls } from '../shared/wait/poll';
import { type Progress, withProgress } from '../shared/wait/progress';
import { collectTasks, contextOfTasks, forgetTasks, type LedgerTask, withLedger } from './collect';
import { readFailsNode } from './properties';
import { checkConnections, readWaitMode, suspendUntil, toOutputs, type WaitMode } from './outputs';
import type { PollState } from '../client/video/poll/pollTasks';

const SCOPES = { inPlace: 'all', suspend: 'step', once: 'once' } as const;
const ADVICE =
	'Completed videos are not lost: run this node again with their task IDs. Status polls are free of charge';
const TO_GO_ON =
	'To go on without the failed videos, connect the output Failed (see On Failed Videos)';

/** One run of Wait for Video: all polls of its tasks, or in suspend mode one step of them. */
export async function runWait(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	return await withProgress(context, async (progress) => {
		const mode = readWaitMode(context);
		// Its empty item would leave through Completed, where each item is a video.
		if (!isToolRun(context)) ignoreAlwaysOutputData(context);
		const { collected, isSuspended, ...polled } = await pollItems(context, mode, progress);
		// n8n removes this run when it resumes; until then a webhook may answer with its items, as with n8n's Wait node. Copies:
		// with an error output n8n empties the list that a node returns. With Retry On Fail an `error` of the first item would
		// make it run the node again, whose entry has no items any more.
		if (isSuspended) return [context.getInputData().map(withoutError)];
		if (collected?.length === 0) return [[]];
		const own = collected === undefined ? context : contextOfTasks(context, collected);
		const rule = { failsNode: readFailsNode(own), advice: ADVICE, toGoOn: TO_GO_ON } as const;
		const outputs = toOutputs(own, await deliver(own, polled, progress, rule));
		if (collected === undefined) return outputs;
		forgetTasks(context);
		return withLedger(outputs, collected);
	});
}

function withoutError({
	json: { error, ...json },
	...item
}: INodeExecutionData): INodeExecutionData {
	return { ...item, json };
}

/**
 * Polls the tasks of all items, or those that were collected from the task ledger. An error is part of the result, so that
 * the task IDs are not lost with it.
 */
async function pollItems(context: IExecuteFunctions, mode: WaitMode, progress: Progress) {
	const noPolls = { polls: [], isSuspended: false };
	let taskIds: readonly string[] = [];
	let collected: readonly LedgerTask[] | undefined;
	try {
		checkConnections(context, mode);
		collected = await collectTasks(context);
		if (collected?.length === 0) return { collected, taskIds, ...noPolls };
		taskIds = collected?.map(({ task_id }) => task_id) ?? readTaskIds(context);
		return { collected, taskIds, ...(await pollStep(context, mode, taskIds, progress)) };
	} catch (error) {
		return { collected, taskIds, ...noPolls, error };
	}
}

function readTaskIds(context: IExecuteFunctions): readonly string[] {
	const taskIds = context
		.getInputData()
		.map((_item, index) => readText(context, 'taskId', index).trim());
	// An empty ID stops the node before the first poll. With On Error: Continue it fails its own item only.
	if (!context.continueOnFail()) taskIds.forEach(checkTaskId);
	return taskIds;
}

/** Polls the tasks until all are finished, or once in the other modes. */
async function pollStep(
	context: IExecuteFunctions,
	mode: WaitMode,
	taskIds: readonly string[],
	progress: Progress,
) {
	const { error, ...state } = await poll(context, taskIds, progress, SCOPES[mode]);
	const unfinished = error === undefined ? state.polls.filter(({ outcome }) => !outcome) : [];
	const isSuspended = mode === 'suspend' && unfinished.length > 0;
	if (mode === 'once' && unfinished.length > 0)
		savePolls(context, { ...state, polls: unfinished });
	if (isSuspended) {
		const nowMs = n8nClock(context).now();
		const resumeMs = nextResumeMs(state, nowMs, readPolling(context).timeoutMs);
		const seconds = Math.round((resumeMs - nowMs) / 1000);
		progress.finish(state.polls, `, next poll in ${seconds} s`);
		savePolls(context, state);
		await suspendUntil(context, resumeMs);
	}
	return { polls: state.polls, isSuspended, error };
}

/**
 * Minimum length of a step. n8n looks once a minute for executions to resume: a step of at least a minute ends on time,
 * a shorter one up to a minute late.
 */
const STEP_MS = 60_000;

/**
 * When a suspended execution resumes, in milliseconds since the epoch: in about a minute, so that a later step ends on
 * the deadline of the oldest task, and not before the end of a rate-limit cooldown.
 */
export function nextResumeMs(
	{ polls, cooldown }: PollState,
	nowMs: number,
	timeoutMs: number,
): number {
	const unfinished = polls.filter(({ outcome }) => outcome === undefined);
	const deadlineMs = Math.min(...unfinished.map(({ startedAtMs }) => startedAtMs + timeoutMs));
	const remainingMs = deadlineMs - nowMs;
	const stepMs = Math.max(0, remainingMs) / Math.max(1, Math.floor(remainingMs / STEP_MS));
	return Math.ceil(Math.max(nowMs + stepMs, Math.min(cooldown.untilMs, deadlineMs)));
}
