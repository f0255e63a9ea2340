import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { ServiceError } from '../client/errors';
import { shorten } from '../client/json';
import { counted, isBlank, shown } from '../client/values';
import { engineOf } from '../shared/run/engine';
import { addLastRun, lastRunMark, plannedMarks, postponeLastRun } from '../shared/run/lastRun';
import { stoppingError } from '../shared/run/mapItems';
import type { Delivered } from '../shared/wait/deliver';

/** What can be done, first what is free of charge. */
export const ADVICE = {
	advice: 'Nothing has to be created again: connect the output Failed (see On Failed Videos), then click Execute step on this node. Status polls are free of charge',
	toGoOn: 'Executing the whole workflow again creates and charges all videos once more',
} as const;
/** Limit of a reason, in characters. */
const MAX_REASON = 300;
/** Maximum number of tasks in the error, each with its reason. */
const MAX_NAMED = 50;

/** A video that the node did not get. */
interface LostVideo {
	/** Empty where the task was never created. */
	readonly task_id: string;
	readonly reason: string;
	readonly error_message: string;
	readonly video_url?: string;
}

/** What the last run of the node is for: to fail after the videos have gone on that it got. */
interface Mark {
	/** The execution in which the videos were lost: its retry waits for them once more. */
	readonly execution: string;
	readonly videos: number;
	readonly lost: readonly LostVideo[];
	/** Indexes of the items that have gone on. */
	readonly gone: readonly number[];
}

/** Adds a run that fails with the lost videos when everything else has run; fails at once if there is nothing else. */
export function failAtEnd(context: IExecuteFunctions, delivered: readonly Delivered[]): void {
	const lost = new Map<unknown, LostVideo>();
	const videos = new Set<unknown>();
	const gone: number[] = [];
	for (const [index, { item, ending }] of delivered.entries()) {
		const { task_id = '', reason, error_message, video_url } = item.json as Partial<LostVideo>;
		const key = task_id === '' ? index : task_id;
		videos.add(key);
		if (ending !== 'failed') gone.push(index);
		else
			lost.set(key, {
				task_id,
				reason: reason ?? '',
				error_message: shorten(shown(error_message ?? 'no reason given'), MAX_REASON),
				...(!isBlank(video_url) && { video_url: shown(video_url) }),
			});
	}
	if (lost.size === 0) return;
	const execution = context.getExecutionId();
	const mark: Mark = { execution, videos: videos.size, lost: [...lost.values()], gone };
	const [only] = delivered;
	// Its own error says more.
	if (videos.size === 1 && only?.error !== undefined)
		throw stoppingError(context, only.error, describeTasks(mark.lost));
	if (gone.length === 0) throw errorOf(context, [mark]);
	addLastRun(context, mark, context.getInputData());
}

/** Whether the node can fail at the end: for that it needs the engine's list of due runs. */
export function canFailAtEnd(context: IExecuteFunctions): boolean {
	return engineOf(context).stack !== undefined;
}

/**
 * What this run is, if it is one that `failAtEnd` has added.
 *
 * @returns Whether it has to be made later. In a retry of the execution, the indexes of the items that have gone on before
 *   it: the others are waited for once more.
 * @throws NodeApiError about the videos of all such runs.
 */
export function endOf(context: IExecuteFunctions) {
	const mark = lastRunMark<Mark>(context);
	// The tool of an MCP Server Trigger runs without an execution ID.
	if (mark === undefined) return { isPostponed: false, gone: [] };
	if (mark.execution !== context.getExecutionId()) return { isPostponed: false, gone: mark.gone };
	if (postponeLastRun(context)) return { isPostponed: true, gone: [] };
	throw errorOf(context, [mark, ...plannedMarks<Mark>(context, context.getNode().name)]);
}

function errorOf(context: IExecuteFunctions, marks: readonly Mark[]) {
	const lost = marks.flatMap((mark) => mark.lost);
	const videos = marks.reduce((sum, mark) => sum + mark.videos, 0);
	const lines = lost.slice(0, MAX_NAMED).map(({ task_id, reason, error_message }) => {
		return `${task_id || 'without a task'} (${reason}): ${error_message}`;
	});
	const [first] = lost;
	const isOne = videos === 1;
	const error = new ServiceError(
		'failed',
		isOne ? 'The video failed' : `${lost.length} of ${counted(videos, 'video')} failed`,
		Object.values(ADVICE),
		{
			serviceMessage: lines.join('; '),
			...(isOne && { subject: { task_id: first!.task_id } }),
		},
	);
	return stoppingError(context, error, describeTasks(lost));
}

/** The IDs of all tasks, however long the reasons are; those with a URL are completed. */
function describeTasks(lost: readonly LostVideo[]): string {
	const named = lost.filter(({ task_id }) => task_id !== '');
	return [true, false]
		.map((isCompleted) => {
			const some = named.filter(({ reason }) => (reason === 'download') === isCompleted);
			const ids = some.map(({ task_id, video_url: url }) => {
				return url === undefined ? task_id : `${task_id} (${url})`;
			});
			const label = isCompleted ? 'Tasks completed' : 'Tasks failed';
			return ids.length === 0 ? '' : `${label}: ${ids.join(', ')}`;
		})
		.filter(Boolean)
		.join('. ');
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
