import { FAILURE } from '../support/failureTexts';
import { ServiceError } from '../../nodes/client/errors';
import { sentencesOf } from '../../nodes/shared/run/nodeErrors';
import {
	STATUSES,
	statusError,
	TRANSPORT_ERRORS,
	transportError,
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

test.each([
	['request', [400, 409, 422]],
	['credit', [406]],
	[undefined, [401, 402, 403, 404, 429, 500, 503]],
])('%s: what the statuses %j are about', (affects, statuses) => {
	for (const endpoint of ['chat', 'model', 'video'] as const)
		for (const status of statuses)
			expect(statusError(endpoint, status).details.affects).toBe(affects);
});

test.each([
	// A server without TLS, a certificate that is not trusted, another host's, an expired one.
	['EPROTO', FAILURE.insecure, false],
	['DEPTH_ZERO_SELF_SIGNED_CERT', FAILURE.insecure, false],
	['UNABLE_TO_VERIFY_LEAF_SIGNATURE', FAILURE.insecure, false],
	['ERR_TLS_CERT_ALTNAME_INVALID', FAILURE.insecure, false],
	['CERT_HAS_EXPIRED', FAILURE.insecure, false],
	// A proxy spoils or cuts the encrypted answer, as Node 24 reports it with TLS 1.2 and 1.3.
	['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', FAILURE.lost, true],
	['ERR_SSL_BAD_RECORD_TYPE', FAILURE.lost, true],
	['ERR_SSL_CIPHER_OPERATION_FAILED', FAILURE.lost, true],
	['ERR_SSL_WRONG_VERSION_NUMBER', FAILURE.lost, true],
	['ECONNREFUSED', FAILURE.refused, false],
	['ENOTFOUND', FAILURE.noName, false],
	['EAI_FAIL', FAILURE.noName, false],
	['EHOSTUNREACH', FAILURE.lost, true],
	['ECONNRESET', FAILURE.lost, true],
])('%s: %s, the service may have done its work: %s', (code, message, outcomeUnknown) => {
	const error = transportError(Object.assign(new Error('write'), { code }));
	expect(error.message).toBe(message);
	expect(error.details.outcomeUnknown).toBe(outcomeUnknown);
});

describe('what an error means', () => {
	const LIMITED = { message: FAILURE.tooMany, retryable: true, outcomeUnknown: false };
	const BROKEN = { message: FAILURE.proxy, retryable: true, outcomeUnknown: true };
	const BUSY = { ...BROKEN, message: FAILURE.unavailable };
	const final = (message: string) => ({ message, retryable: false, outcomeUnknown: false });
	const CREDIT = { ...final(FAILURE.noCredit), affects: 'credit' };
	const ofRequest = (message: string) => ({ ...final(message), affects: 'request' });
	const MODEL = final(FAILURE.noModel);
	const ALL = ['chat', 'model', 'video'] as const;

	test.each([
		[429, 'exceeded the rate quota, retry in 10 s', LIMITED],
		[429, 'Insufficient balance', LIMITED],
		[503, 'upstream billing timeout', BUSY],
		[503, 'The model does not exist', BUSY],
		[502, 'content-filter sidecar restarting', BROKEN],
		[500, 'model not found in cache, warming up', BROKEN],
		[504, 'invalid token', BROKEN],
		[401, 'no credit left', final(FAILURE.badKey)],
		[406, 'the model does not exist', CREDIT],
		[404, 'Model m1 does not exist', final(FAILURE.notFound)],
		[418, 'Insufficient balance', final('The service rejected the request')],
	])('words do not change the status %i: %s', (status, serviceMessage, expected) => {
		for (const endpoint of ALL) {
			const { message, details } = statusError(endpoint, status, { status, serviceMessage });
			expect({ message, ...details }).toStrictEqual({ ...expected, status, serviceMessage });
		}
	});

	test.each([
		['chat', 400, 'Insufficient balance', FAILURE.malformed],
		['chat', 402, 'Insufficient balance', FAILURE.noApp],
		['chat', 403, 'Insufficient balance', FAILURE.appNotOpen],
		['chat', 409, 'Insufficient balance', FAILURE.moderated],
		['model', 402, 'Insufficient Balance', FAILURE.noCredit],
		['model', 403, 'the token has no quota', FAILURE.noCredit],
		['model', 402, 'Model m1 does not exist', MODEL.message],
		['model', 403, 'your input was flagged', FAILURE.moderated],
		['model', 402, 'no', FAILURE.notPaid],
		['video', 402, 'Insufficient Balance', FAILURE.noCredit],
		['video', 403, 'account balance not enough', FAILURE.noCredit],
		['video', 402, 'no', FAILURE.noModel],
		['video', 400, 'Insufficient balance', FAILURE.badParameter],
	] as const)('%s, %i, %s: %s', (endpoint, status, serviceMessage, message) => {
		expect(statusError(endpoint, status, { serviceMessage }).message).toBe(message);
	});

	test.each([
		[429, { serviceCode: 'insufficient_quota' }, CREDIT],
		[429, { serviceType: 'insufficient_quota', serviceCode: 'other' }, CREDIT],
		[403, { serviceCode: 'insufficient_user_quota' }, CREDIT],
		[503, { serviceCode: 'Insufficient_Quota' }, CREDIT],
		[404, { serviceCode: 'model_not_found' }, MODEL],
		[503, { serviceCode: 'model_not_found', serviceType: 'new_api_error' }, MODEL],
		[400, { serviceCode: 'invalid_api_key' }, final(FAILURE.badKey)],
		[400, { serviceCode: 'content_filter' }, ofRequest(FAILURE.moderated)],
		[
			400,
			{ serviceCode: 'context_length_exceeded' },
			ofRequest('The conversation is too long for the model'),
		],
		[400, { serviceCode: 'rate_limit_exceeded' }, LIMITED],
		[404, { serviceCode: 'app_not_found' }, final(FAILURE.noApp)],
		// Not the whole code.
		[429, { serviceCode: 'no_insufficient_quota' }, LIMITED],
		[429, { serviceCode: 'insufficient_quota_soon' }, LIMITED],
		[429, { serviceType: 'invalid_request_error' }, LIMITED],
		[500, { serviceCode: 'constructor' }, BROKEN],
	])('the status %i with %j', (status, known, expected) => {
		for (const endpoint of ALL) {
			const { message, details } = statusError(endpoint, status, { status, ...known });
			expect({ message, ...details }).toStrictEqual({ ...expected, status, ...known });
		}
	});
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
