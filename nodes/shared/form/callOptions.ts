import type { Batching } from '../run/mapItems';
import type { NodeContext } from '../run/nodeContext';
import {
	booleanOption,
	countOption,
	numberOption,
	optionGroup,
	readOptions,
	textsOption,
} from './options';
import type { CallLimits, RetryPolicy } from '../../client/http/retry';
import { trace } from '../run/trace';

export const itemConcurrency = countOption('Concurrency', {
	help: 'Maximum number of items that are processed at the same time',
	default: 5,
	max: 100,
});

/** How many items are processed at the same time, and the pause between batches. */
export const batching = optionGroup('Batching', 'batching', {
	concurrency: itemConcurrency,
	batchInterval: numberOption('Batch Interval', {
		unit: 'Milliseconds',
		help: 'Pause between batches, for a service with a rate limit. A batch has as many items as Concurrency says.',
		default: 0,
	}),
});

/**
 * The batch options of a run. n8n evaluates them for the first item, and they apply to all.
 *
 * @throws InputError when one of them is out of range.
 */
export function readBatching(context: NodeContext): Batching {
	return readOptions(batching.options, context, 0);
}

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

const SECONDS = { unit: 'Seconds', min: 0.1, max: 86_400 } as const;

/** The timeouts of a call as options of a node: between two pieces of data, and of the whole call. */
export function timeoutOptions(defaultSeconds: { readonly idle: number; readonly total: number }) {
	const { property, options } = optionGroup('Timeouts', 'timeouts', {
		timeout: numberOption('Timeout', {
			...SECONDS,
			help: 'Idle timeout: how long a call may go without receiving any data. Data that keeps arriving resets it; then Maximum Duration ends the call.',
			default: defaultSeconds.idle,
		}),
		maximumDuration: numberOption('Maximum Duration', {
			...SECONDS,
			help: 'Total timeout: how long a call to the service may take, with its retries, even if data keeps arriving. Timeout limits only the time without data.',
			default: defaultSeconds.total,
		}),
	});
	return {
		property,
		/** @throws InputError when one of them is out of range. */
		read: (context: NodeContext, itemIndex: number): CallLimits => ({
			idleTimeoutMs: options.timeout.read(context, itemIndex) * 1000,
			limitMs: options.maximumDuration.read(context, itemIndex) * 1000,
		}),
	};
}
