import type { HttpPort } from '../../nodes/client/ports';

/** A port that answers with a body. */
export const answeringPort =
	(body: object): HttpPort =>
	() =>
		Promise.resolve({
			status: 200,
			headers: {},
			body: (async function* () {
				yield await Promise.resolve(Buffer.from(JSON.stringify(body)));
			})(),
		});
