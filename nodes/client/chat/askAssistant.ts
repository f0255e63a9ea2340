import { ServiceError } from '../errors';
import { isJsonObject, type JsonObject, type JsonValue } from '../json';
import type { Clock, HttpPort } from '../ports';
import { withDeadline } from '../http/deadline';
import { completeChat } from './completeChat';
import { toolProgressEvents, type ToolProgressEvent } from './toolProgress';
import type { ChatCompletion, ChatRequest, TextDelta } from './types';

/** A call ends after this long, finished or not (spec 2.7). */
const SERVICE_LIMIT_MS = 600_000;
/** How much earlier than its limit the service may be seen to end a call. */
const TOLERANCE_MS = 5_000;

export interface AssistantOptions {
	/** Whether to ask for a stream. Without one nothing is known until the end, and there is no timeline. */
	readonly stream: boolean;
	/** Milliseconds without a byte after which the call is given up. */
	readonly idleTimeoutMs: number;
	/** Milliseconds after which the call is given up, whatever arrives. */
	readonly limitMs: number;
	readonly onText?: (delta: TextDelta) => void;
	readonly onEvent?: (event: ToolProgressEvent) => void;
}

export interface AssistantReply {
	readonly completion: ChatCompletion;
	/** What the assistant told about its tools, oldest first. */
	readonly events: readonly ToolProgressEvent[];
}

/** What is known of a call when it goes wrong. */
interface PartialResult {
	readonly events: readonly ToolProgressEvent[];
	readonly sessionId: string;
	readonly elapsedMs: number;
}

/**
 * Asks a super assistant (spec 2.7) and follows what it does. The call is paid and is sent once.
 *
 * @throws ServiceError as `completeChat`. All that had arrived is in `details.partial`, the events under `events`;
 *   the session, if it was told, is in `details.subject`.
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

	function follow({ extension, session_id: id }: JsonObject): void {
		if (typeof id === 'string' && id !== '') sessionId = id;
		if (!isJsonObject(extension)) return;
		for (const event of toolProgressEvents(extension, clock.now() - startMs)) {
			events.push(event);
			onEvent(event);
		}
	}

	try {
		const limited = withDeadline(http, clock, limitMs);
		const completion = await completeChat(limited, request, { ...options, onChunk: follow });
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
	const told = atServiceLimit(error, elapsedMs);
	return told.with({
		...(events.length === 0
			? {}
			: { partial: { ...told.details.partial, events: events as unknown as JsonValue } }),
		...(sessionId === '' ? {} : { subject: { session_id: sessionId } }),
	});
}

/** A call that broke off just then was ended by the service, not by bad luck on the way. */
function atServiceLimit(error: ServiceError, elapsedMs: number): ServiceError {
	const brokeOff = error.kind === 'stream' || error.kind === 'network';
	if (!brokeOff || elapsedMs < SERVICE_LIMIT_MS - TOLERANCE_MS) return error;
	return new ServiceError(
		error.kind,
		'The assistant did not finish within the 600 seconds that the service allows',
		'Ask for less in one call, or go on in the same session: what it has done so far is in the details',
		error.details,
	);
}
