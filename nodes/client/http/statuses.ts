/** The two families of endpoints: some statuses mean different things in each (spec 7). */
export type Endpoint = 'chat' | 'video';

export interface StatusRow {
	readonly message: string;
	readonly remedy: string;
	/** Whether the same call may well succeed a little later. */
	readonly transient: boolean;
	/** Whether the service may have carried out the call all the same: a paid one is then not safe to repeat. */
	readonly unclear: boolean;
}

const KEY_REFUSED = {
	message: 'The service did not accept the API key',
	remedy: 'Check the API Key in the Agent Video API credential',
	transient: false,
	unclear: false,
};
const NO_CREDIT = {
	message: 'The account has not enough credit',
	remedy: 'Top up the account at the service, then run this again',
	transient: false,
	unclear: false,
};
const UNAVAILABLE = {
	message: 'The service could not handle the call just now',
	remedy: 'Try again in a minute',
	transient: true,
	unclear: true,
};
const TOO_MANY = {
	message: 'The service is getting too many calls',
	remedy: 'Wait a little, or send fewer calls at once',
	transient: true,
	unclear: false,
};

/** What each error status means, by endpoint (spec 7.1, 7.2). */
export const STATUSES: Readonly<Record<Endpoint, Readonly<Record<number, StatusRow>>>> = {
	chat: {
		400: {
			message: 'The service found the request malformed',
			remedy: 'Check the fields of this node: the messages must not be empty',
			transient: false,
			unclear: false,
		},
		401: KEY_REFUSED,
		402: {
			message: 'There is no application with this app code',
			remedy: 'Check App Code, or leave it empty to talk to the model directly',
			transient: false,
			unclear: false,
		},
		403: {
			message: 'The API key has no access to this application',
			remedy: 'Publish the application, or use an API key of its creator',
			transient: false,
			unclear: false,
		},
		406: NO_CREDIT,
		409: {
			message: 'Content moderation stopped the call',
			remedy: 'Rephrase the question, or look for sensitive words in the knowledge base',
			transient: false,
			unclear: false,
		},
		429: TOO_MANY,
		503: UNAVAILABLE,
	},
	video: {
		400: {
			message: 'The service found a parameter wrong',
			remedy: 'Check the prompt, and that every reference URL opens without a login',
			transient: false,
			unclear: false,
		},
		401: KEY_REFUSED,
		402: {
			message: 'The video model does not exist, or the account may not use it',
			remedy: 'Choose another Model',
			transient: false,
			unclear: false,
		},
		406: NO_CREDIT,
		409: {
			message: 'Content moderation stopped the call',
			remedy: 'Rephrase the prompt, or use other reference files',
			transient: false,
			unclear: false,
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
			remedy: 'Check the Base URL in the Agent Video API credential',
			transient: false,
			unclear: false,
		};
	}
	if (status === 408 || status >= 500) {
		return {
			message: 'The service, or a proxy in front of it, failed',
			remedy: 'Try again in a minute; if it stays, ask whoever runs the service',
			transient: true,
			unclear: true,
		};
	}
	return {
		message: 'The service refused the call',
		remedy: 'See the details of this error for its own words',
		transient: false,
		unclear: false,
	};
}
