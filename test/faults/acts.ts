import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import type { FakeTime } from '../support/fakeTimers';
import type { Answer } from './answers';

/** The environment in which a fault acts. */
export interface World {
	readonly time: FakeTime;
	/** The service behind an nginx that buffers and compresses. */
	readonly nginxUrl: string;
	/** A second host, the target of redirects. */
	readonly otherUrl: string;
}

/** Responds to a request in place of the valid response. */
export type Act = (response: ServerResponse, answer: Answer, world: World) => void;

const typeOf = ({ isStream }: Answer) => (isStream ? 'text/event-stream' : 'application/json');

/** Sends the headers of the valid response. */
export function begin(response: ServerResponse, answer: Answer, type = typeOf(answer)): void {
	response.writeHead(200, { 'content-type': type });
}

/** Sends the valid response. */
export const answerWell = (response: ServerResponse, answer: Answer): void => {
	begin(response, answer);
	response.end(answer.pieces.join(''));
};

/** Sends the valid response with changed pieces. */
export const withPieces =
	(change: (pieces: readonly string[]) => readonly (string | Buffer)[]): Act =>
	(response, answer) => {
		begin(response, answer);
		response.end(Buffer.concat(change(answer.pieces).map((piece) => Buffer.from(piece))));
	};

/** Sends the first piece, then runs a callback. */
export const afterFirstPiece =
	(then: (response: ServerResponse, world: World) => void): Act =>
	(response, answer, world) => {
		begin(response, answer);
		response.write(answer.pieces[0], () => {
			setImmediate(() => {
				then(response, world);
			});
		});
	};

/** A pause shorter than the idle timeout of every node. */
const DRIP_MS = 20_000;

/** Sends the pieces one by one, with pauses, until the client gives up. */
export function drip(
	to: ServerResponse | Duplex,
	time: World['time'],
	pieces: readonly string[],
): void {
	time.hold(to);
	let timer: NodeJS.Timeout | undefined;
	to.once('close', () => {
		clearTimeout(timer);
	});
	const next = (index: number) => {
		if (index === pieces.length) {
			to.end();
			return;
		}
		to.write(pieces[index]);
		timer = setTimeout(next, DRIP_MS, index + 1);
	};
	next(0);
}

/** A piece again and again: dripped, it takes three hours. */
export const forever = (piece: string): readonly string[] => Array<string>(540).fill(piece);

/** Responds with an error status in the service's format (spec 7). */
export const errorStatus =
	(status: number, headers: () => Record<string, string> = () => ({})): Act =>
	(response) => {
		response.writeHead(status, { 'content-type': 'application/json', ...headers() });
		const error = { message: `Own words for ${status}`, type: `type_${status}` };
		response.end(JSON.stringify({ error, trace_id: 'trace-e' }));
	};
