import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';

import { applyChunk, startAccumulator, toCompletion } from '../../nodes/client/chat/accumulator';
import { completeChat, sseDecoder } from '../../nodes/client/chat/completeChat';
import { readToolCall } from '../../nodes/client/chat/toolCalls';
import { parseJson } from '../../nodes/client/json';
import type { HttpPort } from '../../nodes/client/ports';
import { createVideo, queryTask } from '../../nodes/client/video/tasks';

const run = promisify(execFile);

const MEGABYTE = Buffer.alloc(1024 * 1024, 'a');

function* megabytes(count: number, before = '', after = '') {
	for (let index = 0; index < count; index++) {
		if (before !== '') yield Buffer.from(before);
		yield MEGABYTE;
		if (after !== '') yield Buffer.from(after);
	}
}

async function count(bytes: Iterable<Buffer>): Promise<number> {
	const decoder = sseDecoder();
	let events = 0;
	for await (const piece of Readable.from(bytes) as AsyncIterable<Buffer>) {
		events += decoder.feed(piece).filter(({ data }) => data.length > 0).length;
	}
	return events;
}

test('an event without an end is rejected after eight megabytes', async () => {
	let consumed = 0;
	function* counted() {
		yield Buffer.from('data: ');
		for (const piece of megabytes(1_000)) {
			consumed++;
			yield piece;
		}
	}
	await expect(count(counted())).rejects.toMatchObject({
		kind: 'protocol',
		message: 'An event of the stream is too large',
	});
	// The stream reads a few chunks ahead.
	expect(consumed).toBeLessThan(40);
});

test('many events of one megabyte are accepted, up to the limit of a stream', async () => {
	expect(await count(megabytes(20, 'data: ', '\n\n'))).toBe(20);
	await expect(count(megabytes(200, 'data: ', '\n\n'))).rejects.toMatchObject({
		message: 'The reply is too large',
	});
});

test('a body without an end is rejected', async () => {
	const http: HttpPort = () =>
		Promise.resolve({ status: 200, headers: {}, body: Readable.from(megabytes(1_000)) });
	const messages = [{ role: 'user', content: 'Hi' } as const];
	await expect(
		completeChat(http, { messages }, { stream: false, idleTimeoutMs: 1_000 }),
	).rejects.toMatchObject({ message: 'The response has more than 16 MB of text' });
});

test.each([
	['more than 200,000 values', `{"choices":[${'{},'.repeat(200_000)}{}]}`],
	['more than 100 levels', `{"choices":${'['.repeat(101)}${']'.repeat(101)}}`],
	['more than 16 MB of text', `{"choices":["${'x'.repeat(17 * 1024 * 1024)}"]}`],
])('a body with %s is rejected, and the error says so', async (bound, text) => {
	const http: HttpPort = () =>
		Promise.resolve({ status: 200, headers: {}, body: Readable.from([Buffer.from(text)]) });
	const message = `The response has ${bound}`;
	const unread = { message, details: { outcomeUnknown: true } };
	const messages = [{ role: 'user', content: 'Hi' } as const];
	const options = { stream: false, idleTimeoutMs: 1_000 };
	await expect(completeChat(http, { messages }, options)).rejects.toMatchObject(unread);
	await expect(queryTask(http, 'a', 1_000)).rejects.toMatchObject(unread);
	const created = createVideo(http, { model: 'video-m1', prompt: 'A lake' }, 1_000);
	await expect(created).rejects.toMatchObject({
		...unread,
		message: `${message}; the task may have been created`,
	});
});
describe('the values of a stream count together, as those of a body', () => {
	test('with a heap of 1.5 GB eight such streams at once end with the bound, and another one is read', async () => {
		const heap = '--max-old-space-size=1536';
		const program = join(__dirname, '../support/readBombs.ts');
		const { stdout } = await run(process.execPath, [heap, '--import', 'tsx', program]);
		const { ordinary, ...bombs } = JSON.parse(stdout) as Record<string, string>;
		expect(ordinary).toBe('Hi');
		expect(Object.keys(bombs)).toHaveLength(8);
		for (const message of Object.values(bombs))
			expect(message).toBe('The reply has more than 200,000 values');
	}, 60_000);

	test('one event with too many says so', async () => {
		const list = `[${'0,'.repeat(250_000)}0]`;
		const event = Buffer.from(`data: {"choices":[{"delta":{"content":${list}}}]}\n\n`);
		const http: HttpPort = () =>
			Promise.resolve({
				status: 200,
				headers: { 'content-type': 'text/event-stream' },
				body: Readable.from([event]),
			});
		const messages = [{ role: 'user', content: 'Hi' } as const];
		await expect(
			completeChat(http, { messages }, { stream: true, idleTimeoutMs: 1_000 }),
		).rejects.toMatchObject({
			kind: 'protocol',
			message: 'An event of the stream has more than 200,000 values',
		});
	});

	test('a long answer of many chunks, each with its usage, has few', () => {
		const accumulator = startAccumulator();
		const text = JSON.stringify({
			choices: [{ index: 0, delta: { content: 'word ' } }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		});
		for (let at = 0; at < 100_000; at++)
			applyChunk(accumulator, JSON.parse(text) as never, text.length);
		expect(toCompletion(accumulator).choices[0]!.message.content).toHaveLength(500_000);
	});
});

describe('a response to a paid request', () => {
	const create = async (body: string | object) => {
		const chunks = typeof body === 'string' ? [Buffer.from(body)] : [body];
		const http: HttpPort = () =>
			Promise.resolve({ status: 200, headers: {}, body: Readable.from(chunks) });
		return await createVideo(http, { model: 'video-m1', prompt: 'A lake' }, 1_000);
	};

	test.each([
		['too many levels', '['.repeat(101) + ']'.repeat(101)],
		['too many values', `[${'0,'.repeat(200_000)}0]`],
		['too much text', JSON.stringify('x'.repeat(16 * 2 ** 20))],
	])('with %s leaves the outcome unknown', async (_name, value) => {
		await expect(create(`{"task_id":"t","x":${value}}`)).rejects.toMatchObject({
			kind: 'protocol',
			details: { outcomeUnknown: true },
		});
	});

	test('that nobody can read leaves the outcome unknown', async () => {
		await expect(create({ not: 'bytes' })).rejects.toMatchObject({
			message: 'The response cannot be read; the task may have been created',
			details: { outcomeUnknown: true },
		});
	});
});

describe('__proto__ keys', () => {
	const POISON = [
		'{"__proto__": {"polluted": true}, "city": "Rome"}',
		'{"\\u005f_proto__": {"polluted": true}, "city": "Rome"}',
		'{"\\u005F\\u005fproto\\u005f_": {"polluted": true}, "city": "Rome"}',
		'{"__\\u0070roto__": {"polluted": true}, "city": "Rome"}',
	];

	test.each(POISON)('%s: removed, other keys are kept', (text) => {
		const value = parseJson(text) as object;
		expect(Object.keys(value)).toStrictEqual(['city']);
		const copy = Object.assign({}, value) as { polluted?: boolean };
		expect(copy.polluted).toBeUndefined();
		expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
	});

	test('are removed from nested values', () => {
		expect(JSON.stringify(parseJson('[{"a": {"__proto__": {"x": 1}, "b": 2}}]'))).toBe(
			'[{"a":{"b":2}}]',
		);
	});

	test.each(POISON)('%s: removed from the arguments of a tool call', (text) => {
		const call = {
			id: '1',
			type: 'function' as const,
			function: { name: 'a', arguments: text },
		};
		const read = readToolCall(call, [{ type: 'function', function: { name: 'a' } }]);
		expect(read).toStrictEqual({ arguments: { city: 'Rome' } });
	});

	test('are removed from a chunk of a stream', () => {
		const accumulator = startAccumulator();
		applyChunk(
			accumulator,
			parseJson('{"__proto__": {"model": "evil"}, "choices": []}') as object as never,
		);
		expect(toCompletion(accumulator).model).toBeUndefined();
	});

	test('a string value that contains __proto__ is kept', () => {
		expect(parseJson('{"note": "about __proto__"}')).toStrictEqual({ note: 'about __proto__' });
	});
});
