import type { AdviceCode } from '../errors';

/** Endpoint group: some statuses have different meanings for chat and for video (spec 7). */
export type Endpoint = 'chat' | 'video';

export interface StatusRow {
	readonly message: string;
	readonly advice: AdviceCode;
	/** Whether the same request may succeed a little later. */
	readonly retryable: boolean;
	/** Whether the service may have processed the request: a retry may then be charged twice. */
	readonly outcomeUnknown: boolean;
}

/** A status after which neither flag is set unless the row says so. */
function row(message: string, advice: AdviceCode, flags: Partial<StatusRow> = {}): StatusRow {
	return { message, advice, retryable: false, outcomeUnknown: false, ...flags };
}

/** Statuses with the same meaning for chat and for video. */
const COMMON: Readonly<Record<number, StatusRow>> = {
	401: row('The service rejected the API key', 'checkKey'),
	406: row('Insufficient credit', 'topUp'),
	429: row('Too many requests: rate limit reached', 'slowDown', { retryable: true }),
	503: row('The service is temporarily unavailable', 'tryLater', {
		retryable: true,
		outcomeUnknown: true,
	}),
};

const MODERATED = 'Content moderation rejected the request';

/** Error statuses by endpoint group (spec 7.1, 7.2). */
export const STATUSES: Readonly<Record<Endpoint, Readonly<Record<number, StatusRow>>>> = {
	chat: {
		...COMMON,
		400: row('The service rejected the request as malformed', 'correctWhatIsNamed'),
		402: row('There is no application with this app code', 'checkAppCode'),
		403: row('The API key has no access to this application', 'publishApp'),
		409: row(MODERATED, 'rephraseQuestion'),
	},
	video: {
		...COMMON,
		400: row('The service rejected a parameter', 'correctWhatIsNamed'),
		402: row(
			'The video model does not exist, or the account has no access to it',
			'chooseModel',
		),
		409: row(MODERATED, 'rephrasePrompt'),
	},
};

/** An error in a response with status 200. */
export const NO_STATUS = row('The service returned an error', 'seeDetails');

/** Error statuses that the specification does not list. They usually come from a proxy or from another server. */
export function unlistedStatus(status: number): StatusRow {
	if (status < 400) {
		return row(
			'The service redirects the request to another address',
			'useFinalAddress',
			// "See Other" may lead to the result of a request that was processed.
			{ outcomeUnknown: status === 303 },
		);
	}
	if (status === 403) {
		return row('The API key has no access', 'useAnotherKey');
	}
	if (status === 404 || status === 405) {
		return row('The service was not found at this address', 'checkAddress');
	}
	if (status === 408 || status >= 500) {
		return row('The service or a proxy in front of it failed', 'tryLaterOrContact', {
			retryable: true,
			outcomeUnknown: true,
		});
	}
	return row('The service rejected the request', 'seeDetails');
}
