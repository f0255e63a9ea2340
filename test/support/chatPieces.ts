import type { ServerResponse } from 'node:http';

/** Writes each piece in a later turn of the event loop, as a slow model sends them, and ends the response. */
export function inPieces(response: ServerResponse, [piece, ...rest]: readonly string[]): void {
	if (piece === undefined) response.end();
	else response.write(piece, () => setImmediate(inPieces, response, rest));
}
