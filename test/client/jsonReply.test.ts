import { userMessage } from '../../nodes/client/chat/messages';
import { readJsonReply, withJson, type JsonFormat } from '../../nodes/client/chat/sendChat';
import { toolCall } from '../../nodes/client/chat/toolCalls';
import type { ChatCompletion, ChatMessage } from '../../nodes/client/chat/types';
import type { JsonObject } from '../../nodes/client/json';
import { replyOf } from '../support/chatPieces';

const ANY: JsonFormat = { repairAttempts: 0 };
const ADA = { name: 'Ada', age: 36 };
const SCHEMA = {
	type: 'object',
	properties: { name: { type: 'string' }, age: { type: 'integer' } },
	required: ['name'],
	additionalProperties: false,
};
const PERSON = { ...ANY, schema: SCHEMA };
const ADA_JSON = JSON.stringify(ADA);

/** What a reply is read as: its value, or the message of the error. */
function read(text: string | null, format = ANY): unknown {
	try {
		return readJsonReply(replyOf(text), format);
	} catch (error) {
		return (error as Error).message;
	}
}

const INVALID = 'The reply is not valid JSON';

describe('the value of a reply', () => {
	test.each<[string, string, unknown]>([
		['the whole text', ADA_JSON, ADA],
		['white space around it', `\n ${ADA_JSON}\n\n`, ADA],
		['reasoning before it', `<think>{"name": "Bob"} or {x</think>\n${ADA_JSON}`, ADA],
		['prose before it', `Sure! Here's the person: ${ADA_JSON}`, ADA],
		['prose after it', `${ADA_JSON}\nLet me know if I can help.`, ADA],
		['a fence around it', `\`\`\`json\n${ADA_JSON}\n\`\`\``, ADA],
		['a fence in the middle', `Here:\n\`\`\`json\n${ADA_JSON}\n\`\`\`\nDone.`, ADA],
		['a fence that is not closed', `\`\`\`json\n${ADA_JSON}`, ADA],
		['a fence with empty lines', `\`\`\`\n\n\n${ADA_JSON}\`\`\``, ADA],
		['a fence in upper case', `\`\`\`JSON  \n${ADA_JSON}\n\n\`\`\``, ADA],
		['a list at the top', 'The list: [1, {"a": [2]}]', [1, { a: [2] }]],
		['a number', '42', 42],
		['a number in a fence', '```\n42\n```', 42],
		['a text with brackets', '"see {x"', 'see {x'],
		['null', 'null', null],
		['brackets in a text', '{"a": "she said \\"[no]\\" {"}', { a: 'she said "[no]" {' }],
		['a raw line break in a text', '{"a": "b\n\tc", \n"d": 1}', { a: 'b\n\tc', d: 1 }],
		['a raw NUL', 'So: {"a\u0000": "\\"\u0000\\\\"}', { 'a\0': '"\0\\' }],
		['a raw line break in a list in a fence', '```\n["a\r\nb",\r\n1]\n```', ['a\r\nb', 1]],
		['a line break of Unicode, which JSON allows', '{"a": "b\u2028c"}', { a: 'b\u2028c' }],
		['texts in a fence for JSON', 'Tags:\n```json\n["a", "b"]\n```\nMore?', ['a', 'b']],
		['nothing in a fence for JSON', 'None:\n```json\n{}\n```', {}],
		['an object deep in a list', 'So: [[], [{"a": 1}]]', [[], [{ a: 1 }]]],
		['a fence in a text', '{"a":"```js\\nx = {\\n```"}', { a: '```js\nx = {\n```' }],
	])('%s', (_name, text, value) => {
		expect(read(text)).toStrictEqual(value);
	});

	test.each<[string, string | null]>([
		['nothing', null],
		['white space', ' \n'],
		['prose', 'I cannot do that.'],
		['prose with brackets', 'Use {name} and [the list], see [1].'],
		['prose with one citation', 'Paris is the capital [1].'],
		['prose with one citation of two sources', 'Paris is the capital [1, 2].'],
		['prose about braces', 'Use {} here'],
		['prose about a list of objects', 'Start with [{}, []]'],
		['a check box', '- [ ] Buy milk'],
		['texts in prose', 'The tags are ["a", "b"]'],
		['two values', '{"a": 1} or {"a": 2}'],
		['a value twice', '{"a": 1}\n{"a": 1}'],
		['two fences', '```\n{"a":1}\n```\n```\n{"a":2}\n```'],
		['a citation beside a value', `As [1] says: ${ADA_JSON}`],
		['trailing commas', '{"a": [1, 2,], "b": 3,}'],
		['comments', '{"a": 1} // { all }'],
		['single quotes', "{'a': 1}"],
		['keys without quotes', '{a: 1}'],
		['a value that is cut off', '{"a": {"b": 1}, "c": [2'],
		['a value before one that is cut off', '{"a": 1}\n{"b": [2'],
		['a value before one that has just begun', 'Here: {"a": 1}, {'],
		['a value that is cut off in a text', '{"a": {"b": 1}, "c": "x'],
		['a value that is cut off in a raw line', '{"a": "b\n'],
		['a fence that is cut off', '```json\n[{"a": 1}, {"a"'],
		['a number that JSON does not have', '{"a": NaN}'],
		['brackets that do not fit', '{"a": [1, 2}]'],
		['raw line breaks between values', '[1\n2]'],
	])('not %s', (_name, text) => {
		expect(read(text)).toBe(INVALID);
	});

	test('bounds are named', () => {
		const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
		const fenced = (json: string) => `So:\n\`\`\`json\n${json}\n\`\`\``;
		expect(JSON.stringify(read(fenced(nested(100))))).toBe(nested(100));
		expect(read(nested(101))).toBe('The reply has more than 100 levels');
		expect(read('{"a":'.repeat(100_000))).toBe('The reply has more than 100 levels');
		const list = (length: number) => JSON.stringify(Array(length).fill(0));
		expect(read(fenced(list(199_999)))).toHaveLength(199_999);
		expect(read(list(200_000))).toBe('The reply has more than 200,000 values');
		const text = JSON.stringify('x'.repeat(16 * 2 ** 20));
		expect(read(text)).toBe('The reply has more than 16 MB of text');
	});

	test('an integer with more digits than a number holds is that number', () => {
		const value = { id: Number('1234567890123456789') };
		expect(read('{"id": 1234567890123456789}')).toStrictEqual(value);
		const schema = { type: 'object', properties: { id: { type: 'integer' } } };
		expect(read('{"id": 1234567890123456789}', { ...ANY, schema })).toStrictEqual(value);
	});
});

describe('a schema', () => {
	const [UNFIT, TYPE] = ['The reply does not match the schema', 'Instance type'];
	test.each<[string, string, unknown]>([
		['a value that matches', ADA_JSON, ADA],
		['a value without an optional field', '{"name": "Ada"}', { name: 'Ada' }],
		[
			'a field of another type',
			'{"name": "Ada", "age": "36"}',
			`${UNFIT} at #/age: ${TYPE} "string" is invalid. Expected "integer"`,
		],
		[
			'a field that is missing',
			'{"age": 36}',
			`${UNFIT} at #: Instance does not have required property "name"`,
		],
		[
			'a field that is not declared',
			'{"name": "Ada", "note": "!"}',
			`${UNFIT}: it does not declare note`,
		],
		[
			'a list in place of an object',
			`[${ADA_JSON}]`,
			`${UNFIT} at #: ${TYPE} "array" is invalid. Expected "object"`,
		],
	])('%s', (_name, text, value) => {
		expect(read(text, PERSON)).toStrictEqual(value);
	});

	test.each<[JsonObject, string, unknown]>([
		[{ type: 'array', items: { type: 'integer' } }, '[1, 2]', [1, 2]],
		[{ type: 'number' }, '4.5', 4.5],
		[{}, 'true', true],
		[{ type: 'array' }, 'Tags: ["a", "b"]', ['a', 'b']],
		[{ $ref: '#/$defs/a', $defs: { a: { type: 'array' } } }, 'Tags: ["a"]', ['a']],
		[{ description: 'Anything' }, 'Paris is the capital [1].', INVALID],
		[{ type: 'object' }, 'Use {} here', INVALID],
		[{ type: 'array' }, '- [ ] Buy milk', INVALID],
	])('%j finds in %s: %j', (schema, text, value) => {
		expect(read(text, { ...ANY, schema })).toStrictEqual(value);
	});
});

test.each([
	['stop', 'describeFields'],
	['length', 'shortenReply'],
	['content_filter', 'rephraseQuestion'],
])('an invalid reply that ended with %s is an error that keeps it', (reason, advice) => {
	const completion = replyOf('{"a": ', {}, reason);
	expect(() => readJsonReply(completion, ANY)).toThrow(
		expect.objectContaining({
			message: INVALID,
			advice: [advice],
			details: { serviceMessage: '{"a":', partial: completion },
		}) as Error,
	);
});

const CALL = toolCall('c', 'f', '{}');

test('a reply that asks for tools is no answer, unless they have run', () => {
	const asks = replyOf('One moment', { tool_calls: [CALL] }, 'tool_calls');
	expect(readJsonReply(asks, ANY)).toBeUndefined();
	expect(() => readJsonReply(asks, ANY, 'assistant')).toThrow('not valid JSON');
	const ran = { tool_calls: [CALL], tool_results: [{ tool_call_id: 'c', content: '1' }] };
	expect(readJsonReply(replyOf('[1]', ran), ANY)).toStrictEqual([1]);
	expect(readJsonReply(replyOf('Hi'), undefined)).toBeUndefined();
});

describe('asking again', () => {
	/** What a model is asked that gives these replies, with one attempt to repair them. */
	async function sentFor(messages: readonly ChatMessage[], ...replies: ChatCompletion[]) {
		const sent: (readonly ChatMessage[])[] = [];
		const ask = withJson(
			async (each) => await Promise.resolve(replies[sent.push(each.messages) - 1]!),
			{ repairAttempts: 1 },
		);
		await ask({ messages });
		return sent;
	}
	test('JSON is asked for once in each message, beside an image, too', async () => {
		const text = 'Answer with JSON only, without any text around it.';
		const image = { type: 'image_url', image_url: { url: 'https://a.example/json' } } as const;
		const messages = [{ role: 'user', content: [image] }] as const;
		const asked = { role: 'user', content: [image, { type: 'text', text }] };
		const repair = userMessage(`${INVALID}. ${text}`);
		expect(await sentFor(messages, replyOf('A tree'), replyOf('{}'))).toStrictEqual([
			[asked],
			[asked, { role: 'assistant', content: 'A tree' }, repair],
		]);
	});

	test('an empty reply is not sent back: the service takes no empty message', async () => {
		const sent = await sentFor([userMessage('Who?')], replyOf(null), replyOf(ADA_JSON));
		expect(sent[1]!.map(({ role }) => role)).toStrictEqual(['user', 'user']);
	});
});
