import { settled } from '../concurrency';
import { isCanceled, requestError, ServiceError } from '../errors';
import { type RetryPolicy, withDeadline, withRetry } from '../http/failures';
import { asJson, type JsonObject } from '../json';
import type { Clock, Deadline, HttpPort } from '../ports';
import { completeChat, type CompleteOptions } from './completeChat';
import { checkToolChoice } from './requestFields';
import type { ChatCompletion, ChatDelta, ChatRequest } from './types';

/** Sends a request and returns the complete reply. Retries, fallbacks, repairs and sessions wrap one into another. */
export type Chat = (request: ChatRequest) => Promise<ChatCompletion>;

type Failed = Readonly<Record<'code' | 'error', string>>;

export interface SendOptions extends CompleteOptions {
	/** Total timeout in milliseconds, with all retries. */
	readonly limitMs: number;
	readonly retry: RetryPolicy;
	/**
	 * Shows what a chunk adds; returns whether anybody can see it. Leave it out where nobody sees the reply before it is
	 * complete: only then can a reply that broke off be retried.
	 */
	readonly onDelta?: ((delta: ChatDelta) => boolean) | undefined;
	/** Models, applications or workflows that are asked in turn, see `mayAsk`. */
	readonly fallbacks?: readonly Pick<ChatRequest, 'model' | 'app_code'>[] | undefined;
	/** Called when one of them has answered, with its code, and why those before it have not. */
	readonly onFallback?: (code: string, failed: readonly Failed[]) => void;
	/** Sends a request once. Default: `completeChat`. */
	readonly call?: typeof askAssistant | undefined;
}

/**
 * A chat with retries and fallbacks. Failures are retried as the policy says, but never after something was shown: the
 * reply would start again from the beginning. The timeout includes the retries. After them, a request that was rejected, or
 * that found the service down, goes to the next fallback; the reply then has the field `fallback`.
 *
 * @returns A chat that throws InputError if a request forces a tool call without tools; the error of the last request,
 *   see `completeChat`; whatever `clock.sleep` throws when the execution is canceled.
 */
export function sendChat(
	clock: Clock,
	http: HttpPort,
	{ fallbacks = [], onFallback, call = completeChat, ...sending }: SendOptions,
): Chat {
	const { limitMs, retry, onDelta, ...options } = sending;

	async function send(request: ChatRequest, seen: { isShown: boolean }): Promise<ChatCompletion> {
		const show = (delta: ChatDelta) => {
			if (onDelta?.(delta) === true) seen.isShown = true;
		};
		const sendOnce = async (deadline: Deadline) => {
			const how = { ...options, onDelta: onDelta && show };
			const port = withDeadline(http, deadline);
			return await call(port, request, how, clock).catch((error: unknown) => {
				throw requestError(error);
			});
		};
		return await withRetry(clock, { ...retry, limitMs }, sendOnce, () => !seen.isShown);
	}

	return async (request) => {
		checkToolChoice(request);
		const failed: Failed[] = [];
		const seen = { isShown: false };
		for (let each = request; ; each = { ...request, ...fallbacks[failed.length - 1] }) {
			const code = each.app_code ?? each.model ?? 'The default model';
			const outcome = await settled(send(each, seen));
			if ('error' in outcome) {
				const { error } = outcome;
				const next = fallbacks[failed.length];
				if (next === undefined || seen.isShown || !mayAsk(next, error)) throw error;
				failed.push({ code, error: error.message });
				continue;
			}
			if (failed.length === 0) return outcome.value;
			onFallback?.(code, failed);
			return { ...outcome.value, fallback: { answered_by: code, failed } };
		}
	};
}

/**
 * Statuses that tell of a model, an application or its limit: another one may take the same request. The service has not
 * carried it out (spec 7.1).
 */
const STATUSES: readonly (number | undefined)[] = [400, 402, 403, 404, 429];

/**
 * Whether a fallback may be asked after this error: the service has not carried the request out, or it is down. An application
 * may have acted before the connection was lost; a model has only cost tokens.
 */
function mayAsk(
	{ app_code: app }: Pick<ChatRequest, 'app_code'>,
	error: unknown,
): error is ServiceError {
	if (!(error instanceof ServiceError) || error.kind === 'deadline') return false;
	const { status, outcomeUnknown = false, partial, retryable } = error.details;
	const isRejected = error.kind === 'http' && partial === undefined && STATUSES.includes(status);
	return outcomeUnknown
		? app === undefined && retryable === true
		: isRejected || retryable === true;
}

/** Maximum duration of a call to a super assistant, enforced by the service (spec 2.7). */
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
	request: ChatRequest,
	{ onDelta, ...options }: CompleteOptions,
	clock: Pick<Clock, 'now'>,
): Promise<ChatCompletion> {
	const startMs = clock.now();
	const events: JsonObject[] = [];

	function collect(delta: ChatDelta): void {
		for (const event of delta.progress)
			events.push(asJson({ ...event, offset_ms: clock.now() - startMs }));
		onDelta?.(delta);
	}

	const sent = completeChat(http, request, { ...options, onDelta: collect });
	const completion = await sent.catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		const explained = explainServiceLimit(error, clock.now() - startMs);
		const { partial, subject } = explained.details;
		const { session_id: id } = request;
		throw explained.with({
			...(events.length > 0 && { partial: { ...partial, events } }),
			subject: { ...(typeof id === 'string' && id !== '' && { session_id: id }), ...subject },
			// A canceled request may have reached the service, like one whose connection broke.
			...(isCanceled(explained) && { outcomeUnknown: true }),
		});
	});
	return events.length === 0 ? completion : { ...completion, events };
}

/** A disconnect within TOLERANCE_MS of the service's limit is reported as that limit, not as a network error. */
function explainServiceLimit(error: ServiceError, elapsedMs: number): ServiceError {
	const isDisconnect = error.kind === 'stream' || error.kind === 'network';
	if (!isDisconnect || elapsedMs < SERVICE_LIMIT_MS - TOLERANCE_MS) return error;
	const message = 'The assistant exceeded the 600-second limit of the service';
	return error.with({}, { message, advice: ['continueSession'] });
}
