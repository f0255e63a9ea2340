import type { IDataObject } from 'n8n-workflow';

import { runNode } from '../support/engine';
import {
	events,
	json,
	startScriptedServer,
	type Script,
	type ScriptedServer,
} from '../support/scriptedServer';

let server: ScriptedServer;
let script: Script;

beforeEach(async () => {
	server = await startScriptedServer((...args) => {
		script(...args);
	});
});
afterEach(async () => {
	await server.stop();
});

const REPLY = {
	choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
};
const TASK = { task_id: 't-1', status: 'queued', model: 'video-m1' };
const DELTA = { choices: [{ index: 0, delta: { content: 'Half' } }] };

/** Each node with paid calls, its smallest form, and whether Retry If Outcome Is Unknown applies within one run. */
const NODES: readonly [string, IDataObject, boolean][] = [
	['chatCompletion', { prompt: 'Hi', streaming: 'off' }, true],
	['functionCallingAgent', { prompt: 'Hi', streaming: 'off' }, true],
	['superAssistant', { appCode: 'a', message: 'Hi', streaming: 'off' }, false],
	['createVideo', { prompt: 'Hi' }, false],
];

const run = async (name: string, parameters: IDataObject, options: IDataObject = {}) =>
	await runNode(name, {
		credential: { baseUrl: server.url, apiKey: 'k' },
		parameters: { ...parameters, options },
	});

/** Answers the first call with the status and a Retry-After of 0, then with success. */
const failFirst =
	(status: number): Script =>
	(response, { path }, index) => {
		if (index === 0) {
			json(response, status, { error: { message: 'no' } }, { 'retry-after': '0' });
		} else json(response, 200, path.startsWith('/v1/chat') ? REPLY : TASK);
	};

describe.each(NODES)('%s', (name, parameters, retriesUnknown) => {
	test('429 is retried', async () => {
		script = failFirst(429);
		const { status } = await run(name, parameters);
		expect({ status, calls: server.requests.length }).toStrictEqual({
			status: 'success',
			calls: 2,
		});
		expect(server.requests[1]!.body).toStrictEqual(server.requests[0]!.body);
	});

	test.each([400, 401, 402, 403, 406, 409])('%i is not retried', async (code) => {
		script = failFirst(code);
		const { status } = await run(name, parameters);
		expect({ status, calls: server.requests.length }).toStrictEqual({
			status: 'error',
			calls: 1,
		});
	});

	test('503 is not retried: its outcome is unknown', async () => {
		script = failFirst(503);
		await run(name, parameters);
		expect(server.requests).toHaveLength(1);
	});

	test(`503 is ${retriesUnknown ? '' : 'not '}retried with Retry If Outcome Is Unknown`, async () => {
		script = failFirst(503);
		await run(name, parameters, { retryOutcomeUnknown: true });
		expect(server.requests).toHaveLength(retriesUnknown ? 2 : 1);
	});

	test.each([
		[429, { message: 'exceeded the rate quota, retry in 10 s' }, 2],
		[503, { message: 'upstream billing timeout' }, retriesUnknown ? 2 : 1],
		[502, { message: 'content-filter sidecar restarting' }, retriesUnknown ? 2 : 1],
		[500, { message: 'model not found in cache' }, retriesUnknown ? 2 : 1],
		[429, { message: 'No', code: 'insufficient_quota' }, 1],
		[403, { message: 'No', type: 'insufficient_user_quota' }, 1],
		[503, { message: 'No', code: 'model_not_found' }, 1],
	])(
		'%i with %j is sent %i times with Retry If Outcome Is Unknown',
		async (code, error, sent) => {
			script = (response, request, index) => {
				if (index > 0) failFirst(code)(response, request, index);
				else json(response, code, { error }, { 'retry-after': '0' });
			};
			await run(name, parameters, { retryOutcomeUnknown: true });
			expect(server.requests).toHaveLength(sent);
		},
	);

	test('retries can be switched off', async () => {
		script = failFirst(429);
		await run(name, parameters, { retries: 0 });
		expect(server.requests).toHaveLength(1);
	});
});

test('canceling ends the wait for a retry', async () => {
	script = (response) => {
		// Longer than a test may take: one that waited for it would fail.
		json(response, 429, {}, { 'retry-after': '59' });
		cancel();
	};
	let cancel: () => void = () => undefined;
	await runNode('chatCompletion', {
		credential: { baseUrl: server.url, apiKey: 'k' },
		parameters: { prompt: 'Hi' },
		onStart: (stop) => {
			cancel = () => setTimeout(stop, 100);
		},
	});
	expect(server.requests).toHaveLength(1);
});

describe.each(['chatCompletion', 'functionCallingAgent'])('%s in a chat that streams', (name) => {
	const live = async () => {
		const { chunks } = await runNode(name, {
			credential: { baseUrl: server.url, apiKey: 'k' },
			streaming: true,
			parameters: { prompt: 'Hi', options: { retryOutcomeUnknown: true } },
		});
		return chunks.flatMap(({ type, content = '' }) => (type === 'item' ? content : []));
	};

	test('does not retry after text was shown', async () => {
		script = (response) => {
			events(response, [DELTA]);
		};
		expect(await live()).toStrictEqual(['Half', ' […]\n\n']);
		expect(server.requests).toHaveLength(1);
	});

	test('retries before any text was shown', async () => {
		script = (response, _request, index) => {
			if (index === 0) {
				response.destroy();
				return;
			}
			const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
			events(response, [DELTA, end, '[DONE]']);
		};
		expect(await live()).toStrictEqual(['Half']);
		expect(server.requests).toHaveLength(2);
	});
});
