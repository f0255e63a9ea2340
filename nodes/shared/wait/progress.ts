import type { IExecuteFunctions } from 'n8n-workflow';

import { pollSummary } from '../../client/video/poll/result';
import type { TaskPoll } from '../../client/video/poll/task';
import { withChatStream } from '../chat/chatStream';
import { hint } from '../run/hints';

/** Minimum interval between two progress lines: with many tasks something changes all the time. */
const MIN_INTERVAL_MS = 2_000;
/** After this time a line is sent although nothing has changed: a person in a chat must not think that nothing happens. */
const REMINDER_MS = 20_000;

/** Reports the progress of polling to a person. */
export type Progress = ReturnType<typeof pollProgress>;

/** Runs `work` with its progress in the browser's console, and in the chat or the streaming webhook if there is one. */
export async function withProgress<T>(
	context: IExecuteFunctions,
	work: (progress: Progress) => Promise<T>,
): Promise<T> {
	const run = async (sendText: (text: string) => void = () => undefined) =>
		await work(pollProgress(context, sendText));
	return await withChatStream(context, 0, context.isStreaming(), run);
}

/**
 * Progress lines in the browser's console, where n8n shows the messages of a manual run, and in the chat if there is one.
 * The last line of a step is also a hint below the output.
 *
 * @param sendText Writes to the chat.
 */
export function pollProgress(context: IExecuteFunctions, sendText: (text: string) => void) {
	let lastState = '';
	let lastAtMs = -Infinity;
	let latest: readonly TaskPoll[] = [];

	const stateOf = (note: string) => `${pollSummary(latest, 0)}${note}`;

	function lineAt(nowMs: number, note = ''): string {
		const startedAtMs = Math.min(...latest.map((poll) => poll.startedAtMs));
		return `${pollSummary(latest, nowMs - startedAtMs)}${note}`;
	}

	function send(line: string, nowMs: number, note = ''): void {
		lastState = stateOf(note);
		lastAtMs = nowMs;
		context.sendMessageToUI(line);
		// The chat renders Markdown: a single line break would join the lines.
		sendText(`${line}\n\n`);
	}

	function sendAfter(intervalMs: number): void {
		const nowMs = Date.now();
		if (latest.length > 0 && nowMs - lastAtMs >= intervalMs) send(lineAt(nowMs), nowMs);
	}

	return {
		/** A task has changed. Throttled to one line per interval. */
		update: (polls: readonly TaskPoll[]) => {
			latest = polls;
			sendAfter(MIN_INTERVAL_MS);
		},
		/** The node is still polling. */
		remind: () => {
			sendAfter(REMINDER_MS);
		},
		/** Polling, or this step of it, has ended. `note` follows the progress. */
		finish: (polls: readonly TaskPoll[], note = '', type: 'info' | 'warning' = 'info') => {
			if (polls.length === 0) return;
			latest = polls;
			const nowMs = Date.now();
			const line = lineAt(nowMs, note);
			// The download of the files may have taken longer than polling.
			if (stateOf(note) !== lastState) send(line, nowMs, note);
			hint(context, line, type);
		},
	};
}
