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

const INVALID_API_KEY = {
	message: 'The service rejected the API key',
	hint: 'Check the API Key in the Agent Video API credential',
	retryable: false,
	outcomeUnknown: false,
};
const INSUFFICIENT_CREDIT = {
	message: 'Insufficient credit',
	hint: 'Top up the account with the service, then run the workflow again',
	retryable: false,
	outcomeUnknown: false,
};
const UNAVAILABLE = {
	message: 'The service is temporarily unavailable',
	hint: 'Try again in a minute',
	retryable: true,
	outcomeUnknown: true,
};
const RATE_LIMITED = {
	message: 'Too many requests: rate limit reached',
	hint: 'Wait a minute, or send fewer requests at once',
	retryable: true,
	outcomeUnknown: false,
};

/** Error statuses by endpoint group (spec 7.1, 7.2). */
export const STATUSES: Readonly<Record<Endpoint, Readonly<Record<number, StatusRow>>>> = {
	chat: {
		400: {
			message: 'The service rejected the request as malformed',
			hint: 'Check the fields of this node: messages must not be empty',
			retryable: false,
			outcomeUnknown: false,
		},
		401: INVALID_API_KEY,
		402: {
			message: 'There is no application with this app code',
			hint: 'Check App Code, or leave it empty to use the model directly',
			retryable: false,
			outcomeUnknown: false,
		},
		403: {
			message: 'The API key has no access to this application',
			hint: 'Publish the application, or use an API key of its creator',
			retryable: false,
			outcomeUnknown: false,
		},
		406: INSUFFICIENT_CREDIT,
		409: {
			message: 'Content moderation rejected the request',
			hint: 'Rephrase the question, and check the knowledge base for sensitive words',
			retryable: false,
			outcomeUnknown: false,
		},
		429: RATE_LIMITED,
		503: UNAVAILABLE,
	},
	video: {
		400: {
			message: 'The service rejected a parameter',
			hint: 'Check the prompt, and that every reference URL opens without a login',
			retryable: false,
			outcomeUnknown: false,
		},
		401: INVALID_API_KEY,
		402: {
			message: 'The video model does not exist, or the account has no access to it',
			hint: 'Choose another model',
			retryable: false,
			outcomeUnknown: false,
		},
		406: INSUFFICIENT_CREDIT,
		409: {
			message: 'Content moderation rejected the request',
			hint: 'Rephrase the prompt, or use other reference files',
			retryable: false,
			outcomeUnknown: false,
		},
		429: RATE_LIMITED,
		503: UNAVAILABLE,
	},
};

/** Error statuses that the specification does not list. They usually come from a proxy or from another server. */
export function unlistedStatus(status: number): StatusRow {
	if (status === 404 || status === 405) {
		return {
			message: 'The service was not found at this address',
			hint: 'Check the Base URL in the Agent Video API credential',
			retryable: false,
			outcomeUnknown: false,
		};
	}
	if (status === 408 || status >= 500) {
		return {
			message: 'The service or a proxy in front of it failed',
			hint: 'Try again in a minute; if it happens again, contact the operator of the service',
			retryable: true,
			outcomeUnknown: true,
		};
	}
	return {
		message: 'The service rejected the request',
		hint: 'See the error details for the message of the service',
		retryable: false,
		outcomeUnknown: false,
	};
}
