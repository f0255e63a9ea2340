import { ServiceError } from '../../nodes/client/errors';
import { sentencesOf } from '../../nodes/shared/run/advice';
import {
	STATUSES,
	statusError,
	TRANSPORT_ERRORS,
	type Endpoint,
} from '../../nodes/client/http/failures';

/** Spec 7.1 and 7.2: endpoint, status, retryable, outcomeUnknown. */
const ROWS: readonly (readonly [Endpoint, number, boolean, boolean])[] = [
	['chat', 400, false, false],
	['chat', 401, false, false],
	['chat', 402, false, false],
	['chat', 403, false, false],
	['chat', 406, false, false],
	['chat', 409, false, false],
	['chat', 429, true, false],
	['chat', 503, true, true],
	...[400, 401, 402, 403, 406, 409].map((each) => ['model', each, false, false] as const),
	['model', 429, true, false],
	['model', 503, true, true],
	['video', 400, false, false],
	['video', 401, false, false],
	['video', 402, false, false],
	['video', 406, false, false],
	['video', 409, false, false],
	['video', 429, true, false],
	['video', 503, true, true],
];

test.each(ROWS)(
	'%s %i: retryable %s, outcomeUnknown %s',
	(endpoint, status, retryable, outcomeUnknown) => {
		expect(STATUSES[endpoint][status]).toMatchObject({
			details: { retryable, outcomeUnknown },
		});
	},
);

test('there are no other rows, and each has a message and says what can be done', () => {
	const rows = Object.entries(STATUSES).flatMap(([endpoint, statuses]) =>
		Object.entries(statuses).map(([status, { message, advice }]) => {
			expect(message).toMatch(/^[A-Z].{15,}[^.]$/);
			const [sentence] = sentencesOf(new ServiceError('http', message, advice));
			expect(sentence).toMatch(/^[A-Z].{10,}[^.]$/);
			return `${endpoint} ${status}`;
		}),
	);
	expect(rows).toStrictEqual(ROWS.map(([endpoint, status]) => `${endpoint} ${status}`));
});

test('403 speaks of an application only where a chat names one', () => {
	const textOf = (endpoint: Endpoint) => {
		const { message, advice } = statusError(endpoint, 403);
		return [message, ...sentencesOf(new ServiceError('http', message, advice))];
	};
	expect(textOf('chat')[0]).toMatch(/application/);
	expect(textOf('model')).toStrictEqual([
		'The API key has no access',
		expect.stringMatching(/another model.*If the key ends with an app code/),
	]);
	expect(textOf('video').join()).not.toMatch(/application|model/);
});

test('402 has a different meaning for chat with and without an app code, and for video', () => {
	expect(STATUSES.chat[402]!.message).toMatch(/application/);
	expect(STATUSES.model[402]!.message).toMatch(/credit/);
	expect(STATUSES.video[402]!.message).toMatch(/model/);
});

test.each([
	[404, false, false],
	[405, false, false],
	[408, true, true],
	[418, false, false],
	[500, true, true],
	[502, true, true],
	[504, true, true],
])('%i, not in the specification: retryable %s, outcomeUnknown %s', (status, ...flags) => {
	const { retryable, outcomeUnknown } = statusError('chat', status).details;
	expect([retryable, outcomeUnknown]).toStrictEqual(flags);
});

/** n8n replaces a message that contains one of these codes, in any case, with its own text. */
const N8N_ERROR_CODES =
	/econnrefused|econnreset|enotfound|etimedout|eaddrnotavail|econnaborted|ehostunreach|eai_again|enoent|eisdir|enotdir|eacces|eexist|eperm|getaddrinfo/i;

test.each(
	[
		...Object.values(STATUSES).flatMap((rows) => Object.values(rows)),
		...[404, 418, 500].map((status) => statusError('chat', status)),
		...TRANSPORT_ERRORS.map(([, failure]) => failure),
	].map(({ message }) => message),
)('n8n shows "%s" unchanged', (message) => {
	expect(message).not.toMatch(N8N_ERROR_CODES);
});
