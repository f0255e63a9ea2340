import { ServiceError } from '../../nodes/client/errors';
import type { HttpPort } from '../../nodes/client/ports';

/** A port that answers with the pieces of a body; where they end with an error, the connection breaks. */
export const answeringPort =
	(pieces: Iterable<Uint8Array>, type?: string, more: object = {}): HttpPort =>
	() =>
		Promise.resolve({
			status: 200,
			headers: { 'content-type': type },
			body: (async function* () {
				for (const piece of pieces) yield await Promise.resolve(piece);
			})(),
			...more,
		});

/** What a call ends with: its result, or the error of the client. */
export async function outcomeOf<T>(call: Promise<T>): Promise<T | ServiceError> {
	return await call.catch((error: unknown) => {
		if (error instanceof ServiceError) return error;
		throw error;
	});
}
