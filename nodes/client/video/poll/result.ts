import type { SavedError } from '../../errors';
import { withoutUndefined, type JsonValue } from '../../json';
import { counted } from '../../values';
import { ofService } from '../tasks';
import { reasonOf, statusWord } from '../taskState';
import { aboutTask, type TaskPoll } from './task';

/** Result of polling a task: the service's own fields (spec 2.10) and ours. */
export interface PollResult {
	readonly task_id: string;
	/** The last status reported; empty where the service never answered. */
	readonly status: string;
	readonly video_url?: string;
	readonly thumbnail_url?: string;
	/** Only on tasks without a result: `failed`, `timeout`, `refused`, or `download` for a file that could not be downloaded. */
	readonly reason?: string;
	readonly error_message?: string;
	readonly waited_seconds: number;
	/** Each status with the seconds after which it was seen, e.g. `queued 0 s, completed 42.1 s`. */
	readonly history: string;
	readonly [other: string]: JsonValue | undefined;
}

/** The result of a task so far. Without an outcome its status is `unknown` if the service has reported none. */
export function pollResult(poll: TaskPoll): PollResult {
	const { taskId, history, elapsedMs, outcome, report, lastError } = poll;
	const last = {
		...(report && ofService(report)),
		task_id: taskId,
		status: report?.status ?? '',
	};
	const ours = {
		waited_seconds: Math.round(elapsedMs / 100) / 10,
		history: history.map(({ status, at_seconds: at }) => `${status} ${at} s`).join(', '),
	};
	const cause = lastError === undefined ? undefined : lineOf(aboutTask(lastError));

	if (outcome === undefined) {
		const status = last.status || 'unknown';
		return { ...last, status, ...(cause && { error_message: cause }), ...ours };
	}
	if (outcome.kind === 'completed') return { ...last, ...ours };
	const { reason } = outcome;
	const said = report && reasonOf(report);
	const timeout = `Not finished after ${Math.round(elapsedMs / 1000)} seconds; the task may still complete`;
	const lastPoll = cause && `The last poll failed: ${cause}`;
	const error_message = {
		failed: said,
		refused: cause,
		timeout: [timeout, lastPoll, said].filter(Boolean).join('. '),
	}[reason];
	return { ...last, ...withoutUndefined({ error_message, reason }), ...ours };
}

function lineOf({ message, details }: SavedError): string {
	return details.serviceMessage === undefined ? message : `${message}: ${details.serviceMessage}`;
}

/**
 * Progress as a line of text: `3 of 5 videos finished (1 failed), 2 processing, after 1 min 20 s`.
 *
 * A chat shows it: so it has no other words of the service.
 *
 * @param elapsedMs Milliseconds since polling began.
 */
export function pollSummary(polls: readonly TaskPoll[], elapsedMs: number): string {
	const finished = polls.filter(({ outcome }) => outcome !== undefined);
	const failed = finished.filter(({ outcome }) => outcome?.kind === 'failed').length;
	const statuses = new Map<string, number>();
	for (const { history, outcome } of polls) {
		if (outcome !== undefined) continue;
		const last = history.at(-1)?.status;
		const word = last === undefined ? 'without a status yet' : statusWord(last);
		const status = word ?? 'with another status';
		statuses.set(status, (statuses.get(status) ?? 0) + 1);
	}
	return [
		`${finished.length} of ${counted(polls.length, 'video')} finished${failed > 0 ? ` (${failed} failed)` : ''}`,
		...[...statuses].map(([status, count]) => `${count} ${status}`),
		`after ${formatDuration(elapsedMs)}`,
	].join(', ');
}

/** `20 s`, `1 min 20 s`. */
function formatDuration(ms: number): string {
	const seconds = Math.round(ms / 1000);
	if (seconds < 60) return `${seconds} s`;
	return seconds % 60 === 0
		? `${seconds / 60} min`
		: `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
