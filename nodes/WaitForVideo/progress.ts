import type { IExecuteFunctions } from 'n8n-workflow';

import { pollSummary } from '../client/video/poll/result';
import type { TaskPoll } from '../client/video/poll/task';

/** Minimum interval between two progress lines: with many tasks something changes all the time. */
const MIN_INTERVAL_MS = 2_000;

/** Reports the progress of polling to a person. */
export interface Progress {
	/** A task has changed. Throttled to one line per interval. */
	readonly update: (polls: readonly TaskPoll[]) => void;
	/**
	 * Polling, or this step of it, has ended.
	 *
	 * @param note Text that follows the progress.
	 */
	readonly finish: (polls: readonly TaskPoll[], note?: string) => void;
}

/**
 * Progress lines in the browser's console, where n8n shows the messages of a manual run, and in the chat if there is one.
 *
 * @param sendText Writes to the chat.
 */
export function pollProgress(
	context: IExecuteFunctions,
	sendText: (text: string) => void,
): Progress {
	let lastLine = '';
	let lastAtMs = -Infinity;

	function send(polls: readonly TaskPoll[], nowMs: number, note = ''): void {
		const startedAtMs = Math.min(...polls.map((poll) => poll.startedAtMs));
		const line = `${pollSummary(polls, nowMs - startedAtMs)}${note}`;
		if (line === lastLine) return;
		lastLine = line;
		lastAtMs = nowMs;
		context.sendMessageToUI(line);
		// The chat renders Markdown: a single line break would join the lines.
		sendText(`${line}\n\n`);
	}

	return {
		update: (polls) => {
			if (Date.now() - lastAtMs >= MIN_INTERVAL_MS) send(polls, Date.now());
		},
		finish: (polls, note) => {
			if (polls.length > 0) send(polls, Date.now(), note);
		},
	};
}
