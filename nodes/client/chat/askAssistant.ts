import { ServiceError } from '../errors';
import { asJson, isJsonObject, type JsonObject } from '../json';
import type { Clock, HttpPort } from '../ports';
import { withDeadline } from '../http/deadline';
import { completeChat } from './completeChat';
import { toolProgressEvents, type ToolProgressEvent } from './toolProgress';
import type { ChatCompletion, ChatRequest, TextDelta } from './types';

/** Maximum duration of a call, enforced by the service (spec 2.7). */
const SERVICE_LIMIT_MS = 600_000;
/** How much before the limit a disconnect still counts as the limit: the clocks differ a little. */
const TOLERANCE_MS = 5_000;

export interface AssistantOptions {
	/** Whether to stream the reply. Without streaming there is no tool progress. */
	readonly stream: boolean;
	/** Idle timeout: milliseconds without a byte until the request is aborted. */
	readonly idleTimeoutMs: number;
	/** Total timeout: milliseconds from the request to the last byte. */
	readonly limitMs: number;
	readonly onText?: (delta: TextDelta) => void;
	readonly onEvent?: (event: ToolProgressEvent) => void;
}

export interface AssistantReply {
	readonly completion: ChatCompletion;
	/** Tool progress, oldest first. */
	readonly events: readonly ToolProgressEvent[];
}

/** What had arrived when the call failed. */
interface PartialResult {
	readonly events: readonly ToolProgressEvent[];
	readonly sessionId: string;
	readonly elapsedMs: number;
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
	{ limitMs, onEvent = () => undefined, ...options }: AssistantOptions,
): Promise<AssistantReply> {
	const startMs = clock.now();
	const events: ToolProgressEvent[] = [];
	let sessionId = typeof request['session_id'] === 'string' ? request['session_id'] : '';

	function onChunk({ extension, session_id: id }: JsonObject): void {
		if (typeof id === 'string' && id !== '') sessionId = id;
		if (!isJsonObject(extension)) return;
		for (const event of toolProgressEvents(extension, clock.now() - startMs)) {
			events.push(event);
			onEvent(event);
		}
	}

	try {
		const port = withDeadline(http, clock, limitMs);
		const completion = await completeChat(port, request, { ...options, onChunk });
		return { completion, events };
	} catch (error) {
		throw withPartialResult(error, { events, sessionId, elapsedMs: clock.now() - startMs });
	}
}

function withPartialResult(
	error: unknown,
	{ events, sessionId, elapsedMs }: PartialResult,
): unknown {
	if (!(error instanceof ServiceError)) return error;
	const explained = explainServiceLimit(error, elapsedMs);
	return explained.with({
		...(events.length === 0
			? {}
			: { partial: { ...explained.details.partial, events: events.map(asJson) } }),
		...(sessionId === '' ? {} : { subject: { session_id: sessionId } }),
	});
}

/** A disconnect within TOLERANCE_MS of the service's limit is reported as that limit, not as a network error. */
function explainServiceLimit(error: ServiceError, elapsedMs: number): ServiceError {
	const isDisconnect = error.kind === 'stream' || error.kind === 'network';
	if (!isDisconnect || elapsedMs < SERVICE_LIMIT_MS - TOLERANCE_MS) return error;
	return new ServiceError(
		error.kind,
		'The assistant exceeded the 600-second limit of the service',
		'Request less in one call, or continue in the same session: the error details have the progress so far',
		error.details,
	);
}
