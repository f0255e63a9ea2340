import { inspect } from 'node:util';

import type { IDataObject, IHttpRequestOptions } from 'n8n-workflow';

import { AgentVideoApi } from '../../credentials/AgentVideoApi.credentials';
import { accountOf, readCredential } from '../../nodes/shared/run/credential';
import { answerWell } from '../faults/acts';
import { body, chunk, reply, stream } from '../faults/answers';
import { OPERATIONS, type Operation } from '../faults/operations';
import { runNode } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

let operation: Operation;
let server: ScriptedServer;
beforeAll(async () => {
	server = await startScriptedServer((response, _request, index) => {
		answerWell(response, operation.answers[Math.min(index, operation.answers.length - 1)]!);
	});
});
beforeEach(() => {
	server.requests.length = 0;
});
afterAll(async () => {
	await server.stop();
});

const credential = (...header: readonly IDataObject[]) => ({
	baseUrl: server.url,
	apiKey: 'sk-key-of-account',
	extraHeaders: { header },
});

describe.each(Object.entries(OPERATIONS))('%s', (_id, each: Operation) => {
	beforeEach(() => {
		operation = each;
	});

	test('sends the headers with every request', async () => {
		await withFakeTimers(
			async () =>
				await each.run({
					credential: credential(
						{ name: 'X-Tenant', value: 'acme' },
						{ name: ' x-gateway-key ', value: ' gw-hidden-value\n' },
					),
				}),
		);
		expect(server.requests).toHaveLength(each.answers.length);
		for (const { headers } of server.requests) {
			expect(headers).toMatchObject({
				authorization: 'Bearer sk-key-of-account',
				'content-type': 'application/json',
				'x-tenant': 'acme',
				'x-gateway-key': 'gw-hidden-value',
			});
		}
	});

	test('sends nothing with a header that is not possible, and names the row', async () => {
		const { error } = await each.run({
			credential: credential(
				{ name: 'X-Tenant', value: 'acme' },
				{ name: 'Authorization', value: 'hidden-value' },
			),
		});
		// The error of a chat model is the cause of the error of its chain.
		expect(inspect(error)).toContain(
			'Extra Headers in the credential: row 2 has the name Authorization',
		);
		expect(server.requests).toHaveLength(0);
	});
});

describe('in other nodes, which may go anywhere', () => {
	const send = async (request: IHttpRequestOptions) =>
		await new AgentVideoApi().authenticate(
			credential({ name: 'X-Gateway-Key', value: 'gw-hidden-value' }),
			request,
		);

	test('the headers are not added', async () => {
		const sent = await send({ url: `${server.url}/v1/models` });
		expect(sent.headers).toStrictEqual({ Authorization: 'Bearer sk-key-of-account' });
	});

	test.each([
		{ url: 'http://127.0.0.1:9/' },
		{ url: 'http://127.0.0.1.tracker.example/' },
		{ url: '', uri: 'http://tracker.example/' },
		{ url: '/', baseURL: 'http://tracker.example' },
		{ url: '/v1/models' },
	])('the key is not sent to another host: %j', async (request) => {
		await expect(send(request)).rejects.toThrow(
			`The key of this credential is sent to ${server.url} only`,
		);
	});
});

test('a value from an expression is sent as text', async () => {
	operation = OPERATIONS.chat;
	await runNode('chatCompletion', {
		credential: credential({ name: 'X-Tenant', value: 7 }),
		parameters: { prompt: 'Hi', streaming: 'off' },
	});
	expect(server.requests[0]!.headers['x-tenant']).toBe('7');
});

test.each(['get', 'Post', 'common', 'query', 'constructor', 'prototype'])(
	'the name %s, which n8n would leave out, is an error',
	async (name) => {
		operation = OPERATIONS.chat;
		const { error } = await runNode('chatCompletion', {
			credential: credential({ name, value: 'acme' }),
			parameters: { prompt: 'Hi', streaming: 'off' },
		});
		expect(error!.message).toBe(
			`Extra Headers in the credential: row 1 has the name ${name}, which n8n cannot send`,
		);
		expect(server.requests).toHaveLength(0);
	},
);

describe('secrets', () => {
	const maskedBy = (...headers: readonly IDataObject[]) =>
		readCredential(credential(...headers)).mask;

	test('the token of a value is masked also without its scheme', () => {
		const mask = maskedBy({ name: 'X-Token', value: 'Basic abc012345' });
		expect(mask('you sent abc012345')).toBe('you sent [masked: X-Token]');
	});

	test.each([
		['X-Tenant', undefined, true],
		['X-Tenant', true, true],
		['X-Api-Key', false, false],
	])('the value of %s with Secret: %s', (name, secret, isMasked) => {
		const mask = maskedBy({
			name,
			value: 'marketing',
			...(secret !== undefined && { secret }),
		});
		const text = `Ask the ${isMasked ? `[masked: ${name}]` : 'marketing'} team`;
		expect(mask('Ask the marketing team')).toBe(text);
	});

	/** The value of a header in what the service answers well. */
	const ID = 'marketing-0001';
	const TASK = { task_id: ID, status: 'queued', model: 'video-m1' };
	const ANSWERS = {
		createVideo: [body(TASK)],
		waitForVideo: [
			body({
				...TASK,
				task_id: 'task-1',
				status: 'completed',
				video_url: `https://x.example/${ID}`,
			}),
		],
		chat: [reply(`See ${ID}`, {}, { session_id: ID })],
		chatStreamed: [stream([chunk({ content: `See ${ID}` }, { session_id: ID })])],
		assistantStreamed: [stream([chunk({ content: `See ${ID}` }, { session_id: ID })])],
		model: [reply(`See ${ID}`)],
	};

	test.each(
		Object.keys(ANSWERS).flatMap((id) =>
			[
				{ name: 'X-Author', value: 'marketing' },
				{ name: 'X-Tenant', value: 'marketing', secret: false },
			].map((header) => [id as keyof typeof ANSWERS, header] as const),
		),
	)('%s answered well with the value of the header %j stays as it is', async (id, header) => {
		operation = { ...OPERATIONS[id], answers: ANSWERS[id] };
		const { items, error } = await withFakeTimers(
			async () => await operation.run({ credential: credential(header) }),
		);
		expect(error).toBeUndefined();
		expect(JSON.stringify(items)).toContain(ID);
		expect(JSON.stringify(items)).not.toContain('[masked');
	});
});

test('another value or another header is another account; order and case of the names are not', () => {
	const [tenant, gateway] = [
		{ name: 'X-Tenant', value: 'acme' },
		{ name: 'X-Gateway', value: 'g' },
	];
	const nameOf = (...headers: readonly IDataObject[]) =>
		accountOf(readCredential(credential(...headers)));
	const same = nameOf(tenant, gateway);
	expect(nameOf(gateway, { ...tenant, name: 'x-tenant' })).toBe(same);
	const others = [nameOf(), nameOf(tenant), nameOf({ ...tenant, value: 'other' }, gateway)];
	expect(new Set([same, ...others]).size).toBe(4);
	expect(same).toMatch(/^127\.0\.0\.1:\d+ [\w-]+$/);
});
