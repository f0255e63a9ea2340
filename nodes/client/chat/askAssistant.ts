import { isCanceled, ServiceError } from '../errors';
import { asJson, type JsonObject } from '../json';
import type { Clock, HttpPort } from '../ports';
import { completeChat, type CompleteOptions } from './completeChat';
import type { ChatCompletion, ChatDelta, ChatRequest } from './types';

/** Maximum duration of a call, enforced by the service (spec 2.7). */
const SERVICE_LIMIT_MS = 600_000;
/** How much before the limit a disconnect still counts as the limit: the clocks differ a little. */
const TOLERANCE_MS = 5_000;

/**
 * Calls a super assistant once (spec 2.7). Does not retry: every call is charged.
 *
 * @returns The completion; in `events` the tool progress, oldest first, if the reply was streamed and has any.
 * @throws ServiceError Like `completeChat`. `details.partial` has what had arrived, with the tool progress in `events`;
 *   `details.subject` has the `session_id`, if it is known.
 */
export async function askAssistant(
	http: HttpPort,
	clock: Pick<Clock, 'now'>,
	request: ChatRequest,
	{ onDelta = () => undefined, ...options }: CompleteOptions,
): Promise<ChatCompletion> {
	const startMs = clock.now();
	const events: JsonObject[] = [];
	const { session_id: sessionId } = request;
	const asked =
		typeof sessionId === 'string' && sessionId !== '' ? { session_id: sessionId } : {};

	function collect(delta: ChatDelta): void {
		for (const event of delta.progress)
			events.push(asJson({ ...event, offset_ms: clock.now() - startMs }));
		onDelta(delta);
	}

	function withProgress(error: unknown): never {
		if (!(error instanceof ServiceError)) throw error;
		const explained = explainServiceLimit(error, clock.now() - startMs);
		const { partial, subject } = explained.details;
		throw explained.with({
			...(events.length === 0 ? {} : { partial: { ...partial, events } }),
			subject: { ...asked, ...subject },
			// A canceled request may have reached the service, like one whose connection broke.
			...(isCanceled(explained) ? { outcomeUnknown: true } : {}),
		});
	}

	const sent = completeChat(http, request, { ...options, onDelta: collect });
	const completion = await sent.catch(withProgress);
	return events.length === 0 ? completion : { ...completion, events };
}

/** A disconnect within TOLERANCE_MS of the service's limit is reported as that limit, not as a network error. */
function explainServiceLimit(error: ServiceError, elapsedMs: number): ServiceError {
	const isDisconnect = error.kind === 'stream' || error.kind === 'network';
	if (!isDisconnect || elapsedMs < SERVICE_LIMIT_MS - TOLERANCE_MS) return error;
	return new ServiceError(
		error.kind,
		'The assistant exceeded the 600-second limit of the service',
		'continueSession',
		error.details,
	);
}
