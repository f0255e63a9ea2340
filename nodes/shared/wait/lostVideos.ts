import type { INodeExecutionData } from 'n8n-workflow';

import {
	InputError,
	isAbout,
	isOutcomeUnknown,
	ServiceError,
	toSaved,
	type Advice,
} from '../../client/errors';
import { grouped } from '../../client/concurrency';
import { objectOf, shorten } from '../../client/json';
import { counted, isBlank, shown } from '../../client/values';
import { hasVideo, taskState } from '../../client/video/tasks';
import { SENDS_AGAIN } from '../durable/call';
import { isLasting } from '../durable/errors';
import { hasRestsAhead, leave, placeOfItem, restOf } from '../engine/rest';
import { maskError, stoppingError } from '../run/nodeErrors';
import type { Run } from '../run/run';
import { named, type Delivered } from './record';

/** Lists of videos in an error, by the `reason` of lost ones. */
const LISTS = {
	completed: 'Tasks completed',
	generating: 'Tasks not finished',
	download: 'Tasks completed, without their file',
	timeout: 'Tasks not finished in time',
	refused: 'Tasks that the service rejects',
	failed: 'Tasks failed',
	creation: 'Without a task',
	unsent: 'Not sent',
} as const;

/** What can be done about lost videos by `reason`, first what is free of charge. The error of a download says it itself. */
const ADVICE: readonly (readonly [reason: string, Advice])[] = [
	['timeout', 'Wait for Video gets a late video by its task ID, free of charge'],
	['refused', 'Check that Base URL and API key are those that the task was created with'],
	['failed', 'Create what failed again from its item only, which is charged'],
];
const PAYS_FOR_ALL =
	'Executing the whole workflow again pays for all videos again, except with an Idempotency Key';

/** What a Retry does about lost videos by `reason`; what else is lost it polls. */
const RETRY: Readonly<Record<string, string>> = {
	failed: 'Retry does not change what failed at the service, and costs nothing',
	creation: 'Retry does not change what was not created, and costs nothing',
};
const CREATES = 'Retry creates only what is missing, and pays only for that';
const DOES_NOT_SEND =
	'Retry does not send again what may exist, and costs nothing: look for it at the service first';
const PAYS_AGAIN = 'Retry sends again what may exist, and pays for it a second time';

/** Maximum characters of a reason in the message. */
const MAX_WHY = 200;
/** Limits of the lists: characters of a reason, and videos of a kind with their URL. */
const [MAX_REASON, MAX_URLS] = [300, 20] as const;

/** What an error says of a video: names and URLs must not be lost with it. It is lost if it has a `reason`. */
export type Video = Readonly<
	Partial<Record<'status' | 'video_url' | 'reason' | 'error_message' | 'explanation', unknown>>
> & {
	/** Its task ID, or its item where it has no task. */
	readonly name: string;
};

/** How a node fails for lost videos. */
interface Loss {
	/** What can be done in this node, free of charge. */
	readonly advice: readonly Advice[];
	/** Whether the others go on first, see `canLeave`. */
	readonly canLeave: boolean;
	/** Whether the videos are not those of its input, but of the task ledger. */
	readonly isCollected?: boolean;
}

/**
 * Begins a run of a node that fails at its end where videos are lost.
 *
 * @returns Whether the run is put off: the node returns null then.
 * @throws NodeApiError about all that is left, in the run that it was left to.
 */
export function isPutOff(run: Run): boolean {
	const rest = restOf(run.context);
	if (rest.kind === 'end') throw stoppingError(run, rest.error, rest.note);
	return rest.kind === 'later';
}

/**
 * Leaves the items of lost videos to a run that fails when the others have gone on.
 *
 * @throws NodeApiError or NodeOperationError at once where there are no others, or nothing can be left.
 */
export function failForLost(
	run: Run,
	delivered: readonly Delivered[],
	{ advice, canLeave, isCollected = false }: Loss,
): void {
	const { context } = run;
	const lost = delivered.flatMap(({ ending }, index) => (ending === 'failed' ? [index] : []));
	if (lost.length === 0) return;
	const byTask = new Map<unknown, Video>();
	for (const [index, { item, ending }] of delivered.entries()) {
		if (ending === 'unsent') continue;
		const { status, video_url, reason = '', error_message, explanation } = item.json;
		const task = shown(item.json['task_id'] ?? '');
		// Of a task in several items one may be lost.
		if (byTask.get(task || index)?.reason !== undefined) continue;
		const failed = ending === 'failed' && { reason, error_message, explanation };
		const name = task || `item ${placeOfItem(context, index).item}`;
		byTask.set(task || index, { name, status, video_url, ...failed });
	}
	const videos = [...byTask.values()];
	const refusals = delivered.flatMap(({ item, error }) =>
		error && item.json['reason'] === 'creation' ? maskError(run, error) : [],
	);
	// The one that has stopped the others, where there is one.
	const refusal = refusals.find((each) => !isAbout('request', each)) ?? refusals[0];
	const only = videos.length === 1 ? delivered.find(({ error }) => error)?.error : undefined;
	const note = only ? '' : describeVideos(videos);
	const failed = lost.find((index) => delivered[index]!.error !== undefined);
	const item = placeOfItem(context, failed ?? lost[0]!).item;
	const hasOthers = delivered.some(({ ending }) => ending !== 'failed' && ending !== 'unsent');
	// Where nothing else has gone on, its own error says more.
	const own = only ?? (hasOthers ? undefined : refusal);
	const isLeft = canLeave && (hasOthers || hasRestsAhead(context));
	const polls = isCollected
		? 'The next collection takes what is left, free of charge'
		: `Retry polls ${isLeft ? 'only what is left' : 'again'}, free of charge`;
	const retry = whatRetryDoes(
		lost.map((index) => delivered[index]!),
		polls,
	);
	if (own !== undefined && !isLeft) {
		const isPaid = lost.some((index) => mayExist(delivered[index]!));
		const parts = [own.message, ...unsentIn(videos), ...(isPaid ? [retry] : [])];
		const said =
			own instanceof ServiceError ? own.with({}, { message: parts.join('. ') }) : own;
		throw stoppingError(run, said, note, item);
	}
	const message = lossMessage(videos, isLeft && hasOthers);
	const all = [...advice, ...adviceFor(videos), ...(isCollected ? [] : [PAYS_FOR_ALL])];
	const hints =
		refusal instanceof InputError ? [refusal.hint, ...(hasOthers ? [PAYS_FOR_ALL] : [])] : all;
	const error =
		refusal instanceof ServiceError
			? refusal.with({}, { message })
			: new ServiceError('failed', message, hints as readonly Advice[]);
	if (!isLeft)
		throw stoppingError(
			run,
			error.with({}, { message: `${message}. ${retry}` }),
			note,
			lost.length === 1 ? item : undefined,
		);
	const items = isCollected ? [...run.items().keys()] : lost;
	leave(context, items, { error: toSaved(error), retry, note });
}

/** Whether a video may have been paid for. */
const mayExist = ({ item, error }: Delivered) =>
	!isBlank(item.json['task_id']) || isOutcomeUnknown(error);

/** What a Retry does about lost videos: it polls, or what this node could not create it creates. */
function whatRetryDoes(lost: readonly Delivered[], polls: string): string {
	// It stops the others again as well.
	const creates = lost.some(({ error }) => isLasting(error)) ? RETRY['creation']! : CREATES;
	const sentences = lost.map((each) => {
		const { reason } = each.item.json;
		if (isOutcomeUnknown(each.error))
			return each.error.advice.includes(SENDS_AGAIN) ? PAYS_AGAIN : DOES_NOT_SEND;
		if (reason === 'unsent' || (reason === 'creation' && each.error)) return creates;
		return RETRY[shown(reason)] ?? polls;
	});
	return [...new Set(sentences)].join('. ');
}

/** What can be done about lost videos. */
export function adviceFor(videos: readonly Pick<Video, 'reason'>[]): readonly Advice[] {
	const reasons = new Set(videos.map(({ reason }) => reason));
	return ADVICE.flatMap(([reason, advice]) => (reasons.has(reason) ? advice : []));
}

/** Why a video is lost, without a period at its end. */
export function whyLost({ error_message, explanation }: Omit<Video, 'name'>): string {
	const words = [explanation, error_message].filter((each) => !isBlank(each)).map(shown);
	return shorten(words.join('. ').replace(/\.$/, '') || 'no reason given', MAX_REASON);
}

/** Names of videos by why they are lost. */
function byReason(videos: readonly Video[]): readonly (readonly [why: string, string[]])[] {
	return [...grouped(videos, whyLost)].map(([why, each]) => [why, each.map(({ name }) => name)]);
}

/** How many videos were not sent, as a sentence; none for none. */
function unsentIn(videos: readonly Video[]): readonly string[] {
	const { length } = videos.filter(({ reason }) => reason === 'unsent');
	return length === 0 ? [] : [`${length} ${length === 1 ? 'was' : 'were'} not sent`];
}

/** The message about lost videos, which is all that n8n's toast shows: which, why, and what has gone on. */
function lossMessage(videos: readonly Video[], hasGone: boolean): string {
	const lost = videos.filter(({ reason }) => reason !== undefined && reason !== 'unsent');
	const groups = byReason(lost).map(
		([why, names]) => `${named(names)} (${shorten(why, MAX_WHY)})`,
	);
	if (videos.length === 1) return `The video failed: ${named(groups)}`;
	const parts = [
		`${lost.length} of ${counted(videos.length, 'video')} failed: ${named(groups)}`,
		...unsentIn(videos),
	];
	const failed = parts.join('. ');
	if (!hasGone) return `${failed}. None has gone on`;
	const gone = videos.filter(({ reason }) => reason === undefined).map(({ name }) => name);
	return `${failed}. ${gone.length} ${gone.length === 1 ? 'has' : 'have'} gone on: ${named(gone)}`;
}

/** All videos by what became of them, for the error that stops the node; the first of each kind with their URL. */
export function describeVideos(videos: readonly Video[]): string {
	const kindOf = (video: Video) =>
		video.reason ??
		(hasVideo(video)
			? 'completed'
			: (taskState({ status: shown(video.status) }) ?? 'generating'));
	const texts = Object.entries(LISTS).flatMap(([kind, list]) => {
		const own = videos.filter((video) => kindOf(video) === kind);
		const shownOnes = own.map((video, index) => {
			const { name, video_url: url } = video;
			return isBlank(url) || index >= MAX_URLS
				? video
				: { ...video, name: `${name} (${shown(url)})` };
		});
		const groups = byReason(shownOnes).map(([why, names]) =>
			own[0]!.reason === undefined ? names.join(', ') : `${names.join(', ')}: ${why}`,
		);
		return own.length === 0 ? [] : `${list}: ${groups.join('; ')}`;
	});
	return texts.join('. ');
}

/** The item of a video that was not created. */
export function notCreated(error: Error): Delivered {
	const json = { task_id: '', reason: 'creation', error_message: error.message };
	return { item: { json }, ending: 'failed', error };
}

/** A video that was not sent, because another one has failed. */
export const NOT_SENT: Delivered = {
	item: { json: { task_id: '', reason: 'unsent', error_message: 'another one failed' } },
	ending: 'failed',
};

/** Whether a limit of Create Video has left out the item. */
export const isLeftOut = ({ json }: INodeExecutionData): boolean =>
	json['task_id'] === '' && json['reason'] === 'limit';

/** Whether Create Video has not sent the item, and no error says why: a dry run, or one that a limit has left out. */
export const isUnsent = (item: INodeExecutionData): boolean =>
	isLeftOut(item) || item.json['reason'] === 'dry_run';

/**
 * The error of a creation with the task that it is about: of most there is none. At the error output n8n adds the fields of the input,
 * which may have the ID of an older task.
 */
export function namingTask(item: INodeExecutionData): INodeExecutionData {
	const { task_id, details } = item.json;
	if (task_id !== undefined) return item;
	return { ...item, json: { ...item.json, details: { task_id: '', ...objectOf(details) } } };
}

/**
 * The item of a video that was lost before: Create Video continues on errors, and passes them on in this form.
 *
 * @param taskId The task to wait for. If the error names another one or none, it is not that of this item.
 */
export function lostBefore(
	{ json }: INodeExecutionData,
	taskId: string,
): INodeExecutionData | undefined {
	const { error, message } = json;
	const { task_id, video_url } = objectOf(json['details']);
	const about = typeof task_id === 'string' ? task_id : taskId;
	if (isBlank(error) || (taskId !== '' && about === taskId)) return undefined;
	const texts = [error, message].filter((text) => !isBlank(text)).map(shown);
	// What a visitor reads begins with the error.
	const said = texts.filter((text, index) => index > 0 || !texts[1]?.startsWith(text));
	const error_message = said.join('. ');
	const failed = isBlank(video_url) ? 'failed' : 'download';
	const reason = about === '' ? 'creation' : failed;
	return { json: { ...json, task_id: about, reason, error_message } };
}
