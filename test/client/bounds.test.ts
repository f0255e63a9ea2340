import { applyChunk, startAccumulator, toCompletion } from '../../nodes/client/chat/accumulator';
import { completeChat, sseDecoder } from '../../nodes/client/chat/completeChat';
import { readToolCall, toolCall } from '../../nodes/client/chat/toolCalls';
import { ServiceError } from '../../nodes/client/errors';
import { errorDetails, excerpt, messageOf } from '../../nodes/client/http/request';
import { exceededBound, MAX_JSON, parseJson, type JsonValue } from '../../nodes/client/json';
import type { HttpPort } from '../../nodes/client/ports';
import { createVideo, queryTask } from '../../nodes/client/video/tasks';
import { answeringPort } from '../support/answeringPort';
import { seededRandom } from '../support/seededRandom';
import { thorough } from '../support/thorough';

const MANY = 200_000;
const fill = (text: string, length: number) => text.repeat(Math.ceil(length / text.length));

const chat = async (http: HttpPort, stream = false) =>
	await completeChat(
		http,
		{ messages: [{ role: 'user', content: 'Hi' }] },
		{ stream, idleTimeoutMs: 1_000 },
	);
const create = async (http: HttpPort) =>
	await createVideo(http, { model: 'video-m1', prompt: 'A lake' }, 1_000);

describe('a stream', () => {
	const MEGABYTE = Buffer.alloc(1024 * 1024, 'a');
	/** Reads the events of a stream, and counts the megabytes in them. */
	const decode = (before: string, after: string) => {
		const decoder = sseDecoder();
		let count = 0;
		const work = () => {
			for (; count < 200; count++)
				for (const piece of [Buffer.from(before), MEGABYTE, Buffer.from(after)])
					decoder.feed(piece);
		};
		return { work, count: () => count };
	};

	test('with an event without an end is rejected after eight megabytes', () => {
		const { work, count } = decode('data: ', '');
		const message = 'An event of the stream is too large';
		expect(work).toThrow(expect.objectContaining({ kind: 'protocol', message }) as Error);
		expect(count()).toBe(7);
	});

	test('of many events of one megabyte is accepted, up to 128 megabytes', () => {
		const { work, count } = decode('data: ', '\n\n');
		expect(work).toThrow('The reply is too large');
		expect(count()).toBe(127);
	});

	test('with one event of too many values says so', async () => {
		const list = `[${'0,'.repeat(250_000)}0]`;
		const event = Buffer.from(`data: {"choices":[{"delta":{"content":${list}}}]}\n\n`);
		await expect(chat(answeringPort([event], 'text/event-stream'), true)).rejects.toMatchObject(
			{
				kind: 'protocol',
				message: 'An event of the stream has more than 200,000 values',
			},
		);
	});

	test('with a long answer of many chunks, each with its usage, has few', () => {
		const accumulator = startAccumulator();
		const text = JSON.stringify({
			choices: [{ index: 0, delta: { content: 'word ' } }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		});
		const chunks = thorough(50_000, 100_000);
		for (let at = 0; at < chunks; at++)
			applyChunk(accumulator, JSON.parse(text) as never, text.length);
		expect(toCompletion(accumulator).choices[0]!.message.content).toHaveLength(5 * chunks);
	});

	test('of a body without an end is rejected', async () => {
		await expect(
			chat(answeringPort(Array<Buffer>(1_000).fill(MEGABYTE))),
		).rejects.toMatchObject({
			message: 'The response has more than 16 MB of text',
		});
	});
});

describe('a body', () => {
	const bodyOf = (value: string) => answeringPort([Buffer.from(`{"choices":${value}}`)]);
	test.each([
		['more than 200,000 values', `[${'{},'.repeat(MANY)}{}]`],
		['more than 16 MB of text', `["${'x'.repeat(17 * 2 ** 20)}"]`],
	])('with %s is rejected, and the error says so', async (bound, value) => {
		const unread = { message: `The response has ${bound}`, details: { outcomeUnknown: true } };
		await expect(chat(bodyOf(value))).rejects.toMatchObject(unread);
	});

	test('with too many levels is rejected, and what was paid for may be there', async () => {
		const message = 'The response has more than 100 levels';
		const unread = { kind: 'protocol', message, details: { outcomeUnknown: true } };
		const http = () => bodyOf(`${'['.repeat(101)}${']'.repeat(101)}`);
		await expect(chat(http())).rejects.toMatchObject(unread);
		await expect(queryTask(http(), 'a', 1_000)).rejects.toMatchObject(unread);
		await expect(create(http())).rejects.toMatchObject({
			...unread,
			message: `${message}; the task may have been created`,
		});
	});

	test('that nobody can read leaves the outcome unknown', async () => {
		await expect(create(answeringPort([{ not: 'bytes' } as never]))).rejects.toMatchObject({
			message: 'The response cannot be read; the task may have been created',
			details: { outcomeUnknown: true },
		});
	});
});

describe('__proto__ keys', () => {
	test.each([
		'{"__proto__": {"polluted": true}, "city": "Rome"}',
		'{"\\u005F\\u005fproto\\u005f_": {"polluted": true}, "city": "Rome"}',
		'{"__\\u0070roto__": {"polluted": true}, "city": "Rome"}',
	])('%s: removed, other keys are kept, also in the arguments of a tool call', (text) => {
		const value = parseJson(text) as object;
		expect(Object.keys(value)).toStrictEqual(['city']);
		const copy = Object.assign({}, value) as { polluted?: boolean };
		expect(copy.polluted).toBeUndefined();
		expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
		const tools = [{ type: 'function', function: { name: 'a' } }] as const;
		const read = readToolCall(toolCall('1', 'a', text), tools);
		expect(read).toStrictEqual({ arguments: { city: 'Rome' } });
	});

	test.each([
		['[{"a": {"__proto__": {"x": 1}, "b": 2}}]', [{ a: { b: 2 } }]],
		['{"note": "about __proto__"}', { note: 'about __proto__' }],
	])('%s is read as %j', (text, value) => {
		expect(parseJson(text)).toStrictEqual(value);
	});
});

test.each([
	['<html><script>var a = 1 < 2;</script><p>Login</p></html>', 'Login'],
	['<style media="all">p { }</style >Login', 'Login'],
	['<script>a</scripts>b</script>Login', 'Login'],
	['<SCRIPT>if (1 < 2) {}</SCRIPT> 2 < 3 and 4 > 3', '2 3'],
	['<p>Login</p><script>never ends', 'Login'],
	['a < b', 'a < b'],
])('the excerpt of %j', (page, words) => {
	expect(excerpt(page)).toContain(words);
});

describe('the bounds of JSON', () => {
	const nested = (levels: number, open = '[', close = ']') =>
		`${fill(open, levels * open.length)}1${fill(close, levels * close.length)}`;

	test.each([
		['[', ']'],
		['{"a":', '}'],
		['[{"":', '}]'],
	])('100 levels of %s', (open, close) => {
		const levels = 100 / open.replace(/[^[{]/g, '').length;
		const deepest = nested(levels, open, close);
		expect(JSON.stringify(parseJson(deepest))).toBe(deepest);
		expect(exceededBound(`[${deepest}]`)).toBe('more than 100 levels');
		expect(parseJson(nested(2_000_000, open, close))).toBeUndefined();
	});

	test.each([
		['0', 199_999],
		['{"a":[]}', 99_999],
		['"\\\\",["\\"",0]', 49_999],
	])('200,000 values such as %s', (value, most) => {
		const list = (length: number) => `[${Array(length).fill(value).join(',')}]`;
		expect(exceededBound(list(most))).toBeUndefined();
		expect(exceededBound(list(most + 1))).toBe('more than 200,000 values');
		expect(parseJson(list(most + 1))).toBeUndefined();
	});

	test('16 MB of text', () => {
		const text = JSON.stringify('x'.repeat(MAX_JSON.characters - 2));
		expect(parseJson(text)).toHaveLength(MAX_JSON.characters - 2);
		expect(exceededBound(`${text} `)).toBe('more than 16 MB of text');
	});

	test('count as an independent walk does, with any quotes and backslashes', () => {
		const random = seededRandom(49);
		const below = (limit: number) => Math.floor(random() * limit);
		const pieces = ['"', '\\', '\\"', '[[[', '{', '}', ']', ',', ':', 'a', '\n', ''];
		const text = () => Array.from({ length: below(6) }, () => pieces[below(12)]!).join('');
		function value(depth: number): JsonValue {
			const kind = below(depth > 0 ? 4 : 2);
			if (kind < 2) return kind === 0 ? text() : below(1_000);
			const parts = Array.from({ length: below(4) }, () => value(depth - 1));
			return kind === 2 ? parts : Object.fromEntries(parts.map((part) => [text(), part]));
		}
		const size = (part: JsonValue | undefined): [values: number, levels: number] => {
			if (typeof part !== 'object' || part === null) return [1, 0];
			const sizes = Object.values(part).map(size);
			const values = sizes.reduce((sum, [each]) => sum + each, 1);
			return [values, 1 + Math.max(0, ...sizes.map(([, levels]) => levels))];
		};
		for (let round = 0; round < thorough(8, 50); round++) {
			const part = value(6);
			const [values, levels] = size(part);
			const json = JSON.stringify(part);
			// As many as fit, and one more.
			const copies = Math.floor((MAX_JSON.values - 1) / values);
			const rest = MAX_JSON.values - 1 - copies * values;
			const all = [...Array<string>(copies).fill(json), ...Array<string>(rest).fill('0')];
			expect(exceededBound(`[${all.join(',')}]`)).toBeUndefined();
			expect(exceededBound(`[0,${all.join(',')}]`)).toBe('more than 200,000 values');
			const outer = 100 - levels;
			expect(exceededBound(fill('[', outer) + json + fill(']', outer))).toBeUndefined();
			expect(exceededBound(fill('[', outer + 1) + json + fill(']', outer + 1))).toBe(
				'more than 100 levels',
			);
		}
	});
});

test('texts of the service in an error have a limit', () => {
	const text = fill('long ', MANY);
	const read = errorDetails({ error: { message: text, type: text }, trace_id: text });
	const { details } = new ServiceError('http', 'm', 'tryLater', read);
	expect(details.serviceMessage!.length).toBeLessThanOrEqual(2_001);
	expect(details.serviceType!.length).toBeLessThanOrEqual(201);
	expect(details.traceId!.length).toBeLessThanOrEqual(201);
});

test.each([
	[{ error: { message: 'm' } }, true],
	[{ error: 'm' }, true],
	[{ trace_id: 't' }, true],
	[{ message: 'm' }, undefined],
	[{ error: true }, undefined],
	[[], undefined],
	['error', undefined],
	[undefined, undefined],
])('%j: is it the form of the service?', (body, expected) => {
	expect(errorDetails(body).isServiceForm).toBe(expected);
});

describe('the words of an error', () => {
	const loc = ['body', 'messages', 0, 'role'];
	test.each([
		[{ message: 'a' }, 'a'],
		[{ error_message: 'a', message: 'b' }, 'a'],
		[{ error: { message: 'a' }, message: 'Bad Request' }, 'a'],
		[{ error: 'Bad Request', message: ['a', 'b'] }, 'a; b'],
		[{ error: 'a' }, 'a'],
		[{ detail: [{ loc, msg: 'field required' }] }, 'body.messages.0.role: field required'],
		[{ detail: [{ loc: ['query'], msg: 'a' }, { msg: 'b' }] }, 'query: a; b'],
		[{ message: 'Provider error', metadata: { raw: 'upstream' } }, 'Provider error: upstream'],
		[{ message: 'a', metadata: { raw: { error: 'b' } } }, 'a: {"error":"b"}'],
		[{ metadata: { raw: 'upstream' } }, 'upstream'],
		[{ fail_reason: 'a' }, 'a'],
		[{ message: ' ', code: 'x' }, undefined],
		[{ message: { text: 'a' } }, undefined],
		[{}, undefined],
	])('%j: %j', (fields, words) => {
		expect(messageOf(fields)).toBe(words);
	});
});
