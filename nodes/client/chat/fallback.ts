import { ServiceError } from '../errors';
import { settled } from '../settled';
import type { ChatCompletion, ChatRequest } from './types';

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
