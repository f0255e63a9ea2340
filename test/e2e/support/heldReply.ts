import type { ServerResponse } from 'node:http';

import type { Script } from '../../support/scriptedServer';

const END = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

/** A chunk of a streamed reply that carries text. */
export const text = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });

/** A streamed reply that stops in the middle until the test lets it go on. */
export interface HeldReply {
	readonly script: Script;
	/** Sends what is left. */
	finish(): void;
	isFinished(): boolean;
}

/** A reply that sends `first` at once, and `rest` when told. */
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
