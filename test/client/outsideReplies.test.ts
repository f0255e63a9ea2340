import { applyChunk, startAccumulator, toCompletion } from '../../nodes/client/chat/accumulator';
import {
	progressLine,
	readFunction,
	readToolCall,
	readToolCalls,
	toolCall,
} from '../../nodes/client/chat/toolCalls';
import { readMessage } from '../../nodes/client/chat/replyMessage';
import { applyReply, startConversation } from '../../nodes/client/chat/conversation';
import { findMedia } from '../../nodes/client/chat/result';
import { readJsonReply } from '../../nodes/client/chat/sendChat';
import { checkTools } from '../../nodes/client/chat/requestFields';
import type { ChatCompletion, ToolCall } from '../../nodes/client/chat/types';
import { asJson } from '../../nodes/client/json';

const MANY = 200_000;
const reply = (message: Partial<ChatCompletion['choices'][0]['message']>): ChatCompletion => ({
	choices: [{ index: 0, message: { content: null, ...message }, finish_reason: 'stop' }],
});

describe('content in parts', () => {
	const PICTURE = { type: 'image_url', image_url: { url: 'https://a.example/1.png' } };
	test.each([
		['one text part alone', { type: 'text', text: 'Hi' }, { content: 'Hi' }, []],
		['one picture alone', PICTURE, { content: '' }, [PICTURE]],
		[
			'a text and a refusal',
			[{ text: 'Sorry.' }, { refusal: 'I cannot.' }],
			{ content: 'Sorry.', refusal: 'I cannot.' },
			[],
		],
		['a refusal alone', [{ refusal: 'I cannot.' }], { content: '', refusal: 'I cannot.' }, []],
		[
			'a call in the old field beside an empty list',
			'Hi',
			{ content: 'Hi', tool_calls: [{ function: { name: 'f' } }] },
			[],
			{ tool_calls: [], function_call: { name: 'f' } },
		],
		['null among texts', ['a', null, 'b'], { content: 'ab' }, []],
	])('%s', (_name, content, said, parts, more: object = {}) => {
		expect(readMessage({ content, ...more })).toStrictEqual({ said, parts });
	});

	test('any number of parts in one event', () => {
		const accumulator = startAccumulator();
		const content = Array.from({ length: MANY }, () => PICTURE);
		applyChunk(accumulator, asJson({ choices: [{ delta: { content } }] }));
		expect(toCompletion(accumulator).choices[0]!.message.parts).toHaveLength(MANY);
	});
});

test('any number of different tool calls in one reply', () => {
	const tool_calls = Array.from({ length: MANY }, (_, index): ToolCall => ({
		id: `c${index}`,
		type: 'function',
		function: { name: `f${index}`, arguments: '{}' },
	}));
	const limits = { maxRounds: 9, maxCalls: MANY };
	const { calls } = applyReply(startConversation([]), reply({ tool_calls }), [], limits);
	expect(calls).toHaveLength(MANY);
});

test('whole tool calls without ids that all have the index 0 stay apart', () => {
	const accumulator = startAccumulator();
	for (const [name, args] of [
		['f', '{"a":1}'],
		['g', '{"b":2}'],
	] as const) {
		const call = { index: 0, function: { name, arguments: args } };
		applyChunk(accumulator, { choices: [{ delta: { tool_calls: [call] } }] });
	}
	const { tool_calls: calls } = toCompletion(accumulator).choices[0]!.message;
	expect(calls!.map(({ function: called }) => called)).toStrictEqual([
		{ name: 'f', arguments: '{"a":1}' },
		{ name: 'g', arguments: '{"b":2}' },
	]);
});

test('fragments without an id belong to the latest tool call with their index, where all have the index 0', () => {
	const accumulator = startAccumulator();
	for (const name of ['f', 'g']) {
		const first = { index: 0, id: name, function: { name, arguments: '' } };
		for (const call of [first, { index: 0, function: { arguments: '{}' } }])
			applyChunk(accumulator, { choices: [{ delta: { tool_calls: [call] } }] });
	}
	const { tool_calls: calls } = toCompletion(accumulator).choices[0]!.message;
	expect(calls).toStrictEqual([toolCall('f', 'f', '{}'), toolCall('g', 'g', '{}')]);
});

test('a tool name is cut above the length of any declared one, an id that is too long is replaced', () => {
	const { name } = readFunction({ name: 'f'.repeat(MANY), arguments: '{}' });
	expect(name).toHaveLength(100);
	const call: ToolCall = {
		id: 'c'.repeat(MANY),
		type: 'function',
		function: { name, arguments: '' },
	};
	expect(readToolCalls({ content: null, tool_calls: [call] })[0]!.call.id).toBe('call_1');
});

test('a progress line is one short line', () => {
	const line = progressLine({
		type: 'tool_calls',
		tool: `find\n\n# A heading ${'x'.repeat(MANY)}`,
		status: `bad\n\n${'y'.repeat(MANY)}`,
		offset_ms: 0,
	});
	expect(line).toMatch(/^find # A heading x+…: bad y+…$/);
	expect(line.length).toBeLessThan(300);
	expect(progressLine({ type: 'constructor', offset_ms: 0 })).toBe('');
});

test.each([
	['```json\n{"a":1}\n```', { a: 1 }],
	['```\n\n\n{"a":1}```', { a: 1 }],
	['```JSON  \n{"a":1}\n\n```', { a: 1 }],
	['{"a":"```"}', { a: '```' }],
])('the JSON in %j is %j', (content, json) => {
	expect(readJsonReply(reply({ content }), { repairAttempts: 0 })).toEqual(json);
});

test.each([
	['![a](http://a/1)', ['http://a/1']],
	['![a]( http://a/1)', ['http://a/1']],
	['[a](http://a/1)', []],
	['![a] http://a/1', []],
	['![a](x) [b](http://a/1)', []],
	['![see http://a/1](http://a/2)', ['http://a/2']],
	['![![a](http://a/1)', ['http://a/1']],
	[
		'http://a/1.mp4。http://a/2.mp4，（http://a/3.mp4）、「http://a/4.mp4」',
		[1, 2, 3, 4].map((n) => `http://a/${n}.mp4`),
	],
])('images among the links of %j: %j', (content, expected) => {
	expect(findMedia(reply({ content })).map(({ url }) => url)).toEqual(expected);
});

test('the first 1,000 different links of a reply count', () => {
	const urls = Array.from({ length: MANY }, (_, index) => `http://a.example/${index}.png`);
	const found = findMedia(reply({ content: [urls[0], ...urls].join(' ') }));
	expect(found.map(({ url }) => url)).toEqual(urls.slice(0, 1_000));
});

describe('null of an argument', () => {
	const properties = {
		city: { type: 'string' },
		days: { type: 'integer' },
		unit: { type: ['string', 'null'] },
	};
	const parameters = { type: 'object', properties, required: ['city'] };
	const tools = [{ type: 'function', function: { name: 'f', parameters } }] as const;
	test.each([
		['that is optional is left out', { city: 'Rome', days: null }, { city: 'Rome' }],
		[
			'that is optional is left out, twice',
			{ city: 'Rome', days: null, unit: null },
			{ city: 'Rome' },
		],
		['that may be null stays', { city: 'Rome', unit: null }, { city: 'Rome', unit: null }],
		['that is required is a problem', { city: null }, undefined],
	])('%s', (_name, args, expected) => {
		const read = readToolCall(toolCall('1', 'f', JSON.stringify(args)), tools);
		if (expected === undefined) expect(read).toHaveProperty('problem');
		else expect(read).toStrictEqual({ arguments: expected });
	});
});

test('an argument named like a property of all objects is missing where the model left it out', () => {
	const parameters = { type: 'object', required: ['constructor'] };
	const tools = [{ type: 'function', function: { name: 'f', parameters } }] as const;
	const read = (args: string) =>
		readToolCall(
			{ id: 'c', type: 'function', function: { name: 'f', arguments: args } },
			tools,
		);
	expect(read('{"constructor":"a"}')).toEqual({ arguments: { constructor: 'a' } });
	expect(read('{}')).toHaveProperty(
		'problem',
		expect.stringContaining('required property "constructor"'),
	);
});

test('an integer of an argument that a number rounds reaches the tool as JavaScript reads it', () => {
	const tools = [{ type: 'function', function: { name: 'f' } }] as const;
	expect(readToolCall(toolCall('1', 'f', '{"id":1094820394820394821}'), tools)).toStrictEqual({
		arguments: { id: Number('1094820394820394821') },
	});
});

test.each([
	['get weather!', 'Use letters, digits, _ and -, at most 64 characters'],
	['__init__', undefined],
	['!!!', 'Use letters, digits, _ and -, at most 64 characters'],
])('the hint for the tool name %j is %j', (name, hint) => {
	const check = () => checkTools([{ type: 'function', function: { name } }], 'Tools');
	if (hint === undefined) expect(check()).toHaveLength(1);
	else expect(check).toThrow(expect.objectContaining({ hint }) as Error);
});
