/** Endpoint group: some statuses have different meanings for chat and for video (spec 7). */
export type Endpoint = 'chat' | 'video';

export interface StatusRow {
	readonly message: string;
	readonly hint: string;
	/** Whether the same request may succeed a little later. */
	readonly retryable: boolean;
	/** Whether the service may have processed the request: a retry may then be charged twice. */
	readonly outcomeUnknown: boolean;
}

/** A status after which neither flag is set unless the row says so. */
function row(message: string, hint: string, flags: Partial<StatusRow> = {}): StatusRow {
	return { message, hint, retryable: false, outcomeUnknown: false, ...flags };
}

/** Statuses with the same meaning for chat and for video. */
const COMMON: Readonly<Record<number, StatusRow>> = {
	401: row(
		'The service rejected the API key',
		'Check the API Key in the Agent Video API credential, and that the Base URL is of the same service',
	),
	406: row('Insufficient credit', 'Top up the account, then run the workflow again'),
	429: row(
		'Too many requests: rate limit reached',
		'Wait a minute, or send fewer requests at once',
		{ retryable: true },
	),
	503: row('The service is temporarily unavailable', 'Try again in a minute', {
		retryable: true,
		outcomeUnknown: true,
	}),
};

const MODERATED = 'Content moderation rejected the request';
const CORRECT_NAMED = 'Correct what the message of the service names';

/** Error statuses by endpoint group (spec 7.1, 7.2). */
export const STATUSES: Readonly<Record<Endpoint, Readonly<Record<number, StatusRow>>>> = {
	chat: {
		...COMMON,
		400: row('The service rejected the request as malformed', CORRECT_NAMED),
		402: row(
			'There is no application with this app code',
			'Check App Code, or the end of the API key if the code is there',
		),
		403: row(
			'The API key has no access to this application',
			'Publish the application, or use an API key of its creator',
		),
		409: row(
			MODERATED,
			'Rephrase the question. Words of the answer or of the knowledge base may be the cause as well',
		),
	},
	video: {
		...COMMON,
		400: row('The service rejected a parameter', CORRECT_NAMED),
		402: row(
			'The video model does not exist, or the account has no access to it',
			'Choose another model',
		),
		409: row(MODERATED, 'Rephrase the prompt, or use other reference files'),
	},
};

const SEE_DETAILS = 'See the error details for the message of the service';
/** An error in a response with status 200. */
export const NO_STATUS = row('The service returned an error', SEE_DETAILS);

/** Error statuses that the specification does not list. They usually come from a proxy or from another server. */
export function unlistedStatus(status: number): StatusRow {
	if (status < 400) {
		return row(
			'The service redirects the request to another address',
			'Check the Base URL in the Agent Video API credential: enter the final address, often with https:// instead of http://',
			// "See Other" may lead to the result of a request that was processed.
			{ outcomeUnknown: status === 303 },
		);
	}
	if (status === 403) {
		return row(
			'The API key has no access',
			'Use another API key, or ask the operator of the service, or of a firewall in between',
		);
	}
	if (status === 404 || status === 405) {
		return row(
			'The service was not found at this address',
			'Check the Base URL in the Agent Video API credential',
		);
	}
	if (status === 408 || status >= 500) {
		return row(
			'The service or a proxy in front of it failed',
			'Try again in a minute; if it happens again, contact the operator of the service',
			{ retryable: true, outcomeUnknown: true },
		);
	}
	return row('The service rejected the request', SEE_DETAILS);
}
