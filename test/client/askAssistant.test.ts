import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

import { startEmulator } from '../../emulator/startEmulator';
import { askAssistant } from '../../nodes/client/chat/sendChat';
import type { CompleteOptions } from '../../nodes/client/chat/completeChat';
import { progressLine, toolProgressEvents } from '../../nodes/client/chat/toolCalls';
import type { ToolProgressEvent } from '../../nodes/client/chat/types';
import type { ServiceError } from '../../nodes/client/errors';
import { axiosHttp } from '../support/axiosHttp';
import { serverForEach, type Script } from '../support/scriptedServer';
import { fakeClock } from '../support/fakeClock';

const ARGUMENTS = { query: 'café “n8n”' };
const STARTED = {
	session_id: 's-1',
	extension: { type: 'tool_start', data: { tool: 'web_search', arguments: ARGUMENTS } },
};
const FINISHED = {
	extension: {
		type: 'tool_calls',
		data: {
			tool_calls: [
				{
					name: 'web_search',
					arguments: ARGUMENTS,
					result: '3 pages',
					status: 'success',
					elapsed: '1.2s',
				},
			],
		},
	},
};
const text = (content: string) => ({ choices: [{ index: 0, delta: { content } }], model: 'm-1' });
const END = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
const stream = (chunks: readonly object[]) =>
	chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');

const PROGRESS = [
	{ type: 'tool_start', tool: 'web_search', arguments: ARGUMENTS, offset_ms: 0 },
	{
		type: 'tool_calls',
		tool: 'web_search',
		arguments: ARGUMENTS,
		result: '3 pages',
		status: 'success',
		elapsed: '1.2s',
		offset_ms: 0,
	},
];

/** The executed tool in the form of a body that is not streamed. */
const RAN = {
	tool_calls: [
		{
			id: 'call_1',
			type: 'function',
			function: { name: 'web_search', arguments: JSON.stringify(ARGUMENTS) },
		},
	],
	tool_results: [{ tool_call_id: 'call_1', content: '3 pages' }],
};

let script: Script;

const server = serverForEach((...args) => {
	script(...args);
});

const OPTIONS: CompleteOptions = { stream: true, idleTimeoutMs: 5_000 };

const REQUEST = { app_code: 'a', messages: [{ role: 'user', content: 'Hi' } as const] };

async function ask(options: Partial<CompleteOptions> = {}, clock = fakeClock()) {
	const http = axiosHttp(server.url, 'key');
	return await askAssistant(http, REQUEST, { ...OPTIONS, ...options }, clock);
}

const failure = async (...args: Parameters<typeof ask>) =>
	await ask(...args).then(
		() => {
			throw new Error('the call succeeded');
		},
		(error: unknown) => error as ServiceError,
	);

/** Responds with the bytes, then ends or breaks the connection. */
const sends =
	(bytes: Buffer, { breaks = false } = {}): Script =>
	(response) => {
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		response.write(bytes);
		if (breaks) setTimeout(() => response.destroy(), 50);
		else response.end();
	};

const WHOLE = Buffer.from(
	`${stream([STARTED, FINISHED, text('Found 3 pages – '), text('naïve ones.'), END])}data: [DONE]\n\n`,
);

test.each([1, 2, 3, 7, 64])(
	'text and tool progress are parsed from chunks of %d bytes',
	async (size) => {
		const pieces = Array.from({ length: Math.ceil(WHOLE.length / size) }, (_, index) =>
			WHOLE.subarray(index * size, (index + 1) * size),
		);
		const http = () =>
			Promise.resolve({ status: 200, headers: {}, body: Readable.from(pieces) });
		const seen: (string | ToolProgressEvent)[] = [];
		const onDelta: CompleteOptions['onDelta'] = ({ content, progress }) => {
			seen.push(...progress, ...(content === '' ? [] : [content]));
		};
		const options = { ...OPTIONS, onDelta };
		const { events, ...completion } = await askAssistant(http, REQUEST, options, fakeClock());
		expect(events).toStrictEqual(PROGRESS);
		expect(seen).toMatchObject([
			{ type: 'tool_start' },
			{ type: 'tool_calls' },
			'Found 3 pages – ',
			'naïve ones.',
		]);
		expect(completion).toStrictEqual({
			session_id: 's-1',
			model: 'm-1',
			choices: [
				{
					index: 0,
					message: {
						role: 'assistant',
						content: 'Found 3 pages – naïve ones.',
						...RAN,
					},
					finish_reason: 'stop',
				},
			],
		});
	},
);

test('a stream with only tool progress is an empty reply', async () => {
	script = sends(Buffer.from(`${stream([STARTED, FINISHED])}data: [DONE]\n\n`));
	const { choices, events } = await ask();
	expect(choices).toStrictEqual([
		{
			index: 0,
			message: { role: 'assistant', content: '', ...RAN },
			finish_reason: null,
		},
	]);
	expect(events).toStrictEqual(PROGRESS);
});

test('a stream with only [DONE] is an empty response', async () => {
	script = sends(Buffer.from('data: [DONE]\n\n'));
	expect(await failure()).toMatchObject({
		kind: 'protocol',
		message: 'Empty response from the service',
	});
});

describe('a call that fails in the stream keeps what had arrived', () => {
	const half = WHOLE.subarray(0, WHOLE.indexOf('naïve'));

	test.each([
		['connection closed in the middle of an event', {}],
		['connection reset in the middle of an event', { breaks: true }],
	])('%s', async (_name, options) => {
		script = sends(half, options);
		const { details } = await failure();
		expect(details).toMatchObject({
			partial: {
				session_id: 's-1',
				choices: [{ message: { content: 'Found 3 pages – ' } }],
				events: PROGRESS,
			},
			subject: { session_id: 's-1' },
		});
	});

	test.each([
		[
			598,
			'the limit of the service',
			'The assistant exceeded the 600-second limit of the service',
		],
		[590, 'what it is', 'The stream ended before the reply was complete'],
	])('a disconnect after %d s is reported as %s', async (seconds, _as, message) => {
		const clock = fakeClock();
		const offset_ms = seconds * 1_000;
		script = (response, request, index) => {
			void clock.sleep(offset_ms);
			sends(half)(response, request, index);
		};
		expect(await failure({}, clock)).toMatchObject({
			message,
			details: { partial: { events: [{ offset_ms }, { offset_ms }] } },
		});
	});
});

test('a call of almost 600 seconds succeeds, although the service is idle most of the time', async () => {
	const emulator = await startEmulator({ clock: 'virtual' });
	try {
		const { clock, journal } = emulator;
		const asked = askAssistant(
			axiosHttp(emulator.url, 'demo-key'),
			{
				app_code: 'demo-assistant',
				messages: [{ role: 'user', content: 'Work on it: slow-599' }],
			},
			OPTIONS,
			clock,
		);
		while (journal.of('/v1/chat/completions').length === 0) await setImmediate();
		const ticking = { done: false };
		void asked.finally(() => (ticking.done = true)).catch(() => undefined);
		// The emulator sleeps between chunks: advance its clock until the reply is complete.
		while (!ticking.done) {
			await clock.advance(1_000);
			await setImmediate();
		}
		const { events, choices } = await asked;
		const [, finished] = events as ToolProgressEvent[];
		expect(finished!.offset_ms).toBeGreaterThanOrEqual(599_000);
		expect(finished).toMatchObject({ status: 'success', elapsed: '599.0s' });
		expect(choices[0]!.finish_reason).toBe('stop');
	} finally {
		await emulator.stop();
	}
});

describe('tool progress events', () => {
	test('one chunk can report several tools', () => {
		const data = { tool_calls: [{ name: 'a', result: { n: 1 } }, { name: 'b' }, 'odd'] };
		expect(toolProgressEvents({ type: 'tool_calls', data })).toStrictEqual([
			{ type: 'tool_calls', tool: 'a', result: '{"n":1}' },
			{ type: 'tool_calls', tool: 'b' },
		]);
	});

	test.each([
		[
			{ type: 'thinking', data: { a: 1 } },
			{ type: 'thinking', data: { a: 1 } },
		],
		[{ type: 'tool_start' }, { type: 'tool_start', data: null }],
		[
			{ type: 'constructor', data: {} },
			{ type: 'constructor', data: {} },
		],
		[{}, { type: '', data: null }],
	])('%j is kept, although the specification does not list it', (extension, event) => {
		expect(toolProgressEvents(extension)).toStrictEqual([event]);
	});
});

test.each([
	[PROGRESS[0]!, 'Running web_search: {"query":"café “n8n”"}'],
	[{ type: 'tool_start', tool: 'clock', arguments: {}, offset_ms: 0 }, 'Running clock'],
	[PROGRESS[1]!, 'Finished web_search in 1.2s'],
	[{ type: 'tool_calls', tool: 'clock', status: 'failed', offset_ms: 0 }, 'clock: failed'],
	[{ type: 'other', offset_ms: 0 }, ''],
])('the progress line of %j is %s', (event, line) => {
	expect(progressLine(event)).toBe(line);
});

test('long arguments are truncated in a progress line', () => {
	const line = progressLine({
		type: 'tool_start',
		tool: 'write',
		arguments: { text: 'x'.repeat(500) },
		offset_ms: 0,
	});
	expect(line).toHaveLength('Running write: '.length + 121);
	expect(line).toMatch(/x…$/);
});
