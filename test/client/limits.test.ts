import { Readable } from 'node:stream';

import { applyChunk, startAccumulator, toCompletion } from '../../nodes/client/chat/accumulator';
import { completeChat } from '../../nodes/client/chat/completeChat';
import { sseDecoder } from '../../nodes/client/chat/sseDecoder';
import { readToolCall } from '../../nodes/client/chat/toolArguments';
import { parseJson } from '../../nodes/client/json';
import type { HttpPort } from '../../nodes/client/ports';

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

test('an event that never ends is given up after eight megabytes', async () => {
	let taken = 0;
	function* counted() {
		yield Buffer.from('data: ');
		for (const piece of megabytes(1_000)) {
			taken++;
			yield piece;
		}
	}
	await expect(count(counted())).rejects.toMatchObject({
		kind: 'protocol',
		message: 'An event of the stream is too large',
	});
	// The stream reads a few pieces ahead.
	expect(taken).toBeLessThan(40);
});

test('many events of a megabyte pass, up to the limit of a reply', async () => {
	expect(await count(megabytes(20, 'data: ', '\n\n'))).toBe(20);
	await expect(count(megabytes(200, 'data: ', '\n\n'))).rejects.toMatchObject({
		message: 'The reply is too large',
	});
});

test('a body without end is given up', async () => {
	const http: HttpPort = () =>
		Promise.resolve({ status: 200, headers: {}, body: Readable.from(megabytes(1_000)) });
	const messages = [{ role: 'user', content: 'Hi' } as const];
	await expect(
		completeChat(http, { messages }, { stream: false, idleTimeoutMs: 1_000 }),
	).rejects.toMatchObject({ message: 'The response is too large' });
});

describe('keys that reach for the prototype', () => {
	const POISON = [
		'{"__proto__": {"polluted": true}, "city": "Rome"}',
		'{"\\u005f_proto__": {"polluted": true}, "city": "Rome"}',
		'{"\\u005F\\u005fproto\\u005f_": {"polluted": true}, "city": "Rome"}',
		'{"__\\u0070roto__": {"polluted": true}, "city": "Rome"}',
	];

	test.each(POISON)('%s: they are gone, the rest is there', (text) => {
		const value = parseJson(text) as object;
		expect(Object.keys(value)).toStrictEqual(['city']);
		const copy = Object.assign({}, value) as { polluted?: boolean };
		expect(copy.polluted).toBeUndefined();
		expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
	});

	test('in a list, and deep within', () => {
		expect(JSON.stringify(parseJson('[{"a": {"__proto__": {"x": 1}, "b": 2}}]'))).toBe(
			'[{"a":{"b":2}}]',
		);
	});

	test.each(POISON)('%s as arguments of a tool call', (text) => {
		const call = {
			id: '1',
			type: 'function' as const,
			function: { name: 'a', arguments: text },
		};
		const read = readToolCall(call, [{ type: 'function', function: { name: 'a' } }]);
		expect(read).toStrictEqual({ arguments: { city: 'Rome' } });
	});

	test('in a chunk of a stream', () => {
		const accumulator = startAccumulator();
		applyChunk(
			accumulator,
			parseJson('{"__proto__": {"model": "evil"}, "choices": []}') as object as never,
		);
		expect(toCompletion(accumulator).model).toBeUndefined();
	});

	test('a text that only names it is left alone', () => {
		expect(parseJson('{"note": "about __proto__"}')).toStrictEqual({ note: 'about __proto__' });
	});
});
