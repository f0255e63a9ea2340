/** Replies in JSON through the three nodes that read them; how a text is read stands in test/client/jsonReply.test.ts. */
import type { IDataObject } from 'n8n-workflow';

import { replyWith } from '../support/chatReplies';
import { dataTables } from '../support/dataTables';
import { runDrawing } from '../support/drawnAgent';
import { runNode } from '../support/engine';
import { serverForEach } from '../support/scriptedServer';

interface Body {
	readonly messages: readonly { readonly role: string; readonly content: string }[];
	readonly response_format?: object;
	readonly session_id?: string;
}

const USAGE = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const CALL = { id: 'c', type: 'function', function: { name: 'find', arguments: '{}' } };

/** The texts of the replies, in order; a reply without text asks for the tool. The last one is repeated. */
let replies: (string | null)[];

const server = serverForEach((...request) => {
	const content = replies[Math.min(request[2], replies.length - 1)] ?? null;
	const message = { content, ...(content === null ? { tool_calls: [CALL] } : {}) };
	const finish_reason = content === null ? 'tool_calls' : 'stop';
	replyWith(message, { finish_reason }, { usage: USAGE, session_id: 's-1' })(...request);
});

const bodies = () => server.requests.map(({ body }) => body as Body);
const FIELD = { name: 'name', type: 'string', description: 'Who it is', required: true };
const FIELDS = {
	responseFormat: 'schema',
	fields: { field: [FIELD, { name: 'age', type: 'integer', required: false }] },
};
const SCHEMA = {
	type: 'object',
	properties: { name: { type: 'string', description: 'Who it is' }, age: { type: 'integer' } },
	required: ['name'],
	additionalProperties: false,
};
const BY_SCHEMA = { responseFormat: 'schema', defineSchema: 'schema' };
const ONLY_JSON = 'Answer with JSON only, without any text around it.';

/** Runs one of the three nodes with a question. */
async function ask(node: string, parameters: IDataObject) {
	const result = await runNode(node, {
		credential: { baseUrl: server.url, apiKey: 'k' },
		tables: dataTables(),
		parameters: {
			streaming: 'off',
			...(node === 'superAssistant'
				? { appCode: 'demo-assistant', message: 'Who?', session: 'new' }
				: { prompt: 'Who?' }),
			...parameters,
		},
	});
	return { ...result, answer: result.outputs[0]?.[0]?.json };
}

describe.each(['chatCompletion', 'functionCallingAgent', 'superAssistant'])('%s', (node) => {
	test('a reply is a text by default', async () => {
		replies = ['Ada {"a": 1}'];
		const { answer } = await ask(node, {});
		expect(answer).toMatchObject({ output: 'Ada {"a": 1}' });
		expect(answer).not.toHaveProperty('json');
		expect(bodies()[0]).not.toHaveProperty('response_format');
		expect(bodies()[0]!.messages).toStrictEqual([{ role: 'user', content: 'Who?' }]);
	});

	test('the value of a JSON reply is found in prose', async () => {
		replies = ['Sure:\n```json\n{"name": "Ada\nLovelace"}\n```\nMore?'];
		const { answer } = await ask(node, { responseFormat: 'json' });
		expect(answer).toMatchObject({ output: replies[0], json: { name: 'Ada\nLovelace' } });
		expect(bodies()).toMatchObject([
			{
				response_format: { type: 'json_object' },
				messages: [{ content: `Who?\n\n${ONLY_JSON}` }],
			},
		]);
	});

	test('the reply is asked for and checked by a schema', async () => {
		replies = ['{"name": "Ada"}'];
		const { answer } = await ask(node, FIELDS);
		expect(answer).toMatchObject({ json: { name: 'Ada' } });
		expect(bodies()[0]!.messages).toHaveLength(1);
		expect(bodies()[0]!.messages[0]!.content.split('\n').at(-1)).toBe(JSON.stringify(SCHEMA));
	});

	test('the model corrects invalid replies; its tokens are added up', async () => {
		replies = ['Use {} here', '{"age": 36}', '{"name": "Ada"}'];
		const { answer } = await ask(node, { ...FIELDS, options: { repairAttempts: 2 } });
		expect(answer).toMatchObject({
			output: '{"name": "Ada"}',
			json: { name: 'Ada' },
			usage: { prompt_tokens: 15, completion_tokens: 6, total_tokens: 21 },
		});
		const [, second, third] = bodies();
		expect([second, third].map((body) => body!.messages.at(-1))).toStrictEqual(
			[
				'is not valid JSON',
				'does not match the schema at #: Instance does not have required property "name"',
			].map((problem) => ({
				role: 'user',
				content: `The reply ${problem}. ${ONLY_JSON}`,
			})),
		);
		const isAssistant = node === 'superAssistant';
		expect(third!.messages).toHaveLength(isAssistant ? 1 : 5);
		expect(third!.session_id).toBe(isAssistant ? 's-1' : undefined);
	});

	test('the attempts have an end, and the error has the last reply and its session', async () => {
		replies = ['one', '{"name": 1}', 'three'];
		const { error } = await ask(node, { ...FIELDS, options: { repairAttempts: 1 } });
		expect(server.requests).toHaveLength(2);
		expect(error!.message).toBe(
			'The reply does not match the schema at #/name: Instance type "number" is invalid. Expected "string"',
		);
		expect(error!.description).toContain('The service said: "{"name": 1}"');
		expect(error!.description).toContain('session_id: s-1');
	});
});

describe('a schema', () => {
	test.each<[string, IDataObject, object]>([
		['JSON Schema', { ...BY_SCHEMA, jsonSchema: SCHEMA }, SCHEMA],
		[
			'an example, whose whole number allows decimals',
			{ ...BY_SCHEMA, defineSchema: 'example', jsonExample: '{"name":"Bob","age":20}' },
			{
				type: 'object',
				properties: { name: { type: 'string' }, age: { type: 'number' } },
				required: ['name', 'age'],
				additionalProperties: false,
			},
		],
	])('can be %s', async (_name, form, schema) => {
		replies = ['{"name": "Ada", "age": 36}'];
		const { answer } = await ask('chatCompletion', form);
		expect(answer).toMatchObject({ json: { name: 'Ada', age: 36 } });
		expect(bodies()[0]!.messages[0]!.content.split('\n').at(-1)).toBe(JSON.stringify(schema));
	});

	test('takes null for a field that may be left out, as in the arguments of a tool', async () => {
		replies = ['{"name": "Ada", "age": null}'];
		const { answer } = await ask('chatCompletion', FIELDS);
		expect(answer).toMatchObject({ output: replies[0] });
		expect(answer!['json']).toStrictEqual({ name: 'Ada' });
		replies = ['{"name": null}'];
		const { error } = await ask('chatCompletion', FIELDS);
		expect(error!.message).toMatch(/^The reply does not match the schema at #\/name/);
	});

	test.each<[IDataObject, string]>([
		[
			{ responseFormat: 'schema' },
			'Response Format is JSON by Schema, but no field is defined',
		],
		[{ ...BY_SCHEMA, jsonSchema: '{' }, 'Response Format, JSON Schema is not valid JSON'],
		[
			{ ...BY_SCHEMA, jsonSchema: '[]' },
			'Response Format has a schema that cannot be used: it is not a JSON object',
		],
		[
			{ ...BY_SCHEMA, jsonSchema: '{"$ref": "#"}' },
			'Response Format has a schema that cannot be used: it leads to itself',
		],
	])('of %j is an error before the call', async (parameters, message) => {
		const { error } = await ask('chatCompletion', parameters);
		expect(error!.message).toContain(message);
		expect(server.requests).toHaveLength(0);
	});

	test('that a reply cannot be checked against makes it no answer', async () => {
		const form = { ...BY_SCHEMA, jsonSchema: { items: { pattern: '^a' } } };
		// How long a pattern takes with a long text, nobody knows.
		replies = [JSON.stringify(['a'.repeat(20_000)])];
		const { error } = await ask('chatCompletion', form);
		expect(error!.message).toBe(
			'The reply could not be checked against the schema: it takes too many steps',
		);
		replies = ['["a"]'];
		expect((await ask('chatCompletion', form)).answer).toMatchObject({ json: ['a'] });
	});
});

test('an agent asks in the same place in every round, and keeps it out of its conversation', async () => {
	replies = [null, 'Ada', '{"name": "Ada"}'];
	const { answer, run } = await runDrawing(
		{
			...{ tools: 'find', ways: 'find > Agent', questions: ['Who?'] },
			nodes: { find: () => [{ json: { found: 'Ada' } }] },
			parameters: {
				...{ ...FIELDS, tools: { tool: [{ name: 'find' }] } },
				options: { repairAttempts: 1 },
			},
		},
		server.url,
	);
	expect(run.status).toBe('success');
	const asked = bodies().map(({ messages }) => messages[0]!.content);
	expect(asked[0]).toContain(JSON.stringify(SCHEMA));
	expect(new Set(asked).size).toBe(1);
	expect(answer).toMatchObject({ json: { name: 'Ada' }, rounds: 2, usage: { total_tokens: 21 } });
	expect(answer['messages']).toMatchObject([
		{ role: 'user', content: 'Who?' },
		{ role: 'assistant' },
		{ role: 'tool' },
		{ role: 'assistant', content: '{"name": "Ada"}' },
	]);
});

test('Extra Body Fields can ask for JSON as well', async () => {
	replies = ['{"a": 1}'];
	const extraBody = '{"response_format": {"type": "json_object"}}';
	const { answer } = await ask('chatCompletion', { options: { extraBody } });
	expect(answer).toMatchObject({ json: { a: 1 } });
});
