import { basename } from 'node:path';

import Table from 'cli-table3';

import { summarize, type Execution } from '../n8n/execution';
import { OWNER } from '../n8n/owner';
import type { SavedVideo } from './runBatch';
import type { ChatAnswer } from './runChat';

/** Every table fits a terminal of 80 columns: its columns and the lines between them. Longer texts are wrapped. */
const LOOK = { wordWrap: true, wrapOnWordBoundary: false, style: { head: [], border: [] } };

/** Formats a table of the nodes of an execution. */
export function executionTable(execution: Execution): string {
	const table = new Table({
		...LOOK,
		head: [`Execution ${execution.id}: ${execution.status}`, 'Items out', 'Milliseconds'],
		colAligns: ['left', 'right', 'right'],
		colWidths: [36, 25, 14],
	});
	for (const { node, items, timeMs } of summarize(execution)) {
		table.push([node, items.join(' / '), timeMs]);
	}
	return table.toString();
}

/** Formats a table of the saved videos. */
export function videoTable(videos: readonly SavedVideo[]): string {
	const table = new Table({
		...LOOK,
		head: ['File', 'Model', 'Seconds', 'Pixels', 'Bytes'],
		colAligns: ['left', 'left', 'right', 'right', 'right'],
		colWidths: [32, 11, 9, 13, 8],
	});
	for (const { model, seconds, width, height, bytes, file } of videos) {
		table.push([basename(file), model, seconds, `${width} x ${height}`, bytes]);
	}
	return table.toString();
}

/** Formats a table of the chat's answer. */
export function chatTable({ question, output, usage, chunks }: ChatAnswer): string {
	const table = new Table({
		...LOOK,
		wrapOnWordBoundary: true,
		colWidths: [12, 65],
	});
	const [first, last] = [chunks.at(0), chunks.at(-1)].map((chunk) => chunk?.arrivedMs ?? 0);
	table.push(
		['Question', question],
		['Answer', output],
		[
			'Tokens',
			`${usage.prompt_tokens} input, ${usage.completion_tokens} output, ${usage.total_tokens} total`,
		],
		[
			'Streamed',
			`${chunks.length} chunks, the first after ${first} ms, the last after ${last} ms`,
		],
	);
	return table.toString();
}

/**
 * Instructions for the editor, which keeps running.
 *
 * @param keptIn Folder that keeps what the user builds; undefined if nothing is kept.
 */
export function invitation(
	pages: {
		readonly n8n: string;
		readonly startHere: string;
		/** The public chat page of the agent. */
		readonly agentChat: string;
	},
	keptIn?: string,
): string {
	const end =
		keptIn === undefined
			? 'Press Ctrl+C to stop everything. Nothing is kept.'
			: `Press Ctrl+C to stop everything. What you build is kept in ${keptIn}:\n` +
				'npm run demo continues with it, npm run demo -- --fresh starts over.';
	return `n8n is running at ${pages.n8n}

  e-mail    ${OWNER.email}
  password  ${OWNER.password}

Start here: ${pages.startHere}
  A first video, and links to all examples.

Chat page of the Video Agent: ${pages.agentChat}
  Ask for a video, for example of a lighthouse at dawn.

${end}`;
}
