import { ServiceError } from '../errors';
import type { Clock, HttpPort } from '../ports';

/**
 * The port with a limit on the whole of each call. A server can keep a connection alive for ever without a word:
 * bytes that carry nothing reset the idle timeout, but not this limit.
 *
 * @param limitMs Milliseconds from the request to the last byte.
 */
export function withDeadline(
	http: HttpPort,
	{ now }: Pick<Clock, 'now'>,
	limitMs: number,
): HttpPort {
	return async (request) => {
		const endMs = now() + limitMs;
		const response = await http(request);
		return { ...response, body: bytesUntil(response.body, now, endMs) };
	};
}

async function* bytesUntil(
	body: AsyncIterable<Uint8Array>,
	now: Clock['now'],
	endMs: number,
): AsyncGenerator<Uint8Array> {
	for await (const chunk of body) {
		if (now() > endMs) throw tooLong();
		yield chunk;
	}
}

function tooLong(): ServiceError {
	return new ServiceError(
		'stream',
		'The call took longer than its limit',
		'Ask for less in one call, or raise Maximum Duration under Options',
		{ retryable: true, outcomeUnknown: true },
	);
}
