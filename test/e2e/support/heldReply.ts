import type { ServerResponse } from 'node:http';

import type { Script } from '../../support/scriptedServer';
import { chunk } from './scriptedModel';

/** The end of a streamed reply. */
export const END = chunk({}, { finish_reason: 'stop' });

/** A chunk of a streamed reply with text. */
export const text = (content: string) => chunk({ content });

/** A streamed reply that pauses until the test continues it. */
export interface HeldReply {
	readonly script: Script;
	/** Sends the rest. */
	finish(): void;
	isFinished(): boolean;
}

/** Creates a reply that sends `first` at once and `rest` when `finish` is called. */
export function heldReply(first: readonly object[], rest: readonly object[]): HeldReply {
	let held: ServerResponse | undefined;
	let finished = false;
	const send = (chunks: readonly object[]) => {
		chunks.forEach((chunk) => held?.write(`data: ${JSON.stringify(chunk)}\n\n`));
	};
	return {
		script: (response) => {
			held = response;
			response.writeHead(200, { 'content-type': 'text/event-stream' });
			send(first);
		},
		finish: () => {
			finished = true;
			send([...rest, END]);
			held?.end('data: [DONE]\n\n');
		},
		isFinished: () => finished,
	};
}
