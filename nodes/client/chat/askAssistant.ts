import { isCanceled, ServiceError } from '../errors';
import { asJson, isJsonObject, type JsonObject } from '../json';
import type { Clock, HttpPort } from '../ports';
import { completeChat, type CompleteOptions } from './completeChat';
import { toolProgressEvents, type ToolProgressEvent } from './toolProgress';
import type { ChatCompletion, ChatRequest } from './types';

/** Maximum duration of a call, enforced by the service (spec 2.7). */
const SERVICE_LIMIT_MS = 600_000;
/** How much before the limit a disconnect still counts as the limit: the clocks differ a little. */
const TOLERANCE_MS = 5_000;

/** Without streaming there is no tool progress. */
export interface AssistantOptions extends Omit<CompleteOptions, 'onChunk'> {
	readonly onEvent?: (event: ToolProgressEvent) => void;
}

export interface AssistantReply {
	readonly completion: ChatCompletion;
	/** Tool progress, oldest first. */
	readonly events: readonly ToolProgressEvent[];
}

/**
 * Calls a super assistant once and reports its tool progress (spec 2.7). Does not retry: every call is charged.
 *
 * @throws ServiceError Like `completeChat`. `details.partial` has what had arrived, with the tool progress in `events`;
 *   `details.subject` has the `session_id`, if it is known.
 */
export async function askAssistant(
	http: HttpPort,
	clock: Pick<Clock, 'now'>,
	request: ChatRequest,
	{ onEvent = () => undefined, ...options }: AssistantOptions,
): Promise<AssistantReply> {
	const startMs = clock.now();
	const events: ToolProgressEvent[] = [];
	const { session_id: sessionId } = request;
	const asked =
		typeof sessionId === 'string' && sessionId !== '' ? { session_id: sessionId } : {};

	function onChunk({ extension }: JsonObject): void {
		if (!isJsonObject(extension)) return;
		for (const event of toolProgressEvents(extension, clock.now() - startMs)) {
			events.push(event);
			onEvent(event);
		}
	}

	function withProgress(error: unknown): never {
		if (!(error instanceof ServiceError)) throw error;
		const explained = explainServiceLimit(error, clock.now() - startMs);
		const { partial, subject } = explained.details;
		throw explained.with({
			...(events.length === 0 ? {} : { partial: { ...partial, events: events.map(asJson) } }),
			subject: { ...asked, ...subject },
			// A canceled request may have reached the service, like one whose connection broke.
			...(isCanceled(explained) ? { outcomeUnknown: true } : {}),
		});
	}

	const sent = completeChat(http, request, { ...options, onChunk });
	return { completion: await sent.catch(withProgress), events };
}

/** A disconnect within TOLERANCE_MS of the service's limit is reported as that limit, not as a network error. */
function explainServiceLimit(error: ServiceError, elapsedMs: number): ServiceError {
	const isDisconnect = error.kind === 'stream' || error.kind === 'network';
	if (!isDisconnect || elapsedMs < SERVICE_LIMIT_MS - TOLERANCE_MS) return error;
	return new ServiceError(
		error.kind,
		'The assistant exceeded the 600-second limit of the service',
		'Request less in one call, or continue in the same session',
		error.details,
	);
}
