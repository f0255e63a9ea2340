import type { ServerResponse } from 'node:http';

import type { IDataObject } from 'n8n-workflow';

import { runNode, type RunResult } from '../support/engine';
import { withFakeTimers, type FakeTime } from '../support/fakeTimers';
import { json, serverForEach, type Script } from '../support/scriptedServer';
import { FAILURE } from '../support/failureTexts';

let script: Script;
let time: FakeTime;

const server = serverForEach((...args) => {
	script(...args);
});

/** Each node that sends paid calls, with its smallest form. */
const NODES: readonly [string, IDataObject][] = [
	['chatCompletion', { prompt: 'Hi' }],
	['functionCallingAgent', { prompt: 'Hi' }],
	['superAssistant', { appCode: 'a', message: 'Hi' }],
	['createVideo', { prompt: 'Hi' }],
];
const LIMIT = { timeout: 100 };

interface Ended extends RunResult {
	/** Duration in fake milliseconds. */
	readonly ms: number;
}

/** Runs a node in fake time. */
async function run(
	name: string,
	parameters: IDataObject,
	options: IDataObject = LIMIT,
): Promise<Ended> {
	return await withFakeTimers(async (fakeTime) => {
		time = fakeTime;
		const result = await runNode(name, {
			credential: { baseUrl: server.url, apiKey: 'k' },
			parameters: { ...parameters, options },
		});
		return { ...result, ms: time.passedMs() };
	});
}

/** Sends the bytes, then a piece every 7 seconds for an hour. */
function drip(response: ServerResponse, first: string, piece: string): void {
	time.hold(response);
	const next = (bytes: string) => {
		if (response.destroyed || time.passedMs() > 3_600_000) {
			response.destroy();
			return;
		}
		response.socket!.write(bytes);
		setTimeout(() => {
			next(piece);
		}, 7_000);
	};
	next(first);
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n';
const event = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;
const HALF = event({
	session_id: 'session-1',
	choices: [{ index: 0, delta: { content: 'Half' } }],
});

const factsOf = ({ error }: RunResult) =>
	(error as unknown as { readonly context: { readonly data: IDataObject } }).context.data;

describe.each(NODES)('%s', (name, parameters) => {
	test.each([
		[
			'a body',
			`${HEAD}\r\n`,
			' ',
			'The call exceeded its Timeout of 100 seconds',
			'Timeout under Options',
			'deadline',
		],
		// Headers that are not complete are no response yet.
		['headers', HEAD, 'x', FAILURE.silent, 'raise Timeout under Options', 'network'],
	])(
		'ends %s that never ends, to the second',
		async (_what, first, piece, message, advice, kind) => {
			script = (response) => {
				drip(response, first, piece);
			};
			const ended = await run(name, parameters, LIMIT);
			expect(ended.error?.message).toContain(message);
			expect(ended.error?.description).toContain(advice);
			expect(factsOf(ended)).toMatchObject({ kind, outcome_unknown: true });
			expect(ended.ms).toBe(100_000);
			expect(server.requests).toHaveLength(1);
		},
	);

	test('counts the wait for the headers', async () => {
		script = (response) => {
			time.hold(response);
			setTimeout(() => {
				drip(response, `${HEAD}\r\n`, ' ');
			}, 59_000);
		};
		expect((await run(name, parameters)).ms).toBe(100_000);
	});

	test('counts the pauses before retries', async () => {
		script = (response, _request, index) => {
			if (index === 0) json(response, 429, {}, { 'retry-after': '30' });
			else drip(response, `${HEAD}\r\n`, ' ');
		};
		const ended = await run(name, parameters);
		expect(ended.error?.message).toContain('Timeout of 100 seconds');
		expect(ended.ms).toBe(100_000);
		expect(server.requests).toHaveLength(2);
	});

	test('starts no retry that no time is left for', async () => {
		script = (response) => {
			json(response, 429, {}, { 'retry-after': '30' });
		};
		const ended = await run(name, parameters, { timeout: 20 });
		expect(ended.error?.httpCode).toBe('429');
		expect(ended.ms).toBe(0);
		expect(server.requests).toHaveLength(1);
	});

	test('says so where nothing has arrived', async () => {
		script = (response) => {
			time.hold(response);
		};
		const ended = await run(name, parameters);
		expect(ended.error?.message).toContain(FAILURE.silent);
		expect(ended.ms).toBe(100_000);
	});

	test('a value that is none is refused by its name', async () => {
		const { error } = await run(name, parameters, { timeout: '={{ "soon" }}' });
		expect(error?.message).toBe('Timeout is soon');
		expect(server.requests).toHaveLength(0);
	});
});

test.each(['chatCompletion', 'functionCallingAgent', 'superAssistant'])(
	'%s keeps what had arrived',
	async (name) => {
		script = (response) => {
			drip(response, `${HEAD}\r\n${HALF}`, ': still there\n\n');
		};
		const ended = await run(name, Object.fromEntries(NODES)[name]!);
		expect(ended.ms).toBe(100_000);
		expect(JSON.stringify(factsOf(ended))).toContain('Half');
		expect(JSON.stringify(factsOf(ended))).toContain('session-1');
	},
);

test('a status poll that never ends is named without an option: Wait for Video has none', async () => {
	script = (response) => {
		drip(response, `${HEAD}\r\n`, ' ');
	};
	const { error } = await run('waitForVideo', { taskId: 't' }, { maximumWait: 3 });
	expect(error!.message).toBe(
		'The service took too long to answer a status poll. Retry polls again, free of charge',
	);
	expect(error!.description).not.toContain('under Options');
});

test('a canceled execution is no exceeded limit', async () => {
	let cancel: () => void;
	script = (response) => {
		drip(response, `${HEAD}\r\n`, ' ');
		setTimeout(() => {
			cancel();
		}, 50_000);
	};
	const ended = await withFakeTimers(async (fakeTime) => {
		time = fakeTime;
		const { status } = await runNode('chatCompletion', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			parameters: { prompt: 'Hi', options: LIMIT },
			onStart: (stop) => (cancel = stop),
		});
		return { status, ms: time.passedMs() };
	});
	expect(ended).toStrictEqual({ status: 'canceled', ms: 50_000 });
});
