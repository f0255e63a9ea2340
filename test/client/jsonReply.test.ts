import { readJsonReply, withJson, type JsonFormat } from '../../nodes/client/chat/jsonReply';
import { userMessage } from '../../nodes/client/chat/messages';
import type { ChatCompletion, ChatMessage, ReplyMessage } from '../../nodes/client/chat/types';
import { ServiceError } from '../../nodes/client/errors';
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
		['a fence, and a value outside of it', `From {"raw":1}:\n\`\`\`\n${ADA_JSON}\n\`\`\``, ADA],
		[
			'two fences with the same value',
			`\`\`\`\n{"a":1}\n\`\`\`\n\`\`\`\n{"a": 1}\n\`\`\``,
			{ a: 1 },
		],
		['a list at the top', 'The list: [1, {"a": [2]}]', [1, { a: [2] }]],
		['a number', '42', 42],
		['a number in a fence', '```\n42\n```', 42],
		['a text with brackets', '"see {x"', 'see {x'],
		['null', 'null', null],
		['a citation beside it', `As [1] says: ${ADA_JSON} [2]`, ADA],
		['brackets in prose beside it', `Of {name} [sic]: ${ADA_JSON}`, ADA],
		['trailing commas', '{"a": [1, 2,], "b": 3,}', { a: [1, 2], b: 3 }],
		['comments', '{"a": 1, // the "first" }\n/* ] */ "b": 2}', { a: 1, b: 2 }],
		['single quotes', "Sure: {'a': 'it is \"b\" }'}", { a: 'it is "b" }' }],
		['keys without quotes', '{a: 1, b: [true]}', { a: 1, b: [true] }],
		['keys of another script', '{标题: "x", \n_2 : null}', { 标题: 'x', _2: null }],
		['a comma before a comment', '{"a": [1, // one\n], /* all */}', { a: [1] }],
		['an escaped quote', `{'a': 'it\\'s', "b": "it\\'s",}`, { a: "it's", b: "it's" }],
		['what looks like it in a text', '{"a": "b: \'c\', // ,]",}', { a: "b: 'c', // ,]" }],
		[
			'nested quotes',
			'{"a": "she said \\"[no]\\"", "b": "it\'s {"}',
			{ a: 'she said "[no]"', b: "it's {" },
		],
		[
			'a value twice, with its keys in another order',
			'{"a": 1, "b": 2} or {"b": 2, "a": 1}',
			{ a: 1, b: 2 },
		],
		['code in a text', '{"a": "```js\\nx = {\\n```"}', { a: '```js\nx = {\n```' }],
	])('%s', (_name, text, value) => {
		expect(read(text)).toStrictEqual(value);
	});

	const INVALID = 'The reply is not valid JSON';
	const SEVERAL = 'The reply has several JSON values';
	test.each<[string, string | null, string]>([
		['nothing', null, INVALID],
		['white space', ' \n', INVALID],
		['prose', 'I cannot do that.', INVALID],
		['prose with brackets', 'Use {name} and [the list], see [1].', INVALID],
		['two values', '{"a": 1} or {"a": 2}', SEVERAL],
		['two fences', '```\n{"a":1}\n```\n```\n{"a":2}\n```', SEVERAL],
		['values line by line', '{"a":1}\n{"a":2}\n{"a":3}', SEVERAL],
		['more values than are looked for', '{"a":1} '.repeat(21), INVALID],
		['a value that is cut off', '{"a": {"b": 1}, "c": [2', INVALID],
		['a value before one that is cut off', '{"a": 1}\n{"b": [2', INVALID],
		['a value after a bracket that does not fit', '[1, 2} {"a": 1}', INVALID],
		['a value that is cut off in a text', '{"a": {"b": 1}, "c": "x', INVALID],
		['a fence that is cut off', '```json\n[{"a": 1}, {"a"', INVALID],
		['a list that is left out in part', '[1, 2, ...,]', INVALID],
		['a comment in place of values', "{'a': 1, // ... and so on\n}", INVALID],
		['a number that JSON does not have', '{"a": NaN}', INVALID],
		['a value that is missing', '{"a": , "b": 1}', INVALID],
		['a value that is missing before a comma', '{"a": [,]}', INVALID],
		['two commas', '[1, /* two */ ,]', INVALID],
		['words for a value', '{a: not known}', INVALID],
		['an apostrophe in place of a value', "{it's: a}", INVALID],
		['a backslash at the end', "{'a': 'b\\}", INVALID],
		['brackets that do not fit', '{"a": [1, 2}]', INVALID],
		['deep nesting', `${'['.repeat(201)}${']'.repeat(201)}`, INVALID],
		['deep nesting without an end', '{"a":'.repeat(100_000), INVALID],
	])('not %s', (_name, text, message) => {
		expect(read(text)).toBe(message);
	});

	test('the deepest value that is read has 200 levels', () => {
		const text = `${'['.repeat(200)}${']'.repeat(200)}`;
		expect(JSON.stringify(read(text))).toBe(text);
	});

	test.each<[string, unknown]>([
		['{"id": 1234567890123456789, "n": 12}', { id: '1234567890123456789', n: 12 }],
		['[-9007199254740993, 9007199254740991]', ['-9007199254740993', 9007199254740991]],
		['Here: ```json\n{"id": 1234567890123456789}\n```', { id: '1234567890123456789' }],
		['1234567890123456789', '1234567890123456789'],
		['{"a": 1234567890123456789} or {"a": 1234567890123456788}', SEVERAL],
		['{"id": 1234567890123456789,}', { id: '1234567890123456789' }],
		['{"at": 1700000000000000000}', { at: 1_700_000_000_000_000_000 }],
	])('an integer that a number would round is its text: %s', (text, value) => {
		expect(read(text)).toStrictEqual(value);
	});

	test('a long value is read only if it is valid', () => {
		const list = JSON.stringify(Array.from({ length: 30_000 }, (_, index) => index));
		expect(read(`Here: ${list}`)).toHaveLength(30_000);
		expect(read(list.replace(']', ',]'))).toBe(INVALID);
	});
});

describe('a schema', () => {
	test('an integer that becomes a text is checked as the integer', () => {
		const schema = { type: 'object', properties: { id: { type: 'integer', minimum: 5 } } };
		const id = '{"id": 1234567890123456789}';
		expect(read(id, { ...ANY, schema })).toStrictEqual({ id: '1234567890123456789' });
	});

	test.each<[string, string, unknown]>([
		['a value that matches', ADA_JSON, ADA],
		['the one of several values that matches', `From {"raw": 1}: ${ADA_JSON}`, ADA],
		['a value without an optional field', '{"name": "Ada"}', { name: 'Ada' }],
		[
			'a field of another type',
			'{"name": "Ada", "age": "36"}',
			'The reply does not match the schema at #/age: Instance type "string" is invalid. Expected "integer"',
		],
		[
			'a field that is missing',
			'{"age": 36}',
			'The reply does not match the schema at #: Instance does not have required property "name"',
		],
		[
			'a field that is not declared',
			'{"name": "Ada", "note": "!"}',
			'The reply does not match the schema: it does not declare note',
		],
		[
			'a list in place of an object',
			`[${ADA_JSON}]`,
			'The reply does not match the schema at #: Instance type "array" is invalid. Expected "object"',
		],
		[
			'several values that match',
			`${ADA_JSON} {"name":"Bob"}`,
			'The reply has several JSON values',
		],
	])('%s', (_name, text, outcome) => {
		expect(read(text, PERSON)).toStrictEqual(outcome);
	});

	test.each<[JsonObject, string, unknown]>([
		[{ type: 'array', items: { type: 'integer' } }, '[1, 2]', [1, 2]],
		[{ type: 'number' }, '4.5', 4.5],
		[{}, 'true', true],
	])('%j fits %s', (schema, text, value) => {
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
			message: 'The reply is not valid JSON',
			advice: [advice],
			details: { serviceMessage: '{"a":', partial: completion },
		}) as Error,
	);
});

const CALL = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } } as const;

test('a reply that asks for tools is no answer, unless they have run', () => {
	const asks = reply('One moment', 'tool_calls', { tool_calls: [CALL] });
	expect(readJsonReply(asks, ANY)).toBeUndefined();
	expect(() => readJsonReply(asks, ANY, 'assistant')).toThrow('not valid JSON');
	const ran = { tool_calls: [CALL], tool_results: [{ tool_call_id: 'c', content: '1' }] };
	expect(readJsonReply(reply('[1]', 'stop', ran), ANY)).toStrictEqual([1]);
	expect(readJsonReply(reply('Hi'), undefined)).toBeUndefined();
});

describe('asking', () => {
	const USAGE = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };

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

	test('a text is asked for as the messages say', async () => {
		const { sent } = await ask(question, undefined, reply('Ada'));
		expect(sent).toStrictEqual([question]);
	});

	test('JSON is asked for in the last user message, if no message asks for it', async () => {
		const { sent } = await ask(question, ANY, reply('{}'));
		expect(sent).toStrictEqual([
			[
				{
					role: 'user',
					content: 'Who?\n\nAnswer with JSON only, without any text around it.',
				},
			],
		]);
		for (const role of ['system', 'user'] as const) {
			const asked: ChatMessage[] = [{ role, content: 'Use JSON' }, ...question];
			expect((await ask(asked, ANY, reply('{}'))).sent).toStrictEqual([asked]);
		}
	});

	test('the schema is in the last user message, wherever that is', async () => {
		const image = { type: 'image_url', image_url: { url: 'https://a.example/1.png' } } as const;
		const messages: ChatMessage[] = [
			{ role: 'system', content: 'Use JSON' },
			{ role: 'user', content: [image] },
			{ role: 'assistant', content: null, tool_calls: [CALL] },
			{ role: 'tool', tool_call_id: 'c', content: '1' },
		];
		const { sent } = await ask(messages, PERSON, reply(ADA_JSON));
		const text = expect.stringContaining(`\n${JSON.stringify(SCHEMA)}`) as string;
		const content = [image, { type: 'text' as const, text }];
		expect(sent).toStrictEqual([messages.with(1, { role: 'user', content })]);
		expect(messages[1]!.content).toStrictEqual([image]);

		const tools = messages.slice(2);
		expect((await ask(tools, PERSON, reply(ADA_JSON))).sent).toStrictEqual([
			[...tools, { role: 'user', content: text }],
		]);
	});

	const TWICE = { ...PERSON, repairAttempts: 2 };

	test('an invalid reply is returned as it is without attempts to repair it', async () => {
		const { sent, completion } = await ask(question, PERSON, reply('Ada'));
		expect(sent).toHaveLength(1);
		expect(completion).toStrictEqual(reply('Ada'));
	});

	test('an invalid reply goes back with what is wrong with it, and the usage is added up', async () => {
		const wrong = { ...reply('{"age": 36}'), usage: USAGE };
		const right = { ...reply(ADA_JSON), usage: USAGE };
		const { sent, completion } = await ask(question, TWICE, wrong, right);
		expect(sent[1]).toStrictEqual([
			...sent[0]!,
			{ role: 'assistant', content: '{"age": 36}' },
			{
				role: 'user',
				content:
					'The reply does not match the schema at #: Instance does not have required property "name". Answer with JSON only, without any text around it.',
			},
		]);
		expect(completion).toStrictEqual({
			...reply(ADA_JSON),
			usage: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 },
		});
	});

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
});
