/** The two families of endpoints: some statuses mean different things in each (spec 7). */
export type Endpoint = 'chat' | 'video';

export interface StatusRow {
	readonly message: string;
	readonly hint: string;
	/** Whether the same call may well succeed a little later. */
	readonly retryable: boolean;
	/** Whether the service may have carried out the call all the same: a paid one is then not safe to repeat. */
	readonly outcomeUnknown: boolean;
}

const KEY_REFUSED = {
	message: 'The service did not accept the API key',
	hint: 'Check the API Key in the Agent Video API credential',
	retryable: false,
	outcomeUnknown: false,
};
const NO_CREDIT = {
	message: 'The account has not enough credit',
	hint: 'Top up the account at the service, then run this again',
	retryable: false,
	outcomeUnknown: false,
};
const UNAVAILABLE = {
	message: 'The service could not handle the call just now',
	hint: 'Try again in a minute',
	retryable: true,
	outcomeUnknown: true,
};
const TOO_MANY = {
	message: 'The service is getting too many calls',
	hint: 'Wait a little, or send fewer calls at once',
	retryable: true,
	outcomeUnknown: false,
};

/** What each error status means, by endpoint (spec 7.1, 7.2). */
export const STATUSES: Readonly<Record<Endpoint, Readonly<Record<number, StatusRow>>>> = {
	chat: {
		400: {
			message: 'The service found the request malformed',
			hint: 'Check the fields of this node: the messages must not be empty',
			retryable: false,
			outcomeUnknown: false,
		},
		401: KEY_REFUSED,
		402: {
			message: 'There is no application with this app code',
			hint: 'Check App Code, or leave it empty to talk to the model directly',
			retryable: false,
			outcomeUnknown: false,
		},
		403: {
			message: 'The API key has no access to this application',
			hint: 'Publish the application, or use an API key of its creator',
			retryable: false,
			outcomeUnknown: false,
		},
		406: NO_CREDIT,
		409: {
			message: 'Content moderation stopped the call',
			hint: 'Rephrase the question, or look for sensitive words in the knowledge base',
			retryable: false,
			outcomeUnknown: false,
		},
		429: TOO_MANY,
		503: UNAVAILABLE,
	},
	video: {
		400: {
			message: 'The service found a parameter wrong',
			hint: 'Check the prompt, and that every reference URL opens without a login',
			retryable: false,
			outcomeUnknown: false,
		},
		401: KEY_REFUSED,
		402: {
			message: 'The video model does not exist, or the account may not use it',
			hint: 'Choose another Model',
			retryable: false,
			outcomeUnknown: false,
		},
		406: NO_CREDIT,
		409: {
			message: 'Content moderation stopped the call',
			hint: 'Rephrase the prompt, or use other reference files',
			retryable: false,
			outcomeUnknown: false,
		},
		429: TOO_MANY,
		503: UNAVAILABLE,
	},
};

/** What a status means that the specification does not list: mostly a proxy's, or another server's. */
export function unlistedStatus(status: number): StatusRow {
	if (status === 404 || status === 405) {
		return {
			message: 'The address does not lead to the service',
			hint: 'Check the Base URL in the Agent Video API credential',
			retryable: false,
			outcomeUnknown: false,
		};
	}
	if (status === 408 || status >= 500) {
		return {
			message: 'The service, or a proxy in front of it, failed',
			hint: 'Try again in a minute; if it stays, ask whoever runs the service',
			retryable: true,
			outcomeUnknown: true,
		};
	}
	return {
		message: 'The service refused the call',
		hint: 'See the details of this error for its own words',
		retryable: false,
		outcomeUnknown: false,
	};
}
