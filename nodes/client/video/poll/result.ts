import type { JsonValue } from '../../json';
import type { TaskPoll } from './task';

/** What came of the wait for one task: the service's own fields (spec 2.10) and ours. */
export interface PollResult {
	readonly task_id: string;
	/** The last status seen; empty where the service never answered. */
	readonly status: string;
	readonly video_url?: string;
	readonly thumbnail_url?: string;
	/** Only on tasks without a result: `failed`, `timeout`, `refused`, or `download` for a file that did not come. */
	readonly reason?: string;
	readonly error_message?: string;
	readonly waited_seconds: number;
	/** Changes of status with their time in seconds since the wait began. */
	readonly history: { readonly status: string; readonly at_seconds: number }[];
	readonly [other: string]: JsonValue | undefined;
}

/** The result of a wait that has its outcome; one that has none counts as over the limit. */
export function pollResult({ taskId, history, waitedMs, outcome }: TaskPoll): PollResult {
	const ours = {
		waited_seconds: Math.round(waitedMs / 100) / 10,
		history: history.map(({ status, at_seconds }) => ({ status, at_seconds })),
	};
	const last = { task_id: taskId, status: history.at(-1)?.status ?? '' };

	if (outcome?.kind === 'completed') return { ...outcome.report, ...last, ...ours };
	switch (outcome?.reason) {
		case 'failed':
			return { ...outcome.report, ...last, reason: 'failed', ...ours };
		case 'http':
			return { ...last, reason: 'http', error_message: outcome.message, ...ours };
		case 'timeout':
		case undefined:
			return {
				...last,
				reason: 'timeout',
				error_message: `Not finished after ${Math.round(waitedMs / 1000)} seconds; the task may still complete`,
				...ours,
			};
	}
}
