import { basename } from 'node:path';

import Table from 'cli-table3';

import { summarize, type Execution } from '../n8n/execution';
import { OWNER } from '../n8n/N8nClient';
import type { SavedVideo } from './runBatch';
import type { ChatAnswer } from './runChat';

/** The table of what the nodes of an execution did. */
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

/** The table of the files that the batch has made. */
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

/** The table of what the application answered in the chat. */
export function chatTable({ question, content, usage, pieces }: ChatAnswer): string {
	const table = new Table({
		colWidths: [12, 84],
		wordWrap: true,
		style: { head: [], border: [] },
	});
	const [first, last] = [pieces.at(0), pieces.at(-1)].map((piece) => piece?.arrivedMs ?? 0);
	table.push(
		['Question', question],
		['Answer', content],
		[
			'Tokens',
			`${usage.prompt_tokens} in, ${usage.completion_tokens} out, ${usage.total_tokens} in all`,
		],
		[
			'Streamed',
			`${pieces.length} pieces, the first after ${first} ms, the last after ${last} ms`,
		],
	);
	return table.toString();
}

/** What to do with the editor that is left open. */
export function invitation(pages: {
	readonly n8n: string;
	readonly batch: string;
	readonly chat: string;
	readonly agent: string;
	/** The chat page of the agent, as a visitor has it. */
	readonly agentChat: string;
}): string {
	return `n8n is open at ${pages.n8n}

  e-mail    ${OWNER.email}
  password  ${OWNER.password}

Nightly Video Batch: ${pages.batch}
  Click "Execute workflow" at the bottom; a double click on a node shows what came out of it.

Chat Answer: ${pages.chat}
  Click "Open chat" at the bottom and ask something.

Video Agent: ${pages.agent}
  Ask for a video on its chat page, ${pages.agentChat}

Press Ctrl+C to stop everything.`;
}
