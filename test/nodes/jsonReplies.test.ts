import type { IDataObject } from 'n8n-workflow';

import { dataTables } from '../support/dataTables';
import { packageNode, runNode, runWorkflow, stubNode, type RunOptions } from '../support/engine';
import { json, serverForEach } from '../support/scriptedServer';

interface Body {
	readonly messages: readonly { readonly role: string; readonly content: string }[];
	readonly response_format?: object;
	readonly session_id?: string;
}

const USAGE = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const CALL = { id: 'c', type: 'function', function: { name: 'find', arguments: '{}' } };

/** The texts of the replies, in order; a reply without text asks for the tool. The last one is repeated. */
let replies: (string | null)[];

const server = serverForEach((response, _request, index) => {
	const content = replies[Math.min(index, replies.length - 1)] ?? null;
	const message = {
		role: 'assistant',
		content,
		...(content === null ? { tool_calls: [CALL] } : {}),
	};
	json(response, 200, {
		choices: [{ index: 0, message, finish_reason: content === null ? 'tool_calls' : 'stop' }],
		usage: USAGE,
		session_id: 's-1',
	});
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

/** Runs one of the three nodes with a question. */
async function ask(node: string, parameters: IDataObject, more: Partial<RunOptions> = {}) {
	return await runNode(node, {
		credential: { baseUrl: server.url, apiKey: 'k' },
		tables: dataTables(),
		...more,
		parameters: {
			streaming: 'off',
			...(node === 'superAssistant'
				? { appCode: 'demo-assistant', message: 'Who?', session: 'new' }
				: { prompt: 'Who?' }),
			...parameters,
		},
	});
}

describe.each(['chatCompletion', 'functionCallingAgent', 'superAssistant'])('%s', (node) => {
	test('a reply is a text by default', async () => {
		replies = ['Ada {"a": 1}'];
		const { outputs } = await ask(node, {});
		expect(outputs[0]![0]!.json).toMatchObject({ output: 'Ada {"a": 1}' });
		expect(outputs[0]![0]!.json).not.toHaveProperty('json');
		expect(bodies()[0]).not.toHaveProperty('response_format');
		expect(bodies()[0]!.messages).toStrictEqual([{ role: 'user', content: 'Who?' }]);
	});

	test('the value of a JSON reply is found in prose', async () => {
		replies = ['Sure:\n```json\n{"name": "Ada\nLovelace"}\n```\nMore?'];
		const { outputs } = await ask(node, { responseFormat: 'json' });
		expect(outputs[0]![0]!.json).toMatchObject({
			output: replies[0],
			json: { name: 'Ada\nLovelace' },
		});
		expect(bodies()[0]).toMatchObject({ response_format: { type: 'json_object' } });
		expect(bodies()[0]!.messages[0]!.content).toMatch(/^Who\?\n\nAnswer with JSON only/);
	});

	test('a question about JSON is told to be answered in JSON, too', async () => {
		replies = ['{"name": "Ada"}'];
		const question = 'What are JSON Web Tokens?';
		const asked = node === 'superAssistant' ? { message: question } : { prompt: question };
		await ask(node, { responseFormat: 'json', ...asked });
		expect(bodies()[0]!.messages[0]!.content).toBe(
			`${question}\n\nAnswer with JSON only, without any text around it.`,
		);
	});

	test('a whole number in an example allows decimals', async () => {
		replies = ['{"price": 19.99}'];
		const { outputs } = await ask(node, {
			responseFormat: 'schema',
			defineSchema: 'example',
			jsonExample: '{"price": 20}',
		});
		expect(outputs[0]![0]!.json).toMatchObject({ json: { price: 19.99 } });
	});

	test.each([
		['fields', FIELDS, SCHEMA],
		[
			'JSON Schema',
			{ responseFormat: 'schema', defineSchema: 'schema', jsonSchema: SCHEMA },
			SCHEMA,
		],
		[
			'an example',
			{ responseFormat: 'schema', defineSchema: 'example', jsonExample: '{"name":"Bob"}' },
			{
				type: 'object',
				properties: { name: { type: 'string' } },
				required: ['name'],
				additionalProperties: false,
			},
		],
	])('the reply is asked for and checked by a schema from %s', async (_name, form, schema) => {
		replies = ['{"name": "Ada"}'];
		const { outputs } = await ask(node, form);
		expect(outputs[0]![0]!.json).toMatchObject({ json: { name: 'Ada' } });
		expect(bodies()[0]!.messages).toHaveLength(1);
		expect(bodies()[0]!.messages[0]!.content.split('\n').at(-1)).toBe(JSON.stringify(schema));

		replies = ['{"name": 1}'];
		const { error } = await ask(node, form);
		expect(error).toMatchObject({
			message:
				'The reply does not match the schema at #/name: Instance type "number" is invalid. Expected "string"',
		});
		expect(error!.description).toContain('The service said: "{"name": 1}"');
	});

	test.each([
		['prose with a citation', 'Paris is the capital [1].', 'is not valid JSON'],
		['prose about braces', 'Use {} here', 'is not valid JSON'],
		['two values', '{"id": 1} or {"id": 2}', 'is not valid JSON'],
		['trailing commas', '{"id": 1,}', 'is not valid JSON'],
		['a value that is cut off', '[{"id": 1}, {"id"', 'is not valid JSON'],
		['too many levels', `${'['.repeat(101)}${']'.repeat(101)}`, 'has more than 100 levels'],
	])('%s are repaired, or an error', async (_name, reply, problem) => {
		replies = [reply, '{"id": 3}'];
		const repaired = await ask(node, {
			responseFormat: 'json',
			options: { repairAttempts: 1 },
		});
		expect(repaired.outputs[0]![0]!.json).toMatchObject({ json: { id: 3 } });
		expect(bodies()[1]!.messages.at(-1)!.content).toContain(`The reply ${problem}. `);
		replies = [reply];
		const { error } = await ask(node, { responseFormat: 'json' });
		expect(error!.message).toBe(`The reply ${problem}`);
	});

	test('a long integer is the number that JavaScript reads, without a hint', async () => {
		replies = ['{"id": 1234567890123456789}'];
		const { outputs, run } = await ask(node, { responseFormat: 'json' });
		expect(outputs[0]![0]!.json).toMatchObject({
			json: { id: Number('1234567890123456789') },
		});
		const { hints = [] } = run.data.resultData.runData['Tested']![0]!;
		expect(JSON.stringify(hints)).not.toMatch(/integer|number|12345/);
	});

	test('an invalid reply is an item with the reply, where the node continues on errors', async () => {
		replies = ['Ada'];
		const { outputs } = await ask(node, FIELDS, { onError: 'continueRegularOutput' });
		expect(JSON.stringify(outputs[0]![0]!.json)).toContain('The reply is not valid JSON');
		expect(JSON.stringify(outputs[0]![0]!.json)).toContain('Ada');
	});

	test('the model corrects an invalid reply; its tokens are added up', async () => {
		replies = ['{"age": 36}', '{"name": "Ada"}'];
		const options = { repairAttempts: 1 };
		const { outputs } = await ask(node, { ...FIELDS, options });
		expect(outputs[0]![0]!.json).toMatchObject({
			output: '{"name": "Ada"}',
			json: { name: 'Ada' },
			usage: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 },
		});
		const [, second] = bodies();
		expect(second!.messages.at(-1)).toStrictEqual({
			role: 'user',
			content:
				'The reply does not match the schema at #: Instance does not have required property "name". Answer with JSON only, without any text around it.',
		});
		expect(second!.messages).toHaveLength(node === 'superAssistant' ? 1 : 3);
		if (node === 'superAssistant') expect(second!.session_id).toBe('s-1');
	});

	test('null is no value of a field that may be left out, as in the arguments of a tool', async () => {
		replies = ['{"name": "Ada", "age": null}'];
		const { outputs } = await ask(node, FIELDS);
		expect(outputs[0]![0]!.json).toMatchObject({ output: replies[0] });
		expect(outputs[0]![0]!.json['json']).toStrictEqual({ name: 'Ada' });
		replies = ['{"name": null}'];
		const { error } = await ask(node, FIELDS);
		expect(error!.message).toMatch(/^The reply does not match the schema at #\/name/);
	});

	test('the attempts have an end, and the error has the last reply', async () => {
		replies = ['one', 'two', 'three'];
		const { error } = await ask(node, { ...FIELDS, options: { repairAttempts: 1 } });
		expect(server.requests).toHaveLength(2);
		expect(error!.description).toContain('The service said: "two"');
	});

	test.each<readonly [IDataObject, string]>([
		[
			{ responseFormat: 'schema' },
			'Response Format is JSON by Schema, but no field is defined',
		],
		[
			{ ...FIELDS, fields: { field: [{ name: '' }] } },
			'Response Format has a field without a name',
		],
		[
			{ responseFormat: 'schema', defineSchema: 'schema', jsonSchema: '{' },
			'Response Format, JSON Schema is not valid JSON',
		],
		[
			{ responseFormat: 'schema', defineSchema: 'schema', jsonSchema: '[]' },
			'Response Format has a schema that cannot be used: it is not a JSON object',
		],
		[
			{ responseFormat: 'schema', defineSchema: 'schema', jsonSchema: '{"$ref": "#"}' },
			'Response Format has a schema that cannot be used: it leads to itself',
		],
		[{ responseFormat: 'xml' }, 'Response Format is xml'],
		[{ responseFormat: 'json', options: { repairAttempts: 6 } }, 'Repair Attempts is 6'],
	])('%j is an error before the call', async (parameters, message) => {
		const { error } = await ask(node, parameters);
		expect(error!.message).toContain(message);
		expect(server.requests).toHaveLength(0);
	});
});

test('an agent asks in the same place in every round, and keeps it out of its conversation', async () => {
	replies = [null, 'Ada', '{"name": "Ada"}'];
	const parameters = {
		prompt: 'Who?',
		streaming: 'off',
		...FIELDS,
		tools: { tool: [{ name: 'find' }] },
		output: 'detailed',
		options: { repairAttempts: 1 },
	};
	const { outputs, run } = await runWorkflow(
		[
			packageNode('Agent', 'functionCallingAgent', { parameters }),
			stubNode('Find', () => [{ json: { found: 'Ada' } }]),
		],
		{ Agent: [[], [], ['Find']], Find: [['Agent']] },
		'Agent',
		{ credential: { baseUrl: server.url, apiKey: 'k' } },
	);
	expect(run.status).toBe('success');
	const asked = bodies().map(({ messages }) => messages[0]!.content);
	expect(asked[0]).toContain(JSON.stringify(SCHEMA));
	expect(new Set(asked).size).toBe(1);
	const answer = outputs[0]![0]!.json;
	expect(answer).toMatchObject({ json: { name: 'Ada' }, rounds: 2, usage: { total_tokens: 21 } });
	const messages = answer['messages'] as Body['messages'];
	expect(messages.map(({ role }) => role)).toStrictEqual([
		'user',
		'assistant',
		'tool',
		'assistant',
	]);
	expect(messages[0]!.content).toBe('Who?');
	expect(messages[3]!.content).toBe('{"name": "Ada"}');
});

test('an assistant is not asked again by Retry On Fail for a reply that is paid for', async () => {
	replies = ['Ada'];
	const { error } = await ask('superAssistant', FIELDS, { retryOnFail: true });
	expect(error!.message).toBe('The reply is not valid JSON');
	expect(server.requests).toHaveLength(1);
});

test('Extra Body Fields can ask for JSON as well', async () => {
	replies = ['{"a": 1}'];
	const extraBody = '{"response_format": {"type": "json_object"}}';
	const { outputs } = await ask('chatCompletion', { options: { extraBody } });
	expect(outputs[0]![0]!.json).toMatchObject({ json: { a: 1 } });
});

test('a reply that cannot be checked against its schema is no answer', async () => {
	// Each level is checked twice as often as the one above.
	const child = { properties: { child: { $ref: '#' } } };
	const anyOf = ['x', 'y'].map((required) => ({ ...child, required: [required] }));
	const jsonSchema = { anyOf: [...anyOf, { required: ['end'] }] };
	replies = [`${'{"child":'.repeat(40)}{"end":1}${'}'.repeat(40)}`];
	const form = { responseFormat: 'schema', defineSchema: 'schema', jsonSchema };
	const { error } = await ask('chatCompletion', form);
	expect(error!.message).toBe(
		'The reply could not be checked against the schema: it takes too many steps',
	);
	replies = ['{"end": 1}'];
	const { outputs } = await ask('chatCompletion', form);
	expect(outputs[0]![0]!.json).toMatchObject({ json: { end: 1 } });
});
