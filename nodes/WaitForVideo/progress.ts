import type { IExecuteFunctions } from 'n8n-workflow';

import type { TaskWait } from '../client/video/poll/task';
import { waitSummary } from '../client/video/poll/summary';

/** Milliseconds between two lines at least: with many tasks something changes all the time. */
const GAP_MS = 2_000;

/** Tells a person how far the wait is. */
export interface Progress {
	/** Something has changed. */
	note(waits: readonly TaskWait[]): void;
	/** The wait, or this step of it, is over. */
	end(waits: readonly TaskWait[], more?: string): void;
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

	function say(waits: readonly TaskWait[], nowMs: number, more = ''): void {
		const beganMs = Math.min(...waits.map(({ startedAtMs }) => startedAtMs));
		const line = `${waitSummary(waits, nowMs - beganMs)}${more}`;
		if (line === said) return;
		said = line;
		saidAtMs = nowMs;
		context.sendMessageToUI(line);
		// The chat renders Markdown: a single line break would join the lines.
		sendText(`${line}\n\n`);
	}

	return {
		note: (waits) => {
			if (Date.now() - saidAtMs >= GAP_MS) say(waits, Date.now());
		},
		end: (waits, more) => {
			if (waits.length > 0) say(waits, Date.now(), more);
		},
	};
}
