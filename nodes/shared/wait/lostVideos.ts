import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import {
	fromSaved,
	InputError,
	ServiceError,
	toSaved,
	type Advice,
	type SavedError,
} from '../../client/errors';
import { isBlank, shown } from '../../client/values';
import { engineOf } from '../run/engine';
import { addLastRun, lastRunMark, plannedMarks, postponeLastRun, runIndexOf } from '../run/lastRun';
import { isToolRun } from '../engine/toolRun';
import { maskError, stoppingError, toNodeError } from '../run/nodeErrors';
import { openedRun } from '../run/run';
import { describeTasks, failedVideos, type Video } from './deliver';
import type { Delivered } from './record';

/** First of the advice about a creation that failed: it is free of charge. */
const RETRY =
	'The other videos have gone on. Retry this execution in the list of executions: it creates only what is missing';
const STILL_GENERATING = 'created before this error, still generating';

/** What the last run of the node is for: to fail after the videos have gone on that it got. */
interface Mark {
	/** The execution in which the videos were lost: its retry waits for them once more. */
	readonly execution: string;
	/** Index of the run that has lost them. */
	readonly run: number;
	readonly videos: readonly Video[];
	/** Indexes of the items that have gone on. */
	readonly gone: readonly number[];
	/** What can be done, first what is free of charge. */
	readonly advice: readonly Advice[];
	/** Why a video was not created, and its item. */
	readonly refusal: { readonly error: SavedError; readonly item: number } | undefined;
}

/**
 * Whether videos that fail let the node fail at the end, after the others have gone on. Not where it continues on errors, where n8n
 * will try it again, and where the engine's list of due runs is not to be had.
 */
export function failsAtEnd(context: IExecuteFunctions): boolean {
	if (context.continueOnFail() || isToolRun(context)) return false;
	return engineOf(context).stack !== undefined;
}

/** Adds a run that fails with the lost videos when everything else has run; fails at once if there is nothing else. */
export function failAtEnd(
	context: IExecuteFunctions,
	delivered: readonly Delivered[],
	advice: readonly Advice[],
): void {
	const videos = new Map<unknown, Video>();
	for (const [index, { item, ending }] of delivered.entries()) {
		const { video_url, reason = '', error_message, explanation } = item.json;
		const task_id = shown(item.json['task_id'] ?? '');
		// Of a task in several items one may be lost.
		if (videos.get(task_id || index)?.reason !== undefined) continue;
		const lost = ending === 'failed' && { reason, error_message, explanation };
		videos.set(task_id || index, { task_id, video_url, ...lost });
	}
	const gone = delivered.flatMap(({ ending }, index) => (ending === 'failed' ? [] : [index]));
	if (gone.length === delivered.length) return;
	const refused = delivered.findIndex(
		({ item, error }) => error !== undefined && item.json['reason'] === 'creation',
	);
	const { error } = delivered[refused] ?? {};
	const mark: Mark = {
		execution: context.getExecutionId(),
		run: runIndexOf(context),
		videos: [...videos.values()],
		gone,
		advice,
		refusal: error && { error: savedOf(maskError(openedRun(context), error)), item: refused },
	};
	const [only] = delivered;
	// Its own error says more.
	if (videos.size === 1 && only?.error !== undefined)
		throw stoppingError(
			openedRun(context),
			only.error,
			describeTasks(mark.videos, STILL_GENERATING),
		);
	if (gone.length === 0)
		throw error ? toNodeError(openedRun(context), error, refused) : errorOf(context, [mark]);
	addLastRun(context, mark, context.getInputData());
}

/** The item of a video that was not created. */
export function notCreated(error: Error): Delivered {
	const json = { task_id: '', reason: 'creation', error_message: error.message };
	return { item: { json }, ending: 'failed', error };
}

function savedOf(error: Error): SavedError {
	if (error instanceof ServiceError) return toSaved(error);
	const advice = error instanceof InputError ? [error.hint as Advice] : [];
	return { kind: 'failed', message: error.message, advice, details: {} };
}

/**
 * What this run is, if it is one that `failAtEnd` has added.
 *
 * @returns Whether it has to be made later. In a retry of the execution, the indexes of the items that have gone on before
 *   it: the others are waited for once more.
 * @throws NodeApiError about the videos of all such runs; also in another run after a creation has failed: nothing more is
 *   paid for.
 */
export function endOf(context: IExecuteFunctions) {
	const mark = lastRunMark<Mark>(context);
	// The tool of an MCP Server Trigger runs without an execution ID.
	const execution = mark && context.getExecutionId();
	const planned = plannedMarks<Mark>(context, context.getNode().name);
	if (mark === undefined) {
		const failed = planned.filter(({ refusal }) => refusal !== undefined);
		if (failed.some((each) => each.execution === context.getExecutionId()))
			throw errorOf(context, failed);
		return { isPostponed: false, gone: [] };
	}
	if (mark.execution !== execution) return { isPostponed: false, gone: mark.gone };
	if (postponeLastRun(context)) return { isPostponed: true, gone: [] };
	throw errorOf(context, [mark, ...planned]);
}

function errorOf(context: IExecuteFunctions, marks: readonly Mark[]) {
	const videos = marks.flatMap((mark) => mark.videos);
	const note = describeTasks(videos, STILL_GENERATING);
	const [refusal] = marks.flatMap((mark) => mark.refusal ?? []);
	if (refusal !== undefined) {
		const { error, item } = refusal;
		const advice = [RETRY, ...error.advice] as const;
		return stoppingError(openedRun(context), fromSaved({ ...error, advice }), note, item);
	}
	const { advice, gone } = marks[0]!;
	// The first item that has not gone on.
	const item = [...gone, -1].findIndex((each, index) => each !== index);
	return stoppingError(openedRun(context), failedVideos(videos, advice), note, item);
}

/** The error of an item whose video was never created: Create Video continues on errors, and passes them on in this form. */
export function refusedCreation({ json }: INodeExecutionData): INodeExecutionData | undefined {
	const { error, message } = json;
	if (isBlank(error)) return undefined;
	const error_message = [error, message]
		.filter((text) => !isBlank(text))
		.map(shown)
		.join('. ');
	return { json: { ...json, task_id: '', reason: 'creation', error_message } };
}
