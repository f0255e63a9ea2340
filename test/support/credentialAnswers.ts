import { json, type Script } from './scriptedServer';
import { FAILURE } from './failureTexts';

/** What a server answers to the test of the credential, and what n8n then says. */
export interface CredentialAnswer {
	readonly title: string;
	readonly answer: Script;
	/** Parts of the message of a failed test; none if the test passes. */
	readonly says: readonly RegExp[];
}

/** The headers of the request as a server quotes them. */
const quoted = (request: Parameters<Script>[1]) =>
	`${JSON.stringify(request.headers)} ${Buffer.from(request.headers.authorization ?? '').toString('base64')}`;

const page =
	(status: number, text = '<html><h1>Sign in</h1></html>'): Script =>
	(response, request) => {
		response
			.writeHead(status, { 'content-type': 'text/html' })
			.end(text && `${text} ${quoted(request)}`);
	};
const body =
	(status: number, fields: unknown): Script =>
	(response, request) => {
		json(response, status, fields, { 'x-debug': quoted(request) });
	};
/** An error in the form of the service (spec 7). */
const own =
	(status: number, message = 'No such task', type = 'invalid_request_error'): Script =>
	(response, request) => {
		json(response, status, { error: { message: `${message} ${quoted(request)}`, type } });
	};
const OTHER = /^Unexpected response: this is not the Agent Video API.*Check the Base URL/s;
const EMPTY = /^Empty response from the service.*Check the Base URL/s;
const TASK = { task_id: 'n8n-credential-test', status: 'unknown', model: '' };

export const CREDENTIAL_ANSWERS: readonly CredentialAnswer[] = [
	{ title: 'a task', answer: body(200, TASK), says: [] },
	{ title: 'a 404 of the service', answer: own(404), says: [] },
	{ title: 'a 400 of the service', answer: own(400), says: [] },
	// The key is wrong.
	{
		title: 'a 401 of the service',
		answer: own(401),
		says: [new RegExp(`^${FAILURE.badKey} \\(status 401\\)`), /Check the API Key/, /Base URL/],
	},
	{
		title: 'a 401 page',
		answer: page(401),
		says: [new RegExp(`^${FAILURE.badKey}`), /Sign in/],
	},
	{ title: 'a 403', answer: own(403), says: [/^The API key has no access/, /firewall/] },
	// The address is wrong: another server answers.
	{ title: 'a page', answer: page(200), says: [OTHER, /Sign in/] },
	{ title: 'nothing', answer: page(200, ''), says: [EMPTY] },
	{ title: 'JSON that is no task', answer: body(200, { status: 'ok' }), says: [OTHER] },
	{
		title: 'an error with status 200',
		answer: body(200, { error: { message: 'Bad key', type: 'invalid_api_key', code: 401 } }),
		says: [new RegExp(`^${FAILURE.badKey}`), /Bad key/, /Check the API Key/],
	},
	{
		title: 'a missing task with status 200',
		answer: body(200, { error: { message: 'No such task', type: 'not_found', code: 404 } }),
		says: [],
	},
	{ title: 'a list', answer: body(200, [TASK]), says: [OTHER] },
	{ title: 'a task with no status', answer: body(200, { task_id: 'x' }), says: [OTHER] },
	...[400, 402, 409, 413, 415, 418, 422].flatMap((status) => [
		{ title: `a ${status} page`, answer: page(status), says: [OTHER, RegExp(String(status))] },
		{
			title: `a ${status} of another API`,
			answer: body(status, { detail: 'Field required' }),
			says: [OTHER, /Field required/],
		},
	]),
	{ title: 'an empty 413', answer: page(413, ''), says: [OTHER] },
	{ title: 'a 402 in the same form', answer: own(402), says: [OTHER] },
	{ title: 'a 406 of another server', answer: page(406), says: [OTHER] },
	{ title: 'a 501', answer: page(501, 'Unsupported method'), says: [OTHER, /Unsupported/] },
	...[404, 405].flatMap((status) => [
		{
			title: `a ${status} page`,
			answer: page(status),
			says: [new RegExp(`^${FAILURE.notFound}`), /Check the Base URL/],
		},
		{
			title: `an empty ${status}`,
			answer: page(status, ''),
			says: [new RegExp(`^${FAILURE.notFound}`)],
		},
	]),
	...[
		'Invalid URL (POST /v1/videos/tasks)',
		'Unknown request URL: POST /v1/videos/tasks',
		'no route for this path',
	].map((message) => ({
		title: `a 404 in the same form: ${message}`,
		answer: own(404, message),
		says: [new RegExp(`^${FAILURE.notFound}`), /Check the Base URL/],
	})),
	...[301, 302, 303, 307, 308].map((status) => ({
		title: `a ${status} to a page that would pass`,
		answer: ((response, request, index) => {
			if (request.path === '/elsewhere') own(404)(response, request, index);
			else response.writeHead(status, { location: '/elsewhere' }).end();
		}) satisfies Script,
		says: [/^The service redirects/, /enter the final address/, /Location: \/elsewhere/],
	})),
	// The service or the account has a problem.
	{
		title: 'a 406 of the service',
		answer: own(406),
		says: [new RegExp(`^${FAILURE.noCredit}`), /Top up/],
	},
	{ title: 'a 429', answer: body(429, {}), says: [/^Too many requests/, /Wait a minute/] },
	{ title: 'a 503', answer: own(503), says: [/temporarily unavailable/, /Retry/] },
	...[500, 502, 504].map((status) => ({
		title: `a ${status}`,
		answer: page(status),
		says: [new RegExp(`^${FAILURE.proxy}`), /Retry/],
	})),
	{
		title: 'half of an answer',
		answer: (response, request) => {
			response.writeHead(200, { 'content-type': 'application/json' });
			response.end(`{"task_id": "${quoted(request)}`);
		},
		says: [/^The response is truncated/, /proxy/],
	},
	{
		title: 'a connection that breaks',
		answer: (response) => response.destroy(),
		says: [new RegExp(`^${FAILURE.lost}`), /scheme and port of the Base URL/],
	},
];
