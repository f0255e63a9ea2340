import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import {
	InputError,
	isOutcomeUnknown,
	ServiceError,
	toSaved,
	type Advice,
} from '../../client/errors';
import { shorten } from '../../client/json';
import { counted, isBlank, shown } from '../../client/values';
import { leave, placeOfItem, restOf } from '../engine/rest';
import { maskError, stoppingError } from '../run/nodeErrors';
import { openedRun } from '../run/run';
import { describeLost, describeTasks, whyLost, type Video } from './deliver';
import type { Delivered } from './record';

const STILL_GENERATING = 'created before this error, still generating';

/** What a Retry does. */
const RETRY = {
	pollsRest: 'Retry polls only what is left, free of charge',
	pollsAll: 'Retry polls again, free of charge',
	stayFailed:
		'Retry is free of charge, but what failed stays failed. Create only that again, which is charged',
	creates: 'Retry creates only what is missing, and pays only for that',
	doesNotSend: 'Retry does not send again what may exist: look for it at the service first',
	collects: 'The next collection takes what is left, free of charge',
} as const;

/** What the message names of a kind at most, and characters of a reason in it. */
const [MAX_NAMED, MAX_WHY] = [3, 200] as const;

/**
 * Begins a run of a node that fails at its end where videos are lost.
 *
 * @returns Whether the run is put off: the node returns null then.
 * @throws NodeApiError about all that is left, in the run that it was left to.
 */
export function isPutOff(context: IExecuteFunctions): boolean {
	const rest = restOf(context);
	if (rest.kind === 'end')
		throw stoppingError(openedRun(context), rest.error, rest.note, undefined);
	return rest.kind === 'later';
}

/** A video, with what it is called where it has no task. */
type NamedVideo = Video & { readonly name: string };

/** How a node fails for lost videos. */
interface Loss {
	/** What can be done, first what is free of charge. */
	readonly advice: readonly Advice[];
	/** Whether the others go on first, see `canLeave`. */
	readonly canLeave: boolean;
	/** Whether the videos are not those of its input, but of the task ledger. */
	readonly isCollected?: boolean;
}

/**
 * Leaves the items of lost videos to a run that fails when the others have gone on.
 *
 * @throws NodeApiError or NodeOperationError at once where there are no others, or nothing can be left.
 */
export function failForLost(
	context: IExecuteFunctions,
	delivered: readonly Delivered[],
	{ advice, canLeave, isCollected = false }: Loss,
): void {
	const lost = delivered.flatMap(({ ending }, index) => (ending === 'failed' ? [index] : []));
	if (lost.length === 0) return;
	const byTask = new Map<unknown, NamedVideo>();
	for (const [index, { item, ending }] of delivered.entries()) {
		const { video_url, reason = '', error_message, explanation } = item.json;
		const task_id = shown(item.json['task_id'] ?? '');
		// Of a task in several items one may be lost.
		if (byTask.get(task_id || index)?.reason !== undefined) continue;
		const failed = ending === 'failed' && { reason, error_message, explanation };
		const name = `item ${placeOfItem(context, index).item}`;
		byTask.set(task_id || index, { task_id, name, video_url, ...failed });
	}
	const videos = [...byTask.values()];
	const note = describeTasks(videos, STILL_GENERATING);
	const isRefused = ({ item, error }: Delivered) => error && item.json['reason'] === 'creation';
	const refusal = maskError(openedRun(context), delivered.find(isRefused)?.error);
	const only = videos.length === 1 ? delivered.find(({ error }) => error)?.error : undefined;
	const item = placeOfItem(context, lost[0]!).item;
	// Where nothing else has gone on, its own error says more.
	const own = only ?? (lost.length === delivered.length ? refusal : undefined);
	if (own !== undefined) throw stoppingError(openedRun(context), own, note, item);

	const isLeft = canLeave && lost.length < delivered.length;
	const isUnknown = delivered.some(({ error }) => isOutcomeUnknown(error));
	// The service has ended them; a late video or a file can still come.
	const areOver = lost.every((index) => delivered[index]!.item.json['reason'] === 'failed');
	const polls = areOver ? 'stayFailed' : isLeft ? 'pollsRest' : 'pollsAll';
	const does = isUnknown ? 'doesNotSend' : refusal ? 'creates' : polls;
	const retry = RETRY[isCollected ? 'collects' : does];
	const message = lossMessage(videos, isLeft);
	const hints = refusal instanceof InputError ? [refusal.hint as Advice] : advice;
	const error =
		refusal instanceof ServiceError
			? refusal.with({}, { message })
			: new ServiceError('failed', message, hints, { serviceMessage: describeLost(videos) });
	if (!isLeft)
		throw stoppingError(
			openedRun(context),
			error.with({}, { message: `${message}. ${retry}` }),
			note,
			lost.length === 1 ? item : undefined,
		);
	const items = isCollected ? [...context.getInputData().keys()] : lost;
	leave(context, items, { error: toSaved(error), retry, note });
}

/** The first names, and how many there are beside them. */
function named(names: readonly string[]): string {
	const more = names.length - MAX_NAMED;
	return `${names.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The message about lost videos, which is all that n8n's toast shows: which, why, and what has gone on. */
function lossMessage(videos: readonly NamedVideo[], isLeft: boolean): string {
	const nameOf = ({ task_id, name }: NamedVideo) => task_id || name;
	const gone = videos.filter(({ reason }) => reason === undefined).map(nameOf);
	const byReason = new Map<string, string[]>();
	for (const video of videos.filter(({ reason }) => reason !== undefined)) {
		const why = shorten(whyLost(video), MAX_WHY);
		byReason.set(why, [...(byReason.get(why) ?? []), nameOf(video)]);
	}
	const groups = [...byReason].map(([why, names]) => `${named(names)} (${why})`);
	const failed = `${videos.length - gone.length} of ${counted(videos.length, 'video')} failed: ${named(groups)}`;
	if (videos.length === 1) return `The video failed: ${named(groups)}`;
	if (!isLeft) return `${failed}. None has gone on`;
	return `${failed}. ${gone.length} ${gone.length === 1 ? 'has' : 'have'} gone on: ${named(gone)}`;
}

/** The item of a video that was not created. */
export function notCreated(error: Error): Delivered {
	const json = { task_id: '', reason: 'creation', error_message: error.message };
	return { item: { json }, ending: 'failed', error };
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
