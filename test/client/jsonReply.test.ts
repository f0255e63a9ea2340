import { userMessage } from '../../nodes/client/chat/messages';
import { readJsonReply, withJson, type JsonFormat } from '../../nodes/client/chat/sendChat';
import { toolCall } from '../../nodes/client/chat/toolCalls';
import type { ChatCompletion, ChatMessage, ReplyMessage } from '../../nodes/client/chat/types';
import { ServiceError } from '../../nodes/client/errors';
import { canceledError } from '../../nodes/client/http/failures';
import type { JsonObject } from '../../nodes/client/json';

const reply = (
	content: string | null,
	finish_reason = 'stop',
	more: Partial<ReplyMessage> = {},
): ChatCompletion => ({
	choices: [{ index: 0, message: { role: 'assistant', content, ...more }, finish_reason }],
});
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
		return readJsonReply(reply(text), format);
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
	const completion = reply('{"a": ', reason);
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
	const asks = reply('One moment', 'tool_calls', { tool_calls: [CALL] });
	expect(readJsonReply(asks, ANY)).toBeUndefined();
	expect(() => readJsonReply(asks, ANY, 'assistant')).toThrow('not valid JSON');
	const ran = { tool_calls: [CALL], tool_results: [{ tool_call_id: 'c', content: '1' }] };
	expect(readJsonReply(reply('[1]', 'stop', ran), ANY)).toStrictEqual([1]);
	expect(readJsonReply(reply('Hi'), undefined)).toBeUndefined();
});

describe('asking', () => {
	/** Asks a model that gives these replies. */
	async function ask(
		messages: readonly ChatMessage[],
		format: JsonFormat | undefined,
		...replies: (ChatCompletion | Error)[]
	) {
		const sent: (readonly ChatMessage[])[] = [];
		const result = withJson(async (each) => {
			const next = replies[sent.length]!;
			sent.push(each.messages);
			return next instanceof Error ? await Promise.reject(next) : next;
		}, format)({ messages });
		return { sent, completion: await result };
	}
	const question = [userMessage('Who?')];

	const JSON_ONLY = 'Answer with JSON only, without any text around it.';

	test('JSON is asked for in the last user message, whatever the others say of JSON', async () => {
		const asked = { role: 'user', content: `Who?\n\n${JSON_ONLY}` };
		expect((await ask(question, ANY, reply('{}'))).sent).toStrictEqual([[asked]]);
		for (const role of ['system', 'user'] as const) {
			const before: ChatMessage = { role, content: 'What are JSON Web Tokens?' };
			const { sent } = await ask([before, ...question], ANY, reply('{}'));
			expect(sent).toStrictEqual([[before, asked]]);
		}
	});

	const image = (path: string) =>
		({ type: 'image_url', image_url: { url: `https://a.example/${path}` } }) as const;

	test('it is asked for once in each message, beside an image and in a repair, too', async () => {
		const messages: ChatMessage[] = [{ role: 'user', content: [image('json')] }];
		const once = { ...ANY, repairAttempts: 1 };
		const { sent } = await ask(messages, once, reply('A tree'), reply('{}'));
		const text = { type: 'text', text: JSON_ONLY };
		const asked = { role: 'user', content: [image('json'), text] };
		const repair = userMessage(`${INVALID}. ${JSON_ONLY}`);
		expect(sent).toStrictEqual([
			[asked],
			[asked, { role: 'assistant', content: 'A tree' }, repair],
		]);
	});

	test('the schema is in the last user message, wherever that is', async () => {
		const messages: ChatMessage[] = [
			{ role: 'system', content: 'Use JSON' },
			{ role: 'user', content: [image('1.png')] },
			{ role: 'assistant', content: null, tool_calls: [CALL] },
			{ role: 'tool', tool_call_id: 'c', content: '1' },
		];
		const { sent } = await ask(messages, PERSON, reply(ADA_JSON));
		const text = expect.stringContaining(`\n${JSON.stringify(SCHEMA)}`) as string;
		const content = [image('1.png'), { type: 'text' as const, text }];
		expect(sent).toStrictEqual([messages.with(1, { role: 'user', content })]);
		expect(messages[1]!.content).toStrictEqual([image('1.png')]);

		const tools = messages.slice(2);
		expect((await ask(tools, PERSON, reply(ADA_JSON))).sent).toStrictEqual([
			[...tools, { role: 'user', content: text }],
		]);
	});

	const TWICE = { ...PERSON, repairAttempts: 2 };

	test('an empty reply is not sent back: the service takes no empty message', async () => {
		const { sent } = await ask(question, TWICE, reply(null), reply(ADA_JSON));
		expect(sent[1]!.map(({ role }) => role)).toStrictEqual(['user', 'user']);
	});

	test('the last reply is returned after the last attempt', async () => {
		const replies = ['one', 'two', 'three', 'four'].map((text) => reply(text));
		const { sent, completion } = await ask(question, TWICE, ...replies);
		expect(sent.map((each) => each.length)).toStrictEqual([1, 3, 5]);
		expect(completion).toBe(replies[2]);
	});

	test.each([
		['a reply that is cut off', reply('{"name": "A', 'length')],
		['a reply that asks for tools', reply('Hm', 'tool_calls', { tool_calls: [CALL] })],
	])('%s is not sent back', async (_name, first) => {
		const { sent, completion } = await ask(question, TWICE, first);
		expect(sent).toHaveLength(1);
		expect(completion).toBe(first);
	});

	test('an error of an attempt keeps the reply that was to be repaired', async () => {
		const failure = new ServiceError('network', 'Lost', 'Try again', { outcomeUnknown: true });
		await expect(ask(question, TWICE, reply('Ada'), failure)).rejects.toMatchObject({
			message: 'Lost',
			details: { outcomeUnknown: true, partial: reply('Ada') },
		});
	});

	test('an assistant has acted before a repair that was canceled', async () => {
		const chat = jest
			.fn()
			.mockResolvedValueOnce(reply('Ada'))
			.mockRejectedValueOnce(canceledError());
		const asked = withJson(chat, TWICE, 'assistant')({ messages: question });
		await expect(asked).rejects.toMatchObject({
			kind: 'canceled',
			details: { outcomeUnknown: true, partial: reply('Ada') },
		});
	});
});
