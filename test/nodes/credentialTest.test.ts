import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';

import { CredentialTestContext } from 'n8n-core';
import { LoggerProxy } from 'n8n-workflow';
import { generate } from 'selfsigned';

import { recordOutput } from '../faults/leaks';
import { NODE_TYPES } from '../support/engine';
import { FAILURE } from '../support/failureTexts';
import { withFakeTimers, type FakeTime } from '../support/fakeTimers';
import { imitateNetwork } from '../support/imitatedNetwork';
import { json, scripted, type Script } from '../support/scriptedServer';

const KEY = 'sk-0f4e/very+secret';
const GATEWAY_KEY = `Basic ${Buffer.from('gateway:hidden').toString('base64')}`;

const server = scripted((response) => response.end('{}'));

const header = (name: unknown, value: unknown) => ({ header: [{ name, value }] });

/** Runs the test as n8n does: the method that the node names, with n8n's context for it. */
async function runTest(data: object = {}, nodeType = 'n8n-nodes-agent-video.chatCompletion') {
	const { methods, description } = NODE_TYPES[nodeType]!;
	const { testedBy } = description.credentials![0]!;
	const output = recordOutput();
	const logged = jest.spyOn(LoggerProxy, 'debug');
	const result = await methods!
		.credentialTest![testedBy as string]!.call(new CredentialTestContext(), {
			id: '1',
			name: 'Test',
			type: 'agentVideoApi',
			data: {
				baseUrl: server.url,
				apiKey: KEY,
				extraHeaders: header('X-Gateway-Key', GATEWAY_KEY),
				...data,
			},
		})
		.finally(() => {
			output.stop();
		});
	const told = JSON.stringify([result, output.printed, logged.mock.calls]);
	for (const secret of ['very', GATEWAY_KEY.slice(6, -4), Buffer.from(KEY).toString('base64')])
		expect(told).not.toContain(secret);
	return result;
}

test.each(Object.keys(NODE_TYPES).filter((name) => name.startsWith('n8n-')))(
	'%s has the test: n8n runs that of the first node it finds',
	async (name) => {
		expect(await runTest({ apiKey: '' }, name)).toStrictEqual({
			status: 'Error',
			message: expect.stringMatching(/^API Key is empty\. Enter the key/) as string,
		});
	},
);

/**
 * What a server answers to the test of the credential, and parts of what n8n then says of a failed test; none if the test
 * passes.
 */
type CredentialAnswer = [title: string, answer: Script, ...says: RegExp[]];

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

const WRONG_KEY = new RegExp(`^${FAILURE.badKey}`);
const NOT_FOUND = new RegExp(`^${FAILURE.notFound}`);

const CREDENTIAL_ANSWERS: readonly CredentialAnswer[] = [
	['a task', body(200, TASK)],
	['a 404 of the service', own(404)],
	['a 400 of the service', own(400)],
	// The key is wrong.
	[
		'a 401 of the service',
		own(401),
		...[new RegExp(`${WRONG_KEY.source} \\(status 401\\)`), /Check the API Key/, /Base URL/],
	],
	['a 401 page', page(401), WRONG_KEY, /Sign in/],
	['a 403', own(403), /^The API key has no access/, /firewall/],
	// The address is wrong: another server answers.
	['a page', page(200), OTHER, /Sign in/],
	['nothing', page(200, ''), EMPTY],
	['JSON that is no task', body(200, { status: 'ok' }), OTHER],
	[
		'an error with status 200',
		body(200, { error: { message: 'Bad key', type: 'invalid_api_key', code: 401 } }),
		...[WRONG_KEY, /Bad key/, /Check the API Key/],
	],
	[
		'a missing task with status 200',
		body(200, { error: { message: 'No such task', type: 'not_found', code: 404 } }),
	],
	['a list', body(200, [TASK]), OTHER],
	['a task with no status', body(200, { task_id: 'x' }), OTHER],
	...[400, 402, 409, 413, 415, 418, 422].flatMap((status): CredentialAnswer[] => [
		[`a ${status} page`, page(status), OTHER, RegExp(String(status))],
		[
			`a ${status} of another API`,
			body(status, { detail: 'Field required' }),
			...[OTHER, /Field required/],
		],
	]),
	['an empty 413', page(413, ''), OTHER],
	['a 406 of another server', page(406), OTHER],
	['a 501', page(501, 'Unsupported method'), OTHER, /Unsupported/],
	...[404, 405].flatMap((status): CredentialAnswer[] => [
		[`a ${status} page`, page(status), NOT_FOUND, /Check the Base URL/],
		[`an empty ${status}`, page(status, ''), NOT_FOUND],
	]),
	...[
		'Invalid URL (POST /v1/videos/tasks)',
		'Unknown request URL: POST /v1/videos/tasks',
		'no route for this path',
	].map((message): CredentialAnswer => [
		`a 404 in the same form: ${message}`,
		own(404, message),
		...[NOT_FOUND, /Check the Base URL/],
	]),
	...[301, 302, 303, 307, 308].map((status): CredentialAnswer => [
		`a ${status} to a page that would pass`,
		(response, request, index) => {
			if (request.path === '/elsewhere') own(404)(response, request, index);
			else response.writeHead(status, { location: '/elsewhere' }).end();
		},
		...[/^The service redirects/, /enter the final address/, /Location: \/elsewhere/],
	]),
	// The service or the account has a problem.
	['a 402 of the service', own(402), new RegExp(`^${FAILURE.noModel}`), /No such task/],
	['a 406 of the service', own(406), new RegExp(`^${FAILURE.noCredit}`), /Top up/],
	['a 409 of the service', own(409), new RegExp(`^${FAILURE.moderated}`), /No such task/],
	['a 429', body(429, {}), /^Too many requests/, /Wait a minute/],
	['a 503', own(503), /temporarily unavailable/, /Retry/],
	...[500, 502, 504].map((status): CredentialAnswer => [
		`a ${status}`,
		page(status),
		...[new RegExp(`^${FAILURE.proxy}`), /Retry/],
	]),
	[
		'half of an answer',
		(response, request) => {
			response.writeHead(200, { 'content-type': 'application/json' });
			response.end(`{"task_id": "${quoted(request)}`);
		},
		...[/^The response is truncated/, /proxy/],
	],
	[
		'a connection that breaks',
		(response) => response.destroy(),
		...[new RegExp(`^${FAILURE.lost}`), /scheme and port of the Base URL/],
	],
];

test.each<CredentialAnswer>(CREDENTIAL_ANSWERS)('%s', async (_title, answer, ...says) => {
	server.script = answer;
	const { status, message } = await runTest();
	expect({ status, message }).toMatchObject({ status: says.length > 0 ? 'Error' : 'OK' });
	for (const part of says) expect(message).toMatch(part);
	expect(message).toMatch(/^[A-Z]?[a-z]/);
	expect(message).not.toContain('undefined');
	// One free request, also after a redirect.
	expect(server.requests).toMatchObject([
		{
			method: 'POST',
			path: '/v1/videos/tasks',
			headers: {
				authorization: `Bearer ${KEY}`,
				'x-gateway-key': GATEWAY_KEY,
				'content-type': 'application/json',
			},
			body: { task_id: 'n8n-credential-test' },
		},
	]);
});

test.each([
	['', '/v1/videos/tasks'],
	['/v1/', '/v1/videos/tasks'],
	['/api/v3', '/api/v3/videos/tasks'],
	['/openai/v1', '/openai/v1/videos/tasks'],
	['/api/v3/chat/completions', '/api/v3/videos/tasks'],
])('with the path %j the test asks %s, and says so', async (path, asked) => {
	const told = `. Asked: ${server.url}${asked}`;
	server.script = (response) => {
		json(response, 200, { task_id: 'x', status: 'unknown' });
	};
	const { message } = await runTest({ baseUrl: server.url + path });
	expect(message).toBe(`The service accepted the API key${told}`);
	server.script = (response) => response.end('{}');
	expect((await runTest({ baseUrl: server.url + path })).message).toMatch(
		RegExp(`^Unexpected.*${asked}`, 's'),
	);
	expect(server.requests.map(({ path: sent }) => sent)).toStrictEqual([asked, asked]);
});

test.each<[object, RegExp]>([
	[{ baseUrl: '' }, /^Base URL is empty\. Enter the URL/],
	[{ baseUrl: 'api.example.com' }, /^Base URL is not a valid URL\. Start it with https/],
	[{ baseUrl: 'https://' }, /^Base URL is not a valid URL/],
	[{ baseUrl: 'http://x:99999' }, /^Base URL is not a valid URL/],
	[{ baseUrl: 'http://user:very@127.0.0.1' }, /^Base URL contains a user name/],
	[{ apiKey: `Bearer ${KEY}` }, /^API Key contains a space.*without the word Bearer/],
	[{ apiKey: `${KEY}…` }, /^API Key contains/],
	[{ apiKey: 'k', keyIncludesApp: true }, /^API Key does not end with an app code/],
	...['', 'X Tenant', 'X-A\r\nX-B', '__proto__'].map((name): [object, RegExp] => [
		{ extraHeaders: header(name, 'x') },
		/row 1 has no valid name/,
	]),
	[{ extraHeaders: header('X-Tenant', ' ') }, /row 1 has no value for X-Tenant/],
	[{ extraHeaders: header('X-Tenant', undefined) }, /row 1 has no value for X-Tenant/],
	[{ extraHeaders: header('X-Tenant', 'very\r\nHost: x') }, /row 1 has a special character/],
	[{ extraHeaders: header('X-Tenant', 'very ü') }, /row 1 has a special character/],
	...[
		...['Authorization', 'authorization', 'Host', 'Content-Length', 'Content-Type', 'Accept'],
		...['Transfer-Encoding', 'Connection', 'Proxy-Authorization', 'Expect', 'Accept-Encoding'],
	].map((name): [object, RegExp] => [
		{ extraHeaders: header(name, 'very') },
		RegExp(`has the name ${name}, which n8n sets itself`),
	]),
	...['get', 'Post', 'common', 'query', 'constructor', 'prototype'].map(
		(name): [object, RegExp] => [
			{ extraHeaders: header(name, 'very') },
			RegExp(`row 1 has the name ${name}, which n8n cannot send`),
		],
	),
	[
		{ extraHeaders: { header: ['X-A', 'x-a'].map((name) => ({ name, value: 'very' })) } },
		/row 2 repeats the name x-a/,
	],
])('%j sends nothing', async (data, message) => {
	expect(await runTest(data)).toMatchObject({
		status: 'Error',
		message: expect.stringMatching(message) as string,
	});
	expect(server.requests).toHaveLength(0);
});

test('a value from an expression is sent as text', async () => {
	await runTest({ extraHeaders: header('X-Tenant', 7) });
	expect(server.requests[0]!.headers['x-tenant']).toBe('7');
});

describe('without an answer', () => {
	const failure = (...parts: readonly string[]) => ({
		status: 'Error',
		message: expect.stringMatching(RegExp(parts.join('.*'), 's')) as string,
	});

	test('a closed port', async () => {
		const { url: baseUrl } = server;
		await server.stop();
		expect(await runTest({ baseUrl })).toMatchObject(
			failure('^Could not connect to the service', 'Check host and port of the Base URL'),
		);
	});

	test('a name that does not exist', async () => {
		const network = imitateNetwork();
		const result = await runTest({ baseUrl: 'http://no-such-host.example' }).finally(() => {
			network.restore();
		});
		expect(network.contacted).toStrictEqual([]);
		expect(result).toMatchObject(failure(`^${FAILURE.noName}`, 'Check the Base URL'));
	});

	test('a certificate that nobody has signed, and https at a server without it', async () => {
		const { private: key, cert } = await generate([{ name: 'commonName', value: '127.0.0.1' }]);
		const secure: Server = createServer({ key, cert });
		await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
		const { port } = secure.address() as AddressInfo;
		try {
			for (const at of [port, server.port])
				expect(await runTest({ baseUrl: `https://127.0.0.1:${at}` })).toMatchObject(
					failure('^Could not establish a secure connection', 'certificate', 'https://'),
				);
		} finally {
			await new Promise((resolve) => secure.close(resolve));
		}
	});

	test.each([
		['never answers', () => undefined],
		[
			'sends a byte now and then, and never ends',
			(response: ServerResponse) => {
				response.write('{');
				const timer = setInterval(() => {
					response.write(' ');
				}, 50);
				response.once('close', () => {
					clearInterval(timer);
				});
			},
		],
	])('a server that %s', async (_what, act) => {
		const result = await withFakeTimers(async (time: FakeTime) => {
			server.script = (response) => {
				time.hold(response);
				act(response);
			};
			const test = await runTest();
			expect(time.passedMs()).toBeLessThanOrEqual(30_000);
			return test;
		});
		expect(result).toMatchObject(
			failure(`^${FAILURE.silent}`, 'host and port of the Base URL'),
		);
	});
});
