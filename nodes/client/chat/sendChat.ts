import { withRetryUntil, type CallLimits } from '../http/deadline';
import type { RetryPolicy } from '../http/retry';
import type { Clock, HttpPort } from '../ports';
import { completeChat, type CompleteOptions } from './completeChat';
import { withFallbacks, type Answerer, type Fallback } from './fallback';
import { checkToolChoice } from './tools';
import type { ChatCompletion, ChatRequest, TextDelta } from './types';

/** Receives a piece of a reply. `delta` has its content and reasoning apart. */
export type OnText = (text: string, delta: TextDelta) => void;

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

	function show(delta: TextDelta): void {
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
			async (port) => await completeChat(port, each, { ...options, onText: show }),
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

	return ({ content, reasoning }: TextDelta): string => {
		const shown = withReasoning ? reasoning : '';
		const separator = (isReasoning || shown !== '') && content !== '' ? '\n\n' : '';
		isReasoning = (isReasoning || shown !== '') && content === '';
		return shown + separator + content;
	};
}
