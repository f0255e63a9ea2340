/** Retries, Retry If Outcome Is Unknown and Timeout of each node that sends paid calls. In a live chat: liveChat.test.ts. */
import dns from 'node:dns';

import type { IDataObject } from 'n8n-workflow';

import { fails, bodyOf } from '../support/chatReplies';
import { canceler, runNode, type RunResult } from '../support/engine';
import { FAILURE } from '../support/failureTexts';
import { withFakeTimers, type FakeTime } from '../support/fakeTimers';
import { json, scripted, type Script } from '../support/scriptedServer';

/** To this address no connection is possible, on no machine. */
const NOWHERE = '255.255.255.255';

let time: FakeTime;

const server = scripted();

/** Each node with its smallest form, and whether Retry If Outcome Is Unknown applies within one run. */
const NODES: readonly [string, IDataObject, boolean][] = [
	['chatCompletion', { prompt: 'Hi' }, true],
	['functionCallingAgent', { prompt: 'Hi' }, true],
	['superAssistant', { appCode: 'a', message: 'Hi' }, false],
	['createVideo', { prompt: 'Hi' }, false],
];

/** Runs a node in fake time; `ms` is how long that took. */
async function run(
	name: string,
	parameters: IDataObject,
	options: IDataObject = {},
	host = '127.0.0.1',
) {
	return await withFakeTimers(async (fakeTime) => {
		time = fakeTime;
		const result = await runNode(name, {
			credential: { baseUrl: `http://${host}:${server.port}`, apiKey: 'k' },
			parameters: { ...parameters, options },
		});
		return { ...result, ms: time.passedMs() };
	});
}

const answerWell: Script = (response, { path }) => {
	const task = { task_id: 't-1', status: 'queued', model: 'video-m1' };
	json(response, 200, path.startsWith('/v1/chat') ? bodyOf({ content: 'Hi' }) : task);
};
/** Answers the first call with the status, then another way. */
const failFirst =
	(status: number, retryAfter = 0, then = answerWell): Script =>
	(response, request, index) => {
		if (index > 0) then(response, request, index);
		else fails(status, 'no', { 'retry-after': retryAfter })(response, request, index);
	};

describe.each(NODES)('%s', (name, parameters, retriesUnknown) => {
	test('429 is retried', async () => {
		server.script = failFirst(429);
		const { status } = await run(name, parameters);
		expect([status, server.requests.length]).toStrictEqual(['success', 2]);
		expect(server.requests[1]!.body).toStrictEqual(server.requests[0]!.body);
	});

	test.each([
		[429, { retries: 0 }, 1],
		[503, { retryOutcomeUnknown: true }, retriesUnknown ? 2 : 1],
	])('after %i, with %j, the requests are %i', async (status, options, requests) => {
		server.script = failFirst(status);
		await run(name, parameters, options);
		expect(server.requests).toHaveLength(requests);
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
		server.script = answerWell;
		const { status, error } = await run(name, parameters, {}, 'service.example');
		expect([status, error?.message, calls.mock.calls.length]).toStrictEqual([
			'success',
			undefined,
			2,
		]);
	});
});

test('canceling ends the wait for a retry', async () => {
	const { onStart, cancel } = canceler();
	server.script = (response) => {
		json(response, 429, {}, { 'retry-after': '59' });
		// Within the first second, the slice of a wait after which it looks at the cancellation in any case.
		setTimeout(cancel, 500);
	};
	const credential = { baseUrl: server.url, apiKey: 'k' };
	const more = { credential, parameters: { prompt: 'Hi' }, onStart };
	await withFakeTimers(async ({ passedMs }) => {
		const { status } = await runNode('chatCompletion', more);
		expect([status, passedMs()]).toStrictEqual(['canceled', 500]);
	});
	expect(server.requests).toHaveLength(1);
});

/** Sends the bytes, then a piece every 7 seconds for an hour. */
const drips =
	(first: string, piece = ' '): Script =>
	(response) => {
		time.hold(response);
		const next = (bytes: string) => {
			if (response.destroyed || time.passedMs() > 3_600_000) {
				response.destroy();
				return;
			}
			response.socket!.write(bytes);
			setTimeout(next, 7_000, piece);
		};
		next(first);
	};

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n';
const BODY = `${HEAD}\r\n`;
const LIMIT = { timeout: 100 };
const factsOf = ({ error }: RunResult) =>
	(error as unknown as { readonly context: { readonly data: IDataObject } }).context.data;

/** Answers a while after the request. */
const later =
	(ms: number, then: Script): Script =>
	(...args) => {
		time.hold(args[0]);
		setTimeout(then, ms, ...args);
	};

/** What takes too long, how many requests that is, and whether a response had begun. */
const ENDLESS: readonly [what: string, script: Script, requests: number, begun: boolean][] = [
	['a body', drips(BODY), 1, true],
	// Headers that are not complete are no response yet.
	['headers', drips(HEAD, 'x'), 1, false],
	['a response of which nothing arrives', later(3_600_000, answerWell), 1, false],
	['a body after a wait for its headers', later(59_000, drips(BODY)), 1, true],
	['a body after the pause before a retry', failFirst(429, 30, drips(BODY)), 2, true],
];

describe.each(NODES)('%s', (name, parameters) => {
	test.each(ENDLESS)('ends %s to the second', async (_what, endless, requests, begun) => {
		server.script = endless;
		const ended = await run(name, parameters, LIMIT);
		expect(ended.error?.message).toContain(
			begun ? 'The call exceeded its Timeout of 100 seconds' : FAILURE.silent,
		);
		expect(ended.error?.description).toContain(
			begun ? 'Timeout under Options' : 'raise Timeout under Options',
		);
		const kind = begun ? 'deadline' : 'network';
		expect(factsOf(ended)).toMatchObject({ kind, outcome_unknown: true });
		expect([ended.ms, server.requests.length]).toStrictEqual([100_000, requests]);
	});

	test('starts no retry that no time is left for', async () => {
		server.script = failFirst(429, 30);
		const ended = await run(name, parameters, { timeout: 20 });
		expect(ended.error?.httpCode).toBe('429');
		expect([ended.ms, server.requests.length]).toStrictEqual([0, 1]);
	});
});

test.each(NODES.filter(([name]) => name !== 'createVideo'))(
	'%s keeps what had arrived at its Timeout',
	async (name, parameters) => {
		const choices = [{ index: 0, delta: { content: 'Half' } }];
		const half = JSON.stringify({ session_id: 'session-1', choices });
		server.script = drips(`${BODY}data: ${half}\n\n`, ': still there\n\n');
		const ended = await run(name, parameters, LIMIT);
		expect(ended.ms).toBe(100_000);
		expect(JSON.stringify(factsOf(ended))).toContain('Half');
		expect(JSON.stringify(factsOf(ended))).toContain('session-1');
	},
);

test('a status poll that never ends is named without an option: Wait for Video has none', async () => {
	server.script = drips(BODY);
	const { error } = await run('waitForVideo', { taskId: 't' }, { maximumWait: 3 });
	expect(error!.message).toBe(
		'The service took too long to answer a status poll. Retry polls again, free of charge',
	);
	expect(error!.description).not.toContain('under Options');
});
