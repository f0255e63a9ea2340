import type { SavedError } from '../errors';
import { withoutContent } from '../fileTypes';
import { messageOf } from '../http/request';
import { mapValues, type JsonValue } from '../json';
import { isBlank, shown } from '../values';
import { aboutTask, toTenths, type TaskPoll } from './pollTasks';
import { FILES, ofService, taskState, type TaskReport } from './tasks';

/** Result of polling a task: the service's own fields (spec 2.10) and ours. */
export interface PollResult extends TaskReport {
	/** The last status reported; empty where the service never answered. */
	readonly status: string;
	/** Only on tasks without a result: `failed`, `timeout`, `refused`, or `download` for a file that could not be downloaded. */
	readonly reason?: string;
	readonly waited_seconds: number;
	/** Why there is no result, in our words, where `error_message` has those of the service. */
	readonly explanation?: string;
	readonly history: string;
	readonly [other: string]: JsonValue | undefined;
}

/** The result of a task so far. Without an outcome its status is `unknown` if the service has reported none. */
export function pollResult(poll: TaskPoll): PollResult {
	const { taskId, history, elapsedMs, outcome, report, lastError } = poll;
	const result = {
		...(report && withoutFiles(ofService(report))),
		task_id: taskId,
		status: report?.status ?? (outcome === undefined ? 'unknown' : ''),
		...(outcome !== undefined && outcome !== 'completed' && { reason: outcome }),
		waited_seconds: toTenths(elapsedMs),
		history,
	};
	const cause = lastError && lineOf(aboutTask(lastError));
	const timeout = `Not finished after ${Math.round(elapsedMs / 1000)} seconds; the task may still complete`;
	const words = {
		completed: undefined,
		failed: report && isBlank(report.error_message) ? messageOf({ ...report }) : undefined,
		refused: cause,
		timeout: cause === undefined ? timeout : `${timeout}. The last poll failed: ${cause}`,
	};
	return withWords(result, outcome === undefined ? cause : words[outcome]);
}

/** The fields of a report without the files that its data: URLs contain. */
export function withoutFiles(report: TaskReport): TaskReport {
	const fields = mapValues({ ...report }, (value, name) =>
		FILES.includes(name) && typeof value === 'string' ? withoutContent(value) : value,
	);
	return { ...report, ...fields };
}

/** The result with our words about it, which never take the place of those of the service. */
export function withWords(result: PollResult, words: string | undefined): PollResult {
	const name = isBlank(result.error_message) ? 'error_message' : 'explanation';
	return words === undefined ? result : { ...result, [name]: words };
}

function lineOf({ message, details }: SavedError): string {
	return details.serviceMessage === undefined ? message : `${message}: ${details.serviceMessage}`;
}

/** Why a video was not created, by the `reason` of its item. */
const NOT_CREATED = {
	limit: 'The video was not created: a limit is reached',
	dry_run: 'The video was not created: this was a dry run',
};

/** Whether an item is about a video, so that it has a `videoLine`. */
export const isOfVideo = ({ task_id, reason }: Readonly<Record<string, unknown>>): boolean =>
	Boolean(task_id) || Object.hasOwn(NOT_CREATED, String(reason));

/**
 * What has become of a video as a line for a chat, without words of the service. A video that was not polled has neither a
 * reason nor a URL: its status says how it ended.
 */
export function videoLine(item: Readonly<Record<string, unknown>>): string {
	const { task_id, video_url, status } = item;
	const state = taskState({ status: shown(status) });
	const { reason = state } = item;
	const isReady = state === 'completed' && ['completed', 'download'].includes(String(reason));
	if (isReady && typeof video_url === 'string' && /^https?:/i.test(video_url))
		return `The video is ready: ${video_url}`;
	const texts = {
		...NOT_CREATED,
		completed: `The video is completed: task ${shown(task_id)}`,
		failed: 'The video failed',
		download: 'The video is ready, without its file',
	};
	const known = Object.entries(texts).find(([name]) => name === reason)?.[1];
	return known ?? `The video is not finished: task ${shown(task_id)}`;
}

/** What a summary says of tasks, by how they ended. */
const WORDS = [
	['completed', 'finished'],
	['failed', 'failed'],
	['timeout', 'not finished in time'],
	['generating', 'generating'],
] as const;

/**
 * Progress as a line of text: `8 finished, 2 failed, 1 not finished in time, after 600 s`. Each video is counted once.
 *
 * A chat shows it: so it has no words of the service.
 *
 * @param elapsedMs Milliseconds since polling began.
 * @param lost The tasks of which nothing comes out, whatever their state: they count as failed.
 */
export function pollSummary(
	polls: readonly TaskPoll[],
	elapsedMs: number,
	lost: ReadonlySet<string> = new Set(),
): string {
	const endings = polls.map(({ taskId, outcome }) => {
		if (outcome === 'timeout') return outcome;
		return lost.has(taskId) || outcome === 'refused' ? 'failed' : (outcome ?? 'generating');
	});
	const parts = WORDS.flatMap(([ending, words]) => {
		const count = endings.filter((each) => each === ending).length;
		return count > 0 || ending === 'completed' ? `${count} ${words}` : [];
	});
	return [...parts, `after ${Math.round(elapsedMs / 1000)} s`].join(', ');
}
