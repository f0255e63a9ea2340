import type { SavedError } from '../../errors';
import { messageOf } from '../../http/errorBody';
import type { JsonValue } from '../../json';
import { counted, isBlank } from '../../values';
import { ofService } from '../tasks';
import type { TaskReport } from '../taskState';
import { aboutTask, toTenths, type TaskPoll } from './task';

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
		...(report && ofService(report)),
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

/** The result with our words about it, which never take the place of those of the service. */
export function withWords(result: PollResult, words: string | undefined): PollResult {
	const name = isBlank(result.error_message) ? 'error_message' : 'explanation';
	return words === undefined ? result : { ...result, [name]: words };
}

function lineOf({ message, details }: SavedError): string {
	return details.serviceMessage === undefined ? message : `${message}: ${details.serviceMessage}`;
}

/**
 * Progress as a line of text: `2 of 5 videos finished, 1 failed, 2 generating, after 80 s`. Each video is counted once.
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
	const words = polls.map(({ taskId, outcome }) => {
		if (outcome === undefined && !lost.has(taskId)) return 'generating';
		return outcome === 'completed' && !lost.has(taskId) ? 'finished' : 'failed';
	});
	const count = (word: string) => words.filter((each) => each === word).length;
	return [
		`${count('finished')} of ${counted(polls.length, 'video')} finished`,
		...['failed', 'generating'].flatMap((word) => {
			return count(word) === 0 ? [] : `${count(word)} ${word}`;
		}),
		`after ${Math.round(elapsedMs / 1000)} s`,
	].join(', ');
}
