import { ServiceError, type ErrorDetails } from '../../nodes/client/errors';
import {
	canceledError,
	STATUSES,
	statusError,
	transportError,
	withDeadline,
	withRetry,
	type Endpoint,
	type RetryPolicy,
} from '../../nodes/client/http/failures';
import type { Clock, HttpPort } from '../../nodes/client/ports';
import { sentencesOf } from '../../nodes/shared/run/nodeErrors';
import { ALL_FAILURES, FAILURE } from '../support/failureTexts';
import { fakeClock } from '../support/fakeClock';

const ALL = ['chat', 'model', 'video'] as const;
const textsOf = (message: string, advice: ConstructorParameters<typeof ServiceError>[2]) => [
	message,
	...sentencesOf(new ServiceError('http', message, advice)),
];

test.each<[Endpoint, number[]]>([
	['chat', [400, 401, 402, 403, 406, 409, 429, 503]],
	['model', [400, 401, 402, 403, 406, 409, 429, 503]],
	['video', [400, 401, 402, 406, 409, 429, 503]],
])('%s has the statuses %j of spec 7.1 and 7.2, each with what can be done', (endpoint, codes) => {
	expect(Object.keys(STATUSES[endpoint]).map(Number)).toStrictEqual(codes);
	for (const [status, { message, advice, details }] of Object.entries(STATUSES[endpoint])) {
		expect([status, details]).toMatchObject([
			status,
			{ retryable: ['429', '503'].includes(status), outcomeUnknown: status === '503' },
		]);
		const [said, sentence] = textsOf(message, advice);
		expect(said).toMatch(/^[A-Z].{15,}[^.]$/);
		expect(sentence).toMatch(/^[A-Z].{10,}[^.]$/);
	}
});

test('402 and 403 speak of an application only where a chat names one', () => {
	const textOf = (endpoint: Endpoint, status: number) => {
		const { message, advice } = statusError(endpoint, status);
		return textsOf(message, advice);
	};
	expect(textOf('chat', 403)[0]).toMatch(/application/);
	expect(textOf('model', 403)).toStrictEqual([
		'The API key has no access',
		expect.stringMatching(/another model.*If the key ends with an app code/),
	]);
	expect(textOf('video', 403).join()).not.toMatch(/application|model/);
	expect(ALL.map((endpoint) => textOf(endpoint, 402)[0])).toStrictEqual([
		expect.stringContaining('application'),
		expect.stringContaining('credit'),
		expect.stringContaining('model'),
	]);
});

test.each([
	[false, [404, 405, 418]],
	[true, [408, 500, 502, 504]],
])('retryable, with unknown outcome: %s for %j, not in the specification', (isSo, statuses) => {
	const flags = { retryable: isSo, outcomeUnknown: isSo };
	for (const status of statuses) expect(statusError('chat', status).details).toStrictEqual(flags);
});

test.each<[isUnknown: boolean, status: number | undefined, ErrorDetails]>([
	[true, undefined, { serviceMessage: 'Insufficient balance' }],
	[true, undefined, { serviceMessage: 'Insufficient balance', status: 503 }],
	[true, undefined, { serviceCode: 'context_length_exceeded' }],
	[true, 503, { serviceCode: 'model_not_found' }],
	[false, undefined, { serviceCode: 'insufficient_quota' }],
	[false, undefined, { serviceMessage: 'Invalid API key', status: 401 }],
	[false, 400, { serviceCode: 'context_length_exceeded' }],
])('that the outcome of an assistant is unknown is %s: status %s, %j', (isSo, status, known) => {
	expect(statusError('assistant', status, known).details.outcomeUnknown).toBe(isSo);
});

test.each([
	['request', [400, 409, 422]],
	['credit', [406]],
	[undefined, [401, 402, 403, 404, 429, 500, 503]],
])('%s: what the statuses %j are about', (affects, statuses) => {
	for (const endpoint of ALL)
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
	const LONG = ofRequest('The conversation is too long for the model');

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
		[400, { serviceCode: 'context_length_exceeded' }, LONG],
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

test.each([...ALL_FAILURES])('n8n shows "%s" unchanged', (message) => {
	expect(message).not.toMatch(N8N_ERROR_CODES);
});

describe('a retry', () => {
	const POLICY: RetryPolicy = { retries: 3, retryOutcomeUnknown: false };
	const BUSY: ErrorDetails = { retryable: true };
	const LIMITED: ErrorDetails = { ...BUSY, status: 429 };
	const UNKNOWN: ErrorDetails = { ...BUSY, outcomeUnknown: true };
	const after = (retryAfterMs: number, details = BUSY) => ({ ...details, retryAfterMs });
	const always = (details: ErrorDetails) => Array<ErrorDetails>(20).fill(details);
	const failed = (details: ErrorDetails) => new ServiceError('http', 'no', 'tryLater', details);

	/** Runs a call that fails with each of the failures, then succeeds; returns the delays between attempts. */
	async function run(
		failures: readonly (ErrorDetails | Error)[],
		policy: Partial<RetryPolicy> = {},
		random = 0.5,
		more: Partial<{ sleep: Clock['sleep']; mayRetry: () => boolean }> = {},
	) {
		const { mayRetry, ...clock } = more;
		const time = fakeClock(0, () => random);
		let calls = 0;
		const call = () => {
			const failure = failures[calls++];
			if (failure === undefined) return Promise.resolve('done');
			return Promise.reject(failure instanceof Error ? failure : failed(failure));
		};
		const outcome = await withRetry(
			{ ...time, ...clock },
			{ ...POLICY, ...policy },
			call,
			mayRetry,
		).catch((error: unknown) => error);
		return { outcome, calls, delaysMs: time.slept };
	}

	const tens = Array<number>(10).fill(10_000);
	test.each<[string, ErrorDetails[], number[], number?, number?]>([
		['backs off exponentially, with full jitter', [BUSY, BUSY, BUSY], [500, 1_000, 2_000]],
		[
			'waits at most 20 seconds, and two minutes together',
			always(BUSY),
			[500, 1_000, 2_000, 4_000, 8_000, ...tens, 4_500],
			20,
		],
		[
			'429 without Retry-After: three retries outlast a limit per minute',
			always(LIMITED),
			[10_000, 20_000, 40_000],
			3,
			0,
		],
		['outlasts it on average', always(LIMITED), [12_500, 25_000, 50_000], 3, 0.5],
		['outlasts it at most', always(LIMITED), [15_000, 30_000, 60_000], 3, 1],
		[
			'uses up two minutes for a limit, not more',
			always(LIMITED),
			[12_500, 25_000, 50_000, 32_500],
			10,
		],
		['prefers the Retry-After of a limit', [after(3_000, LIMITED), LIMITED], [3_000, 25_000]],
		['is never sooner than Retry-After', [after(7_000), after(1)], [7_000, 1_000]],
		['waits for a Retry-After of two minutes', [after(120_000)], [120_000]],
		['does not wait for a longer one', [after(121_000)], []],
		['is not made of a failure without retryable', [{}], []],
		['is not made of a permanent failure', [{ retryable: false }], []],
		['is not made where the outcome is unknown', [UNKNOWN], []],
		['is not made with retries: 0', [BUSY], [], 0],
	])('%s', async (_name, failures, delays, retries = 3, random = 0.5) => {
		const { calls, delaysMs, outcome } = await run(failures, { retries }, random);
		expect(delaysMs).toStrictEqual(delays);
		expect(calls).toBe(delays.length + 1);
		expect(outcome === 'done').toBe(failures.length < calls);
	});

	const bug = new TypeError('a bug');
	test.each<[string, Parameters<typeof run>, object]>([
		[
			'throws the last failure after the last attempt',
			[[BUSY, BUSY, { ...BUSY, serviceMessage: 'the last' }], { retries: 2 }],
			{ calls: 3, outcome: { details: { serviceMessage: 'the last' } } },
		],
		[
			'where the outcome is unknown is made if the policy says so',
			[[UNKNOWN], { retryOutcomeUnknown: true }],
			{ calls: 2 },
		],
		['can be forbidden', [[BUSY], {}, 0.5, { mayRetry: () => false }], { calls: 1 }],
		['is not made of a bug', [[bug]], { calls: 1, outcome: bug }],
		[
			'ends with canceling',
			[[BUSY], {}, 0.5, { sleep: () => Promise.reject(canceledError()) }],
			{ calls: 1, outcome: { kind: 'canceled' } },
		],
	])('%s', async (_name, args, expected) => {
		expect(await run(...args)).toMatchObject(expected);
	});

	test('is not sent after a pause that ended behind the deadline of the call', async () => {
		const clock = fakeClock();
		const sleep = async (ms: number) => {
			await clock.sleep(ms * 2);
		};
		let sent = 0;
		const http: HttpPort = () => {
			sent += 1;
			return Promise.reject(failed(after(7_000)));
		};
		const request = { method: 'POST', path: '/', body: {}, idleTimeoutMs: 1_000 } as const;
		const called = withRetry(
			{ ...clock, sleep },
			{ ...POLICY, limitMs: 10_000 },
			async (deadline) => await withDeadline(http, deadline)(request),
		);
		await expect(called).rejects.toMatchObject({
			message: 'The call exceeded its Timeout of 10 seconds',
			details: { outcomeUnknown: false },
		});
		expect(sent).toBe(1);
	});
});
