import type { IExecuteFunctions } from 'n8n-workflow';

import type { TaskPoll } from '../client/video/poll/task';
import { pollSummary } from '../client/video/poll/summary';

/** Milliseconds between two lines at least: with many tasks something changes all the time. */
const GAP_MS = 2_000;

/** Tells a person how far the wait is. */
export interface Progress {
	/** Something has changed. */
	note: (polls: readonly TaskPoll[]) => void;
	/** The wait, or this step of it, is over. */
	end(polls: readonly TaskPoll[], more?: string): void;
}

/**
 * Progress as lines in the browser's console, where n8n shows what a node of a manual run says, and in the chat
 * where there is one.
 *
 * @param sendText Writes to the chat.
 */
export function waitProgress(
	context: IExecuteFunctions,
	sendText: (text: string) => void,
): Progress {
	let saidAtMs = -Infinity;
	let said = '';

	function say(polls: readonly TaskPoll[], nowMs: number, more = ''): void {
		const beganMs = Math.min(...polls.map(({ startedAtMs }) => startedAtMs));
		const line = `${pollSummary(polls, nowMs - beganMs)}${more}`;
		if (line === said) return;
		said = line;
		saidAtMs = nowMs;
		context.sendMessageToUI(line);
		// The chat renders Markdown: a single line break would join the lines.
		sendText(`${line}\n\n`);
	}

	return {
		note: (polls) => {
			if (Date.now() - saidAtMs >= GAP_MS) say(polls, Date.now());
		},
		end: (polls, more) => {
			if (polls.length > 0) say(polls, Date.now(), more);
		},
	};
}
