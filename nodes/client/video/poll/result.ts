import type { SavedError } from '../../errors';
import { withoutUndefined, type JsonValue } from '../../json';
import { counted, isBlank } from '../../values';
import { ofService } from '../tasks';
import { reasonOf, statusWord, taskState, type TaskReport } from '../taskState';
import { aboutTask, toTenths, type TaskPoll } from './task';

/** Result of polling a task: the service's own fields (spec 2.10) and ours. */
export interface PollResult extends TaskReport {
	/** The last status reported; empty where the service never answered. */
	readonly status: string;
	/** Only on tasks without a result: `failed`, `timeout`, `refused`, or `download` for a file that could not be downloaded. */
	readonly reason?: string;
	readonly waited_seconds: number;
	/** Only after a timeout: when the service was last asked. */
	readonly last_asked_seconds?: number;
	/** Why there is no result, in our words, where `error_message` has those of the service. */
	readonly explanation?: string;
	readonly history: string;
	readonly [other: string]: JsonValue | undefined;
}

/** The result of a task so far. Without an outcome its status is `unknown` if the service has reported none. */
export function pollResult(poll: TaskPoll): PollResult {
	const { taskId, history, elapsedMs, askedMs = 0, outcome, report, lastError } = poll;
	const last = {
		...(report && ofService(report)),
		task_id: taskId,
		status: report?.status ?? '',
	};
	const ours = { waited_seconds: toTenths(elapsedMs), history };
	const cause = lastError === undefined ? undefined : lineOf(aboutTask(lastError));

	if (outcome === undefined) {
		const status = last.status || 'unknown';
		return { ...withWords({ ...last, ...ours }, cause), status };
	}
	if (outcome === 'completed') return { ...last, ...ours };
	const said = report && isBlank(report.error_message) ? reasonOf(report) : undefined;
	const [waited, asked] = [elapsedMs, askedMs].map((ms) => Math.round(ms / 1000));
	const timeout = `Not finished after ${waited} seconds; the task may still complete`;
	const lastPoll =
		cause !== undefined
			? `The last poll, after ${asked} seconds, failed: ${cause}`
			: asked !== waited &&
				`Last asked after ${asked} seconds, because the polls of a task are at least 5 seconds apart`;
	const words = {
		failed: said,
		refused: cause,
		timeout: [timeout, lastPoll, said].filter(Boolean).join('. '),
	}[outcome];
	const last_asked_seconds = outcome === 'timeout' ? toTenths(askedMs) : undefined;
	const facts = withoutUndefined({ reason: outcome, last_asked_seconds });
	return withWords({ ...last, ...facts, ...ours }, words);
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
 * Progress as a line of text: `2 of 5 videos finished, 1 failed, 2 processing, after 1 min 20 s`. Each video is counted
 * once.
 *
 * A chat shows it: so it has no other words of the service.
 *
 * @param elapsedMs Milliseconds since polling began.
 * @param lost The tasks of which nothing comes out, whatever their state: they count as failed.
 */
export function pollSummary(
	polls: readonly TaskPoll[],
	elapsedMs: number,
	lost: ReadonlySet<string> = new Set(),
): string {
	const words = polls.map((poll) => (lost.has(poll.taskId) ? 'failed' : wordOf(poll)));
	const count = (word: string) => words.filter((each) => each === word).length;
	const others = [...new Set(['failed', ...words])].filter((word) => word !== 'finished');
	return [
		`${count('finished')} of ${counted(polls.length, 'video')} finished`,
		...others.flatMap((word) => (count(word) === 0 ? [] : `${count(word)} ${word}`)),
		`after ${formatDuration(elapsedMs)}`,
	].join(', ');
}

function wordOf({ outcome, report }: TaskPoll): string {
	if (outcome !== undefined) return outcome === 'completed' ? 'finished' : 'failed';
	if (report === undefined) return 'without a status yet';
	if (taskState(report) === 'completed') return 'without a URL yet';
	return statusWord(report.status) ?? 'with another status';
}

/** `20 s`, `1 min 20 s`. */
function formatDuration(ms: number): string {
	const seconds = Math.round(ms / 1000);
	if (seconds < 60) return `${seconds} s`;
	return seconds % 60 === 0
		? `${seconds / 60} min`
		: `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
