import type { TaskPoll } from './task';

/**
 * How far the polls are, in a line for a person: `3 of 5 videos finished (1 failed), 2 processing, after 1 min 20 s`.
 *
 * @param elapsedMs Milliseconds since the wait began.
 */
export function pollSummary(polls: readonly TaskPoll[], elapsedMs: number): string {
	const finished = polls.filter(({ outcome }) => outcome !== undefined);
	const failed = finished.filter(({ outcome }) => outcome?.kind === 'failed').length;
	const open = polls.filter(({ outcome }) => outcome === undefined);
	const states = new Map<string, number>();
	for (const { history } of open) {
		const status = history.at(-1)?.status ?? 'not seen yet';
		states.set(status, (states.get(status) ?? 0) + 1);
	}
	return [
		`${finished.length} of ${counted(polls.length)} finished${failed > 0 ? ` (${failed} failed)` : ''}`,
		...[...states].map(([status, count]) => `${count} ${status}`),
		`after ${duration(elapsedMs)}`,
	].join(', ');
}

/** `1 video`, `2 videos`. */
export function counted(count: number): string {
	return `${count} ${count === 1 ? 'video' : 'videos'}`;
}

/** `20 s`, `1 min 20 s`. */
export function duration(ms: number): string {
	const seconds = Math.round(ms / 1000);
	if (seconds < 60) return `${seconds} s`;
	return seconds % 60 === 0
		? `${seconds / 60} min`
		: `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
