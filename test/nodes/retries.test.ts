import dns from 'node:dns';

import type { IDataObject } from 'n8n-workflow';

import { runNode } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { events, json, serverForEach, type Script } from '../support/scriptedServer';

/** To this address no connection is possible, on no machine. */
const NOWHERE = '255.255.255.255';

let script: Script;

const server = serverForEach((...args) => {
	script(...args);
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

const run = async (
	name: string,
	parameters: IDataObject,
	options: IDataObject = {},
	host = '127.0.0.1',
) =>
	await withFakeTimers(
		async () =>
			await runNode(name, {
				credential: { baseUrl: `http://${host}:${server.port}`, apiKey: 'k' },
				parameters: { ...parameters, options },
			}),
	);

const answerWell: Script = (response, { path }) => {
	json(response, 200, path.startsWith('/v1/chat') ? REPLY : TASK);
};

/** Answers the first call with the status and a Retry-After of 0, then with success. */
const failFirst =
	(status: number): Script =>
	(response, request, index) => {
		if (index === 0) {
			json(response, status, { error: { message: 'no' } }, { 'retry-after': '0' });
		} else answerWell(response, request, index);
	};

afterEach(() => {
	jest.restoreAllMocks();
});

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

	test(`503 is ${retriesUnknown ? '' : 'not '}retried with Retry If Outcome Is Unknown`, async () => {
		script = failFirst(503);
		await run(name, parameters, { retryOutcomeUnknown: true });
		expect(server.requests).toHaveLength(retriesUnknown ? 2 : 1);
	});

	test.each([
		['the network has no way to it', [NOWHERE]],
		['it is at none of the addresses of its name', [NOWHERE, NOWHERE]],
	])('a service is tried again if %s', async (_why, addresses) => {
		const calls = jest.spyOn(dns, 'lookup').mockImplementation(((
			_name: string,
			options: { all?: boolean },
			done: (error: null, ...found: unknown[]) => void,
		) => {
			const now = calls.mock.calls.length === 1 ? addresses : ['127.0.0.1'];
			const found = now.map((address) => ({ address, family: 4 }));
			process.nextTick(() => {
				if (options.all === true) done(null, found);
				else done(null, now[0], 4);
			});
		}) as unknown as typeof dns.lookup);
		script = answerWell;
		const { status, error } = await run(name, parameters, {}, 'service.example');
		expect([status, error?.message, calls.mock.calls.length]).toStrictEqual([
			'success',
			undefined,
			2,
		]);
	});

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
		const { chunks } = await withFakeTimers(
			async () =>
				await runNode(name, {
					credential: { baseUrl: server.url, apiKey: 'k' },
					streaming: true,
					parameters: { prompt: 'Hi', options: { retryOutcomeUnknown: true } },
				}),
		);
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
