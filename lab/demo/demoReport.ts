import { basename } from 'node:path';

import Table from 'cli-table3';

import { summarize, type Execution } from '../n8n/execution';
import { OWNER } from '../n8n/N8nClient';
import type { SavedVideo } from './runBatch';
import type { ChatAnswer } from './runChat';

/** Formats a table of the nodes of an execution. */
export function executionTable(execution: Execution): string {
	const table = new Table({
		head: [`Execution ${execution.id}: ${execution.status}`, 'Items out', 'Milliseconds'],
		colAligns: ['left', 'right', 'right'],
		style: { head: [], border: [] },
	});
	for (const { node, items, timeMs } of summarize(execution)) {
		table.push([node, items.join(' / '), timeMs]);
	}
	return table.toString();
}

/** Formats a table of the saved videos. */
export function videoTable(videos: readonly SavedVideo[]): string {
	const table = new Table({
		head: ['Video', 'Model', 'Seconds', 'Pixels', 'Bytes', 'File'],
		colAligns: ['left', 'left', 'right', 'right', 'right', 'left'],
		style: { head: [], border: [] },
	});
	for (const { topic, model, seconds, width, height, bytes, file } of videos) {
		table.push([topic, model, seconds, `${width} x ${height}`, bytes, basename(file)]);
	}
	return table.toString();
}

/** Formats a table of the chat's answer. */
export function chatTable({ question, content, usage, chunks }: ChatAnswer): string {
	const table = new Table({
		colWidths: [12, 84],
		wordWrap: true,
		style: { head: [], border: [] },
	});
	const [first, last] = [chunks.at(0), chunks.at(-1)].map((chunk) => chunk?.arrivedMs ?? 0);
	table.push(
		['Question', question],
		['Answer', content],
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

/** Instructions for the editor, which keeps running. */
export function invitation(pages: {
	readonly n8n: string;
	readonly batch: string;
	readonly chat: string;
	readonly agent: string;
	/** The public chat page of the agent. */
	readonly agentChat: string;
}): string {
	return `n8n is running at ${pages.n8n}

  e-mail    ${OWNER.email}
  password  ${OWNER.password}

Nightly Video Batch: ${pages.batch}
  Click "Execute workflow" at the bottom. Double-click a node to see its output.

Chat Answer: ${pages.chat}
  Click "Open chat" at the bottom and ask a question.

Video Agent: ${pages.agent}
  Open its chat page and ask for a video: ${pages.agentChat}

Press Ctrl+C to stop everything.`;
}
