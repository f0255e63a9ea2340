import { ServiceError } from '../errors';
import type { Clock, HttpPort } from '../ports';

/**
 * Adds a total timeout to every request. Keep-alive bytes reset the idle timeout, but not this one.
 *
 * Checked when bytes arrive: a connection without data is ended by its idle timeout.
 *
 * @param limitMs Milliseconds from the request to the last byte. Exceeding it throws a ServiceError `stream`.
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
		if (now() > endMs) throw deadlineExceeded();
		yield chunk;
	}
}

function deadlineExceeded(): ServiceError {
	return new ServiceError(
		'stream',
		'The request exceeded its maximum duration',
		'Ask for less in one request, or raise Maximum Duration under Options',
		{ retryable: true, outcomeUnknown: true },
	);
}
