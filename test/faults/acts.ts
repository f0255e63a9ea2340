import type { ServerResponse } from 'node:http';

import type { FakeTime } from '../support/fakeTimers';
import type { Answer } from './answers';

/** What a fault has at hand. */
export interface World {
	readonly time: FakeTime;
	/** The service behind an nginx that buffers and compresses. */
	readonly nginxUrl: string;
	/** Another host. */
	readonly otherUrl: string;
}

/** What goes out to a request instead of its good answer. */
export type Act = (response: ServerResponse, answer: Answer, world: World) => void;

const typeOf = ({ isStream }: Answer) => (isStream ? 'text/event-stream' : 'application/json');

/** The headers of the good answer. */
export function begin(response: ServerResponse, answer: Answer, type = typeOf(answer)): void {
	response.writeHead(200, { 'content-type': type });
}

/** The good answer. */
export const answerWell = (response: ServerResponse, answer: Answer): void => {
	begin(response, answer);
	response.end(answer.pieces.join(''));
};

/** The good answer with other pieces. */
export const withPieces =
	(change: (pieces: readonly string[]) => readonly (string | Buffer)[]): Act =>
	(response, answer) => {
		begin(response, answer);
		response.end(Buffer.concat(change(answer.pieces).map((piece) => Buffer.from(piece))));
	};

/** The first piece, and what happens then. */
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

/** An error status, in the service's form (spec 7). */
export const refuse =
	(status: number, headers: () => Record<string, string> = () => ({})): Act =>
	(response) => {
		response.writeHead(status, { 'content-type': 'application/json', ...headers() });
		const error = { message: `Own words for ${status}`, type: `type_${status}` };
		response.end(JSON.stringify({ error, trace_id: 'trace-e' }));
	};
