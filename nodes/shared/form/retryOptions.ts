import type { RetryPolicy } from '../../client/http/retry';
import type { NodeContext } from '../run/nodeContext';
import { booleanOption, numberOption } from './options';

/** Retries of requests that the service has certainly not processed. */
export const retriesOption = numberOption({
	name: 'retries',
	label: 'Retries',
	help: 'How often a request is retried when the service reports too many requests (429) or cannot be reached. The delay grows, up to a minute in total.',
	default: 2,
	min: 0,
	max: 10,
	integer: true,
});

const RETRY_OUTCOME_UNKNOWN = {
	name: 'retryOutcomeUnknown',
	label: 'Retry If Outcome Is Unknown',
} as const;

/** For calls whose second execution does little harm: the node retries them itself. */
export const retryOutcomeUnknownOption = booleanOption({
	...RETRY_OUTCOME_UNKNOWN,
	help: 'Whether to also retry a request that the service may already have processed, for example after a lost connection or status 503. It may then be charged twice.',
});

/** For expensive calls: only n8n's Retry On Fail sends them again. */
export const resendOutcomeUnknownOption = booleanOption({
	...RETRY_OUTCOME_UNKNOWN,
	help: 'Whether Retry On Fail sends a request again that the service may already have processed, for example after a lost connection. It may then be carried out and charged twice.',
});

/** The retry policy of an item. */
export function readRetry(context: NodeContext, itemIndex: number): RetryPolicy {
	return {
		retries: retriesOption.read(context, itemIndex),
		retryOutcomeUnknown: retryOutcomeUnknownOption.read(context, itemIndex),
	};
}

/** The retry policy of an item whose calls are never sent twice within one run, whatever the option says. */
export function readSafeRetry(context: NodeContext, itemIndex: number): RetryPolicy {
	return { retries: retriesOption.read(context, itemIndex), retryOutcomeUnknown: false };
}
