import type { IDataObject } from 'n8n-workflow';

import { packageNode, runAsStep, runWorkflow, stubNode } from '../support/engine';
import { json, serverForEach } from '../support/scriptedServer';

const AGENT = 'Agent';

/** The arguments that the model passes to the first tool, once. */
let args: string | undefined;

const server = serverForEach((response, { body }, index) => {
	const { tools = [] } = body as { tools?: { function: { name: string } }[] };
	const call = { id: 'a', type: 'function' };
	const tool_calls = [{ ...call, function: { name: tools[0]?.function.name, arguments: args } }];
	const asks = index === 0 && args !== undefined;
	const message = asks ? { content: null, tool_calls } : { content: 'Done.' };
	json(response, 200, {
		choices: [{ index: 0, message, finish_reason: asks ? 'tool_calls' : 'stop' }],
	});
});

beforeEach(() => {
	args = undefined;
});

/** The agent with the branch of its tool. */
const drawn = (parameters: IDataObject): Parameters<typeof runAsStep> => [
	[
		packageNode(AGENT, 'functionCallingAgent', {
			parameters: { prompt: 'Hi', streaming: 'off', ...parameters },
		}),
		stubNode('Branch', () => [{ json: { ok: true }, pairedItem: { item: 0 } }]),
	],
	{ [AGENT]: [[], [], ['Branch']], Branch: [[AGENT]] },
	AGENT,
	{ credential: { baseUrl: server.url, apiKey: 'k' } },
];

async function run(parameters: IDataObject) {
	const result = await runWorkflow(...drawn(parameters));
	const bodies = server.requests.map(({ body }) => body as IDataObject);
	return { ...result, bodies, ran: result.run.data.resultData.runData['Branch']?.length ?? 0 };
}

const withSchema = (schema: unknown): IDataObject => ({
	tools: { tool: [{ name: 'get', define: 'schema', schema: JSON.stringify(schema) }] },
});
const withParameters = (...parameter: IDataObject[]): IDataObject => ({
	tools: { tool: [{ name: 'get', define: 'fields', parameters: { parameter } }] },
});
const schemaOf = (body: IDataObject | undefined) =>
	(body!['tools'] as { function: { parameters: IDataObject } }[])[0]!.function.parameters;

const A = (schema: unknown) => ({ type: 'object', properties: { a: schema } });

const TOOLS = '[{ "type": "function", "function": { "name": "get" } }]';

describe("in n8n's engine 2.0, where nothing leads back to a node,", () => {
	test.each([
		['a tool in a branch', withSchema(A({}))],
		['tools as JSON', { toolSource: 'json', toolsJson: TOOLS }],
	])('%s is rejected before the model is asked', async (_what, tools) => {
		await expect(runAsStep(...drawn(tools))).rejects.toThrow(
			'Tool branches cannot run in this engine of n8n',
		);
		expect(server.requests).toHaveLength(0);
	});

	test('an agent without tools answers', async () => {
		const [nodes, , ...more] = drawn({});
		const [[answer] = []] = await runAsStep(nodes, {}, ...more);
		expect(answer!.json).toMatchObject({ output: 'Done.' });
	});
});

describe('a schema that cannot be used', () => {
	test.each<[unknown, string]>([
		[A({ $ref: '#/definitions/city' }), 'Unresolved $ref "#/definitions/city"'],
		[
			A({ $ref: 'https://example.com/city.json' }),
			'Unresolved $ref "https://example.com/city.json"',
		],
		[{ type: 'object', properties: null }, '#/properties'],
		[A({ type: 'float' }), '#/properties/a/type'],
		[A('string'), '#/properties/a'],
		[{ ...A({}), required: [1] }, '#/required/0'],
		[A({ items: [null] }), '#/properties/a/items/0'],
		[{ ...A({}), definitions: { x: { allOf: [0] } } }, '#/definitions/x/allOf/0'],
		[A({ $id: 'http://' }), 'Invalid URL'],
		[A({ items: { anyOf: [{ pattern: '(?i)x' }] } }), 'Invalid regular expression: /(?i)x/u'],
		[A({ exclusiveMinimum: true }), '#/properties/a/exclusiveMinimum'],
	])('%j fails before the first request: %s', async (schema, problem) => {
		const { error } = await run(withSchema(schema));
		expect(error!.message).toMatch(/^Tools: entry 1 \(get\) has a schema that cannot be used/);
		expect(error!.message).toContain(problem);
		expect(server.requests).toHaveLength(0);
	});
});

describe('an exotic schema is sent unchanged, and its calls run', () => {
	test.each<[string, unknown, object]>([
		[
			'a parameter named pattern',
			A({ type: 'object', properties: { pattern: {} } }),
			{ a: {} },
		],
		['a $ref with a target', { ...A({ $ref: '#/$defs/b' }), $defs: { b: {} } }, { a: 1 }],
		[
			'a parameter named nullable',
			{ type: 'object', properties: { nullable: { type: 'boolean' } } },
			{ nullable: true },
		],
		['keywords of others', A({ type: 'string', nullable: true, 'x-order': 1 }), { a: 'x' }],
	])('%s', async (_name, schema, passed) => {
		args = JSON.stringify(passed);
		const { bodies, ran, error } = await run(withSchema(schema));
		expect(error).toBeUndefined();
		expect(schemaOf(bodies[0])).toStrictEqual(schema);
		expect(ran).toBe(1);
	});

	test('a keyword of another dialect means nothing: arguments are checked without it', async () => {
		args = '{"a":1}';
		const { bodies, ran } = await run(withSchema(A({ type: 'string', nullable: true })));
		expect(ran).toBe(0);
		expect(bodies[1]).toMatchObject({
			messages: [
				{},
				{},
				{ content: expect.stringContaining('Expected \\"string\\"') as string },
			],
		});
	});
});

describe('Allowed Values', () => {
	test.each<[string, string, object, object]>([
		['integer', '5, 10', { type: 'integer', enum: [5, 10] }, { a: 5 }],
		['number', '0.5, -1', { type: 'number', enum: [0.5, -1] }, { a: 0.5 }],
		['boolean', 'True', { type: 'boolean', enum: [true] }, { a: true }],
		['string', '5, x', { type: 'string', enum: ['5', 'x'] }, { a: '5' }],
		[
			'array',
			'x, y',
			{ type: 'array', items: { type: 'string', enum: ['x', 'y'] } },
			{ a: ['y'] },
		],
		['object', ' ', { type: 'object' }, { a: {} }],
	])('of type %s: %s', async (type, values, schema, passed) => {
		args = JSON.stringify(passed);
		const { bodies, ran } = await run(withParameters({ name: 'a', type, values }));
		expect(schemaOf(bodies[0])['properties']).toStrictEqual({ a: schema });
		expect(ran).toBe(1);
	});

	test.each<[string, string, string]>([
		['integer', '5, 1.5', 'allows 1.5, which is not of the type integer'],
		['boolean', 'true, yes', 'allows yes, which is not of the type boolean'],
		['boolean', 'constructor', 'allows constructor, which is not of the type boolean'],
		['object', 'x', 'allows x, which is not of the type object'],
	])('of type %s: %s is rejected', async (type, values, problem) => {
		const { error } = await run(withParameters({ name: 'a', type, values }));
		expect(error!.message).toBe(`Tools: entry 1 (get), parameter a ${problem}`);
		expect(error!.description).toContain('Allowed Values');
		expect(server.requests).toHaveLength(0);
	});
});

test('a parameter may have the name of a built-in property', async () => {
	const { bodies } = await run(withParameters({ name: 'constructor' }, { name: '__proto__' }));
	expect(Object.keys(schemaOf(bodies[0])['properties'] as object)).toContain('constructor');
	expect(JSON.stringify(bodies[0])).toContain('"__proto__":{"type":"string"}');
});

test.each<[IDataObject, string, string]>([
	[
		withParameters({ name: 'a' }, { name: ' a ' }),
		'Tools: entry 1 (get) repeats the parameter a',
		'Give each parameter a unique name',
	],
	[
		withParameters({ name: ' ' }),
		'Tools: entry 1 (get) has a parameter without a name',
		'Name the parameter, or remove it',
	],
	[
		{ tools: { tool: [{ name: 'get weather' }] } },
		'Tools: entry 1 has no valid name',
		'Use letters, digits, _ and -, at most 64 characters',
	],
	[
		{ tools: { tool: [{ name: '天气' }] } },
		'Tools: entry 1 has no valid name',
		'Use letters, digits, _ and -, at most 64 characters',
	],
	[
		{ tools: { tool: [{ name: 'a', define: 'schema', schema: '{' }] } },
		'Tools: entry 1 (a), JSON Schema is not valid JSON',
		'',
	],
	[
		{ toolSource: 'json', toolsJson: '{}' },
		'Tool Declarations is not a list',
		'Enter a JSON list',
	],
	[
		{ toolSource: 'json', toolsJson: '[1]' },
		'Tool Declarations: entry 1 is not a tool declaration',
		'Write it as',
	],
	[{ toolSource: 'json', toolsJson: '[' }, 'Tool Declarations is not valid JSON', 'Check quotes'],
])('%j is rejected: %s', async (parameters, message, hint) => {
	const { error } = await run(parameters);
	expect(error!.message).toBe(message);
	expect(error!.description).toContain(hint);
	expect(server.requests).toHaveLength(0);
});
