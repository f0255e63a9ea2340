import type { JsonValue } from '../../json';
import type { TaskPoll } from './task';

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
	/** Status transitions, with their time in seconds since polling began. */
	readonly history: { readonly status: string; readonly at_seconds: number }[];
	readonly [other: string]: JsonValue | undefined;
}

/** The result of a task that has an outcome; a task without one counts as timed out. */
export function pollResult({ taskId, history, elapsedMs, outcome }: TaskPoll): PollResult {
	const ours = {
		waited_seconds: Math.round(elapsedMs / 100) / 10,
		history: history.map(({ status, at_seconds }) => ({ status, at_seconds })),
	};
	const last = { task_id: taskId, status: history.at(-1)?.status ?? '' };

	if (outcome?.kind === 'completed') return { ...outcome.report, ...last, ...ours };
	switch (outcome?.reason) {
		case 'failed':
			return { ...outcome.report, ...last, reason: 'failed', ...ours };
		case 'refused':
			return { ...last, reason: 'refused', error_message: outcome.message, ...ours };
		case 'timeout':
		case undefined:
			return {
				...last,
				reason: 'timeout',
				error_message: `Not finished after ${Math.round(elapsedMs / 1000)} seconds; the task may still complete`,
				...ours,
			};
	}
}

/**
 * Progress as a line of text: `3 of 5 videos finished (1 failed), 2 processing, after 1 min 20 s`.
 *
 * @param elapsedMs Milliseconds since polling began.
 */
export function pollSummary(polls: readonly TaskPoll[], elapsedMs: number): string {
	const finished = polls.filter(({ outcome }) => outcome !== undefined);
	const failed = finished.filter(({ outcome }) => outcome?.kind === 'failed').length;
	const statuses = new Map<string, number>();
	for (const { history, outcome } of polls) {
		if (outcome !== undefined) continue;
		const status = history.at(-1)?.status ?? 'without a status yet';
		statuses.set(status, (statuses.get(status) ?? 0) + 1);
	}
	return [
		`${finished.length} of ${countVideos(polls.length)} finished${failed > 0 ? ` (${failed} failed)` : ''}`,
		...[...statuses].map(([status, count]) => `${count} ${status}`),
		`after ${formatDuration(elapsedMs)}`,
	].join(', ');
}

/** `1 video`, `2 videos`. */
export function countVideos(count: number): string {
	return `${count} ${count === 1 ? 'video' : 'videos'}`;
}

/** `20 s`, `1 min 20 s`. */
function formatDuration(ms: number): string {
	const seconds = Math.round(ms / 1000);
	if (seconds < 60) return `${seconds} s`;
	return seconds % 60 === 0
		? `${seconds / 60} min`
		: `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
