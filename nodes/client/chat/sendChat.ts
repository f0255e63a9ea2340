import { type CallLimits, type RetryPolicy, withRetryUntil } from '../http/retry';
import type { Clock, HttpPort } from '../ports';
import { completeChat, type CompleteOptions } from './completeChat';
import { checkToolChoice } from './requestFields';
import type { ChatCompletion, ChatDelta, ChatRequest } from './types';
import { ServiceError } from '../errors';
import { settled } from '../concurrency';

/** Receives a piece of a reply. `delta` has its content and reasoning apart. */
export type OnText = (text: string, delta: ChatDelta) => void;

export interface SendChatOptions
	extends Pick<CompleteOptions, 'stream' | 'includeUsage'>, CallLimits {
	readonly retry: RetryPolicy;
	/** Asked in turn, see `withFallbacks`. Default: none. */
	readonly fallbacks?: readonly Answerer[] | undefined;
	/** Called when one of them has answered. */
	readonly onFallback?: (fallback: Fallback) => void;
	/** Whether `onText` also receives the reasoning. Default: false. */
	readonly showReasoning?: boolean;
	/**
	 * Shows the reply while it arrives; never called with an empty text. Leave it out where nobody sees the reply before
	 * it is complete: only then can a reply that broke off be retried.
	 */
	readonly onText?: OnText | undefined;
}

/**
 * Sends one chat request and returns the complete reply. Failures are retried as the policy says, but never after text
 * was shown: the reply would start again from the beginning. After its retries, a request that was certainly not carried
 * out goes to the next fallback.
 *
 * @throws InputError if the request forces a tool call without tools; ServiceError as `completeChat`; whatever `clock.sleep` throws when the execution is canceled.
 */
export async function sendChat(
	clock: Clock,
	http: HttpPort,
	request: ChatRequest,
	{
		showReasoning = false,
		onText,
		limitMs,
		retry,
		fallbacks = [],
		onFallback,
		...options
	}: SendChatOptions,
): Promise<ChatCompletion> {
	checkToolChoice(request);
	const toText = liveText({ withReasoning: showReasoning });
	let isShown = false;

	function show(delta: ChatDelta): void {
		const text = toText(delta);
		if (onText === undefined || text === '') return;
		isShown = true;
		onText(text, delta);
	}

	const send = async (each: ChatRequest) =>
		await withRetryUntil(
			clock,
			http,
			{ limitMs, retry },
			async (port) => await completeChat(port, each, { ...options, onDelta: show }),
			() => !isShown,
		);

	return await withFallbacks(request, fallbacks, send, onFallback);
}

/**
 * Creates a stateful mapper from text deltas to the text shown in a chat: the answer, optionally preceded by the
 * reasoning and an empty line.
 */
export function liveText({ withReasoning }: { readonly withReasoning: boolean }) {
	let isReasoning = false;

	return ({ content, reasoning }: Omit<ChatDelta, 'progress'>): string => {
		const shown = withReasoning ? reasoning : '';
		const separator = (isReasoning || shown !== '') && content !== '' ? '\n\n' : '';
		isReasoning = (isReasoning || shown !== '') && content === '';
		return shown + separator + content;
	};
}

/** What a request is sent to (spec 2.1): a model, or an application or workflow. */
export type Answerer = Pick<ChatRequest, 'model' | 'app_code'>;

/** Which code has answered, and why those before it have not. */
export interface Fallback {
	readonly answered_by: string;
	readonly failed: readonly { readonly code: string; readonly error: string }[];
}

/**
 * Statuses that tell of a model, an application or its limit: another one may take the same request. The service has not
 * carried it out (spec 7.1).
 */
const STATUSES: readonly (number | undefined)[] = [400, 402, 403, 404, 429];

/**
 * Sends a request; one that was certainly not carried out goes to the next fallback. The reply then has the field
 * `fallback`.
 *
 * @param onFallback Called when a fallback has answered.
 * @throws The error of the last request.
 */
export async function withFallbacks(
	request: ChatRequest,
	fallbacks: readonly Answerer[],
	send: (request: ChatRequest) => Promise<ChatCompletion>,
	onFallback?: (fallback: Fallback) => void,
): Promise<ChatCompletion> {
	const failed: Fallback['failed'][number][] = [];
	for (let each = request; ; each = { ...request, ...fallbacks[failed.length - 1] }) {
		const code = each.app_code ?? each.model ?? 'The default model';
		const outcome = await settled(send(each));
		if ('error' in outcome) {
			const { error } = outcome;
			if (failed.length === fallbacks.length || !wasNotCarriedOut(error)) throw error;
			failed.push({ code, error: error.message });
			continue;
		}
		if (failed.length === 0) return outcome.value;
		const fallback = { answered_by: code, failed };
		onFallback?.(fallback);
		return { ...outcome.value, fallback };
	}
}

function wasNotCarriedOut(error: unknown): error is ServiceError {
	if (!(error instanceof ServiceError) || error.kind !== 'http') return false;
	const { status, outcomeUnknown, partial } = error.details;
	return outcomeUnknown !== true && partial === undefined && STATUSES.includes(status);
}
