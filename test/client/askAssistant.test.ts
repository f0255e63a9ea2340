import { setImmediate } from 'node:timers/promises';

import { completeChat, type CompleteOptions } from '../../nodes/client/chat/completeChat';
import { askAssistant } from '../../nodes/client/chat/sendChat';
import { progressLine, toolCall, toolProgressEvents } from '../../nodes/client/chat/toolCalls';
import type { ToolProgressEvent } from '../../nodes/client/chat/types';
import type { ServiceError } from '../../nodes/client/errors';
import type { JsonObject } from '../../nodes/client/json';
import type { HttpPort } from '../../nodes/client/ports';
import { startService, type TestService } from '../emulator/support/service';
import { answeringPort, outcomeOf } from '../support/answeringPort';
import { axiosHttp } from '../support/axiosHttp';
import { delta } from '../support/chatPieces';
import { FAILURE } from '../support/failureTexts';
import { fakeClock } from '../support/fakeClock';
import { eventsOf } from '../support/scriptedServer';
import { thorough } from '../support/thorough';

const OPTIONS: CompleteOptions = { stream: true, idleTimeoutMs: 5_000 };
const EMPTY = 'Empty response from the service';
const CUT = 'The stream ended before the reply was complete';
const user = (content: string) => [{ role: 'user', content } as const];

/** A service whose stream of these bytes ends, or breaks. */
const sends = (bytes: Uint8Array, breaks = false) => {
	const pieces = function* () {
		yield bytes;
		if (breaks) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
	};
	return answeringPort(pieces(), 'text/event-stream; charset=utf-8');
};

/** Works with an emulator, which sleeps between chunks: its time passes until the work is done. */
async function withEmulator<T>(begin: (emulator: TestService) => Promise<T>): Promise<T> {
	const emulator = await startService();
	const { clock, journal } = emulator;
	const work = begin(emulator);
	const state = { done: false };
	void work.finally(() => (state.done = true)).catch(() => undefined);
	try {
		while (!state.done && journal.of('/v1/chat/completions').length === 0) await setImmediate();
		while (!state.done) {
			await clock.advance(1_000);
			await setImmediate();
		}
		return await work;
	} finally {
		await emulator.stop();
	}
}

describe('a super assistant', () => {
	const tool = { arguments: { query: 'café “n8n”' } };
	const ran = { ...tool, result: '3 pages', status: 'success', elapsed: '1.2s' };
	const STARTED = {
		session_id: 's-1',
		extension: { type: 'tool_start', data: { tool: 'web_search', ...tool } },
	};
	const FINISHED = {
		extension: { type: 'tool_calls', data: { tool_calls: [{ name: 'web_search', ...ran }] } },
	};
	const PROGRESS = [
		{ type: 'tool_start', tool: 'web_search', ...tool, offset_ms: 0 },
		{ type: 'tool_calls', tool: 'web_search', ...ran, offset_ms: 0 },
	];
	/** The executed tool in the form of a body that is not streamed. */
	const RAN = {
		tool_calls: [toolCall('call_1', 'web_search', JSON.stringify(tool.arguments))],
		tool_results: [{ tool_call_id: 'call_1', content: '3 pages' }],
	};
	const HALF = Buffer.from(eventsOf([STARTED, FINISHED, delta({ content: 'Found 3 pages' })]));

	const ask = async (http: HttpPort, clock = fakeClock()) =>
		await askAssistant(http, { app_code: 'a', messages: user('Hi') }, OPTIONS, clock);

	test('a stream with only tool progress is an empty reply', async () => {
		const stream = Buffer.from(eventsOf([STARTED, FINISHED, '[DONE]']));
		expect(await ask(sends(stream))).toStrictEqual({
			...{ session_id: 's-1', events: PROGRESS },
			choices: [
				{
					index: 0,
					message: { role: 'assistant', content: '', ...RAN },
					finish_reason: null,
				},
			],
		});
	});

	test.each([
		[
			598,
			'the limit of the service',
			'The assistant exceeded the 600-second limit of the service',
		],
		[590, 'what it is', CUT],
	])('a disconnect after %d s is reported as %s', async (seconds, _as, message) => {
		const clock = fakeClock();
		const offset_ms = seconds * 1_000;
		const late: HttpPort = async (request) => {
			await clock.sleep(offset_ms);
			return await sends(HALF)(request);
		};
		await expect(ask(late, clock)).rejects.toMatchObject({
			message,
			details: { partial: { events: [{ offset_ms }, { offset_ms }] } },
		});
	});

	test('a call of almost 600 seconds succeeds, although the service is idle most of the time', async () => {
		const request = { app_code: 'demo-assistant', messages: user('Work on it: slow-599') };
		const { events, choices } = await withEmulator(
			async ({ url, clock }) =>
				await askAssistant(axiosHttp(url, 'demo-key'), request, OPTIONS, clock),
		);
		const [, finished] = events as ToolProgressEvent[];
		expect(finished!.offset_ms).toBeGreaterThanOrEqual(599_000);
		expect(finished).toMatchObject({ status: 'success', elapsed: '599.0s' });
		expect(choices[0]!.finish_reason).toBe('stop');
	});
});

describe('tool progress', () => {
	test('one chunk can report several tools', () => {
		const data = { tool_calls: [{ name: 'a', result: { n: 1 } }, { name: 'b' }, 'odd'] };
		expect(toolProgressEvents({ type: 'tool_calls', data })).toStrictEqual([
			{ type: 'tool_calls', tool: 'a', result: '{"n":1}' },
			{ type: 'tool_calls', tool: 'b' },
		]);
	});

	test.each<[JsonObject, object?]>([
		[{ type: 'thinking', data: { a: 1 } }],
		[{ type: 'tool_start' }, { type: 'tool_start', data: null }],
		[{ type: 'constructor', data: {} }],
		[{}, { type: '', data: null }],
	])(
		'%j is kept, although the specification does not list it',
		(extension, event = extension) => {
			expect(toolProgressEvents(extension)).toStrictEqual([event]);
		},
	);

	const start = { type: 'tool_start', tool: 'clock', offset_ms: 0 };
	const end = { type: 'tool_calls', tool: 'clock', offset_ms: 0 };
	const [long, lines] = ['x'.repeat(500), `bad\n\n${'y'.repeat(200_000)}`];
	test.each([
		[{ ...start, arguments: { a: 'café “n8n”' } }, /^Running clock: \{"a":"café “n8n”"\}$/],
		[{ ...start, arguments: {} }, /^Running clock$/],
		[{ ...start, arguments: { text: long } }, /^Running clock: .{120}…$/],
		[{ ...end, status: 'success', elapsed: '1.2s' }, /^Finished clock in 1.2s$/],
		[{ ...end, status: 'failed' }, /^clock: failed$/],
		[
			{ ...end, tool: `find\n\n# A heading ${long}`, status: lines },
			/^find # A heading x{1,120}…: bad y{1,150}…$/,
		],
		[{ type: 'other', offset_ms: 0 }, /^$/],
		[{ type: 'constructor', offset_ms: 0 }, /^$/],
	])('is one short line: row %#', (event, line) => {
		expect(progressLine(event)).toMatch(line);
	});
});

const TOOL = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };
/** The requests whose streams are cut. */
const REQUESTS = {
	chat: { messages: user('Hello – naïve 🌄?'), reasoning_effort: 'low' },
	'tool calls': { messages: user('Weather?'), tools: [TOOL], tool_choice: 'required' },
	assistant: { messages: user('Search the web for lakes'), app_code: 'demo-assistant' },
} as const;

/** The complete stream that the emulated service sends for a request. */
async function record(request: object): Promise<Buffer> {
	const body = { ...request, stream: true, stream_options: { include_usage: true } };
	const received = await withEmulator(async (emulator) => {
		const response = await emulator.send('/v1/chat/completions', body);
		return await response.arrayBuffer();
	});
	return Buffer.from(received);
}

/** What the events that end before this place say. */
function eventsBefore(stream: Buffer, at: number) {
	let end = 0;
	const chunks: Chunk[] = [];
	for (const event of stream.toString().split('\n\n')) {
		const endOfJson = end + Buffer.byteLength(event);
		if (endOfJson > at) break;
		if (event.startsWith('data: {')) chunks.push(JSON.parse(event.slice(6)) as Chunk);
		end = endOfJson + 2;
	}
	const choices = chunks.flatMap(({ choices: all = [] }) => all);
	return {
		isFinished: choices.some(({ finish_reason: reason }) => typeof reason === 'string'),
		text: choices.map(({ delta }) => delta.content ?? '').join(''),
		sessionId: chunks.find(({ session_id: id }) => typeof id === 'string')?.session_id,
		progress: chunks.filter(({ extension }) => extension !== undefined).length,
	};
}

interface Chunk {
	readonly session_id?: string;
	readonly extension?: object;
	readonly choices?: readonly {
		readonly delta: { readonly content?: string };
		readonly finish_reason?: string | null;
	}[];
}

const outcome = async (kind: keyof typeof REQUESTS, http: HttpPort) =>
	await outcomeOf(
		kind === 'assistant'
			? askAssistant(http, REQUESTS[kind], OPTIONS, fakeClock())
			: completeChat(http, REQUESTS[kind], OPTIONS),
	);

describe.each(Object.keys(REQUESTS) as (keyof typeof REQUESTS)[])('a stream of %s', (kind) => {
	let stream: Buffer;
	beforeAll(async () => {
		stream = await record(REQUESTS[kind]);
	});

	test('is recorded whole', async () => {
		const { isFinished } = eventsBefore(stream, stream.length);
		expect(isFinished).toBe(true);
		expect(stream.toString()).toMatch(/\n\ndata: \[DONE\]\n\n$/);
		expect(await outcome(kind, sends(stream))).toMatchObject({ choices: [{}] });
	});

	test.each([
		['ends', false],
		['breaks', true],
	])('that %s at any byte is a reply or says so', async (_name, breaks) => {
		const seen: unknown[] = [];
		const expected: unknown[] = [];
		const whole = await outcome(kind, sends(stream));
		// Around the end of each line, and at every seventh byte.
		const isTried = (at: number) =>
			at % 7 === 0 || stream.subarray(at - 1, at + 2).includes(10);
		for (let at = 0; at <= stream.length; at++) {
			if (!thorough(isTried(at), true)) continue;
			// An event ends with an empty line, or with the end of the stream.
			const arrived = eventsBefore(stream, breaks ? at - 2 : at);
			const { isFinished, text, sessionId, progress } = arrived;
			const result = await outcome(kind, sends(stream.subarray(0, at), breaks));
			if (isFinished) {
				seen.push([at, result]);
				expected.push([at, whole]);
				continue;
			}
			const { message, details } = result as unknown as ServiceError;
			const { partial, subject } = details;
			const choices = partial?.['choices'] as { message: { content?: string } }[] | undefined;
			seen.push({
				at,
				message,
				text: choices?.[0]?.message.content ?? '',
				sessionId: subject?.['session_id'],
				progress: (partial?.['events'] as object[] | undefined)?.length ?? 0,
				mayBeCharged: details.outcomeUnknown,
			});
			expected.push({
				at,
				message: breaks ? FAILURE.lost : at === 0 ? EMPTY : CUT,
				text,
				sessionId,
				progress,
				mayBeCharged: true,
			});
		}
		expect(seen).toStrictEqual(expected);
	});
});
