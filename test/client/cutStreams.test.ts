import { setImmediate } from 'node:timers/promises';

import { startEmulator } from '../../emulator/startEmulator';
import { askAssistant } from '../../nodes/client/chat/sendChat';
import { completeChat } from '../../nodes/client/chat/completeChat';
import { ServiceError } from '../../nodes/client/errors';
import type { HttpPort } from '../../nodes/client/ports';
import { fakeClock } from '../support/fakeClock';
import { FAILURE } from '../support/failureTexts';
import { thorough } from '../support/thorough';

const TOOL = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };
const user = (content: string) => [{ role: 'user', content } as const];

/** The requests whose streams are cut. */
const REQUESTS = {
	chat: { messages: user('Hello – naïve 🌄?'), reasoning_effort: 'low' },
	'tool calls': { messages: user('Weather?'), tools: [TOOL], tool_choice: 'required' },
	assistant: { messages: user('Search the web for lakes'), app_code: 'demo-assistant' },
} as const;

const OPTIONS = { stream: true, idleTimeoutMs: 5_000 };

/** The complete stream that the emulated service sends for a request. */
async function record(request: object): Promise<Buffer> {
	const emulator = await startEmulator({ clock: 'virtual' });
	const { url, clock } = emulator;
	try {
		const body = { ...request, stream: true, stream_options: { include_usage: true } };
		const state = { done: false };
		const received = fetch(`${url}/v1/chat/completions`, {
			method: 'POST',
			headers: { authorization: 'Bearer demo-key', 'content-type': 'application/json' },
			body: JSON.stringify(body),
		})
			.then(async (response) => Buffer.from(await response.arrayBuffer()))
			.finally(() => (state.done = true));
		while (!state.done) {
			await clock.advance(1_000);
			await setImmediate();
		}
		return await received;
	} finally {
		await emulator.stop();
	}
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
		hasChoices: choices.length > 0,
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

/** A service whose stream ends, or breaks, after these bytes. */
const sends =
	(bytes: Uint8Array, breaks: boolean): HttpPort =>
	() =>
		Promise.resolve({
			status: 200,
			headers: { 'content-type': 'text/event-stream; charset=utf-8' },
			body: (async function* () {
				await Promise.resolve();
				yield bytes;
				if (breaks) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
			})(),
		});

async function outcome(kind: keyof typeof REQUESTS, http: HttpPort) {
	const request = REQUESTS[kind];
	const sent =
		kind === 'assistant'
			? askAssistant(http, request, OPTIONS, fakeClock())
			: completeChat(http, request, OPTIONS);
	return await sent.catch((error: unknown) => {
		if (error instanceof ServiceError) return error;
		throw error;
	});
}

const EMPTY = 'Empty response from the service';
const CUT = 'The stream ended before the reply was complete';

describe.each(Object.keys(REQUESTS) as (keyof typeof REQUESTS)[])('a stream of %s', (kind) => {
	let stream: Buffer;
	beforeAll(async () => {
		stream = await record(REQUESTS[kind]);
	});

	test('is recorded whole', async () => {
		const { isFinished } = eventsBefore(stream, stream.length);
		expect(isFinished).toBe(true);
		expect(stream.toString()).toMatch(/\n\ndata: \[DONE\]\n\n$/);
		expect(await outcome(kind, sends(stream, false))).toMatchObject({ choices: [{}] });
	});

	test.each([
		['ends', false],
		['breaks', true],
	])('that %s at any byte is a reply or says so', async (_name, breaks) => {
		const seen: unknown[] = [];
		const expected: unknown[] = [];
		const whole = await outcome(kind, sends(stream, false));
		// Around the end of each line, and at every seventh byte.
		const isTried = (at: number) =>
			at % 7 === 0 || stream.subarray(at - 1, at + 2).includes(10);
		for (let at = 0; at <= stream.length; at++) {
			if (!thorough(isTried(at), true)) continue;
			// An event ends with an empty line, or with the end of the stream.
			const arrived = eventsBefore(stream, breaks ? at - 2 : at);
			const { hasChoices, isFinished, text, sessionId, progress } = arrived;
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
				text: hasChoices ? text : '',
				sessionId: sessionId,
				progress,
				mayBeCharged: true,
			});
		}
		expect(seen).toStrictEqual(expected);
	});
});
