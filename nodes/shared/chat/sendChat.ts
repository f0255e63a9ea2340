import { completeChat } from '../../client/chat/completeChat';
import { liveText } from '../../client/chat/liveText';
import type { ChatCompletion, ChatRequest, TextDelta } from '../../client/chat/types';
import { withRetry, type RetryPolicy } from '../../client/http/retry';
import type { Clock, HttpPort } from '../../client/ports';

/** Receives a piece of a reply. `delta` has its content and reasoning apart. */
export type OnText = (text: string, delta: TextDelta) => void;

export interface SendChatOptions {
	/** Whether to request a stream. The result has the same form either way. */
	readonly stream: boolean;
	/** Milliseconds without a byte after which the call times out. */
	readonly idleTimeoutMs: number;
	readonly retry: RetryPolicy;
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
 * was shown: the reply would start again from the beginning.
 *
 * @throws ServiceError as `completeChat`; whatever `clock.sleep` throws when the execution is canceled.
 */
export async function sendChat(
	clock: Clock,
	http: HttpPort,
	request: ChatRequest,
	{ stream, idleTimeoutMs, retry, showReasoning = false, onText }: SendChatOptions,
): Promise<ChatCompletion> {
	const toText = liveText({ withReasoning: showReasoning });
	let isShown = false;

	function show(delta: TextDelta): void {
		const text = toText(delta);
		if (onText === undefined || text === '') return;
		isShown = true;
		onText(text, delta);
	}

	return await withRetry(
		clock,
		retry,
		async () => await completeChat(http, request, { stream, idleTimeoutMs, onText: show }),
		() => !isShown,
	);
}
