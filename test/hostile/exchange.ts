import type { ServerResponse } from 'node:http';

import { begin } from '../faults/acts';
import type { Answer } from '../faults/answers';
import type { FakeTime } from '../support/fakeTimers';
import type { SeenRequest } from '../support/scriptedServer';

/** One request to a hostile server, and what the server knows. */
export interface Exchange {
	readonly response: ServerResponse;
	readonly request: SeenRequest;
	/** The valid response. */
	readonly answer: Answer;
	/** Number of attacked requests before this one. */
	readonly index: number;
	readonly time: FakeTime;
}

/** Responds to a request in place of the valid response. */
export type Attacker = (exchange: Exchange) => void;

export const MEGABYTE = 1024 * 1024;
/** More than any node reads: an endless response ends here, so that a test that fails ends, too. */
const POUR_LIMIT = 300 * MEGABYTE;

/** Sends a piece as fast as the client reads it, without end. */
export function pour(response: ServerResponse, piece: string | Buffer): void {
	const { socket } = response;
	let sent = 0;
	const more = () => {
		while (!response.destroyed && socket?.destroyed !== true) {
			if (sent > POUR_LIMIT) {
				socket?.destroy();
				return;
			}
			sent += piece.length;
			if (!response.write(piece)) {
				response.once('drain', () => setImmediate(more));
				return;
			}
		}
	};
	more();
}

/** Sends these bytes in place of an HTTP response, then closes the connection. */
export function raw({ response }: Exchange, bytes: string | Buffer): void {
	response.socket!.end(bytes);
}

/** Sends the valid response with these bytes of its body and these headers. */
export function send(
	{ response, answer }: Exchange,
	text: string | Buffer,
	headers: Record<string, string | number> = {},
): void {
	for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
	begin(response, answer);
	response.end(text);
}

type Fields = Record<string, unknown>;

/** Sends the valid response after a change of its JSON: of the body, or of each event. */
export const changed =
	(change: (fields: Fields, exchange: Exchange) => unknown): Attacker =>
	(exchange) => {
		const { pieces, isStream } = exchange.answer;
		const parse = (text: string) =>
			JSON.stringify(change(JSON.parse(text) as Fields, exchange));
		const pieceOf = (piece: string) =>
			piece.includes('[DONE]') ? piece : `data: ${parse(piece.slice(6))}\n\n`;
		send(exchange, isStream ? pieces.map(pieceOf).join('') : parse(pieces.join('')));
	};

/** Does what another attacker does, with texts in place of markers that JSON can hold. */
export const replaced =
	(act: Attacker, marker: RegExp, by: (marker: string) => string): Attacker =>
	(exchange) => {
		const { response } = exchange;
		const end = response.end.bind(response) as (text: string) => unknown;
		response.end = ((text: string) => end(text.replace(new RegExp(marker, 'g'), by))) as never;
		act(exchange);
	};

/** Sends the error format of the service (spec 7). */
export function reject(
	{ response }: Exchange,
	status: number,
	error: unknown,
	more: Fields = {},
	headers: Record<string, string> = {},
): void {
	response.writeHead(status, { 'content-type': 'application/json', ...headers });
	response.end(JSON.stringify({ error, ...more }));
}

/** A text whose every character is written by its code behind this prefix. */
export const byCodes = (text: string, prefix: '%' | '\\u00') =>
	Array.from(text, (each) => prefix + each.charCodeAt(0).toString(16)).join('');
