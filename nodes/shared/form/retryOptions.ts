import type { RetryPolicy } from '../../client/http/retry';
import type { NodeContext } from '../run/nodeContext';
import { trace } from '../run/trace';
import { booleanOption, numberOption, optionGroup, readOptions, textsOption } from './options';

const retries = numberOption('Retries', {
	help: 'How often a request is retried when the service reports too many requests (429) or cannot be reached. After 429 the node waits as long as the service says, or else about 10, 20 and 40 seconds. All delays of a request together take at most 2 minutes.',
	default: 3,
	max: 10,
	integer: true,
});

const ownRetries = {
	retries,
	retryOutcomeUnknown: booleanOption('Retry If Outcome Is Unknown', {
		help: 'Whether to also retry a request that the service may already have processed, for example after a lost connection or status 503. It may then be charged twice.',
	}),
};

/** For calls whose second execution does little harm: the node retries them itself. */
export const retryGroup = optionGroup('Retries', 'retries', ownRetries);

/** With further codes of the kind that *Answered By* chooses, see `readFallbacks`. */
export const chatRetryGroup = optionGroup('Retries', 'retries', {
	...ownRetries,
	fallbacks: textsOption('Fallbacks', {
		help: 'Codes that are asked in turn when the service rejects the request, with commas between them: more models, or more applications if one answers. Only after 400, 402, 403, 404 and, after the retries, 429: the request was then not carried out. The output has a field fallback.',
		default: '',
		placeholder: 'e.g. my-second-model, my-third-model',
	}),
});

/** For expensive calls: only n8n's Retry On Fail sends them again. */
export const safeRetryGroup = optionGroup('Retries', 'retries', {
	retries,
	retryOutcomeUnknown: booleanOption('Retry If Outcome Is Unknown', {
		help: 'Whether Retry On Fail, and the retry of an execution, send a request again that has no answer, for example after a lost connection or a crash. The service may then carry it out and charge it twice.',
	}),
});

/** The retry policy of an item. The span of the run counts the retries. */
export function readRetry(context: NodeContext, itemIndex: number): RetryPolicy {
	return {
		...readOptions(retryGroup.options, context, itemIndex),
		onRetry: () => {
			trace(context, { 'http.request.resend_count': 1 });
		},
	};
}

/** The retry policy of an item whose calls are never sent twice within one run, whatever the option says. */
export function readSafeRetry(context: NodeContext, itemIndex: number): RetryPolicy {
	return { ...readRetry(context, itemIndex), retryOutcomeUnknown: false };
}
