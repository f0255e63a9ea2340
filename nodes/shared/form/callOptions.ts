import { extraFields } from '../../client/chat/requestFields';
import type { Run } from '../run/run';
import {
	count,
	form,
	json,
	number,
	texts,
	toggle,
	type Declared,
	type Entered,
	type ValuesOf,
} from './form';

export const concurrencyField = count('Concurrency', {
	help: 'Maximum number of items that are processed at the same time',
	default: 5,
	max: 100,
});

/** How many items are processed at the same time, and the pause between batches. */
export const batchingFields = {
	concurrency: concurrencyField,
	batchInterval: number('Batch Interval', {
		unit: 'Milliseconds',
		help: 'Pause between batches, for a service with a rate limit. A batch has as many items as Concurrency says.',
		default: 0,
	}),
};

const batching = form(batchingFields, 'options.');

/**
 * The batch options of a run. n8n evaluates them for the first item, and they apply to all.
 *
 * @throws InputError when one of them is out of range.
 */
export const readBatching = (entered: Entered) => batching.read(entered, 0);

const SENT_AGAIN =
	'Whether to send a request again that may already be processed, for example after a lost connection or status 503.';

/** For calls whose second execution does little harm: the node retries them itself. */
export const retryFields = {
	retries: number('Retries', {
		help: 'How often a request is retried when the service limits requests (429) or cannot be reached. After 429 the node waits as long as the service says, or else about 10, 20 and 40 seconds. All delays of a request together take at most 2 minutes.',
		default: 3,
		max: 10,
		integer: true,
	}),
	retryOutcomeUnknown: toggle('Retry If Outcome Is Unknown', {
		help: `${SENT_AGAIN} It may then be charged twice.`,
	}),
};

/** With further codes of the kind that *Answered By* chooses. */
export const chatRetryFields = {
	...retryFields,
	fallbacks: texts('Fallbacks', {
		help: 'Codes that are asked in turn, with commas between: models, or applications if one answers. After 400, 402, 403 and 404, and after the retries when the service limits requests (429) or cannot be reached; a model also where the service says that it does not exist or that the conversation is too long for it, and after 5xx and lost connections, before anything is shown: the model that has failed may be charged, too. The output has a field fallback.',
		placeholder: 'e.g. my-second-model, my-third-model',
	}),
};

/** For expensive calls: only n8n's Retry On Fail sends them again. */
export const safeRetryFields = {
	...retryFields,
	retryOutcomeUnknown: toggle('Retry If Outcome Is Unknown', {
		help: `${SENT_AGAIN} Only Retry On Fail and the retry of an execution do so. It may then be charged twice.`,
	}),
};

/** How a call is repeated, and its timeouts, by the values of its options. The span of the run counts the retries. */
export function readCall(
	{ trace }: Pick<Run, 'trace'>,
	{ retries, retryOutcomeUnknown, timeout }: ValuesOf<typeof retryFields> & { timeout: number },
) {
	const onRetry = () => {
		trace({ 'http.request.resend_count': 1 });
	};
	const limitMs = timeout * 1000;
	return { retry: { retries, retryOutcomeUnknown, onRetry }, limitMs, idleTimeoutMs: limitMs };
}

/** More fields of the body of a request, but not those of `names`; by default those of a chat that the node sets. */
export const extraBodyField = (names?: readonly string[]) =>
	json(
		'Extra Body Fields',
		{
			default: '{}',
			help: 'More request fields as JSON, for parameters that this form does not have',
		},
		(entered) => extraFields(entered, names),
	);

/** The timeout of a call, of which some services need more than others. */
export const timeoutField = (seconds: number): Declared<number> =>
	number('Timeout', {
		unit: 'Seconds',
		min: 0.1,
		max: 86_400,
		help: 'How long a call to the service may take, with its retries',
		default: seconds,
	});
