/** The tools of Agent with Tools: how they are declared, which arguments reach their branches, and connected tool nodes. */
import type { IDataObject, IExecuteFunctions, INode } from 'n8n-workflow';

import { readToolCall, toolCall } from '../../nodes/client/chat/toolCalls';
import { readToolNodes } from '../../nodes/shared/chat/toolNodes';
import * as aiNodeSdk from '../support/aiNodeSdk';
import { finds, maps, modelForDrawings } from '../support/drawnAgent';
import {
	packageNode,
	runAsStep,
	runWorkflow,
	stubNode,
	toolNode,
	type StubWork,
} from '../support/engine';
import { strictContext, strictRun } from '../support/strictContext';

const model = modelForDrawings();
const DONE = { message: { content: 'Done.' }, finish_reason: 'stop' };

/** Runs an agent with one branch, whose first tool the model calls with these arguments, if any. */
async function run(parameters: IDataObject, args?: object, name = 'get') {
	const called = { name, arguments: JSON.stringify(args) };
	const tool_calls = [{ id: 'c1', type: 'function', function: called }];
	const asked = { message: { content: null, tool_calls }, finish_reason: 'tool_calls' };
	model.replies(...(args === undefined ? [] : [asked]), DONE);
	const branch: IDataObject[] = [];
	const work = maps((json) => {
		branch.push(json);
		return { ok: true };
	});
	const ways = 'Agent > Answers; Agent:2 > Branch > Agent';
	const seen = await model.run({ ways, nodes: { Branch: work }, parameters });
	const declared = model.bodies[0]?.['tools'] as
		readonly { function: { parameters: IDataObject } }[] | undefined;
	return { ...seen, branch, declared, schema: declared?.[0]!.function.parameters };
}

const withTool = (tool: object): IDataObject => ({ tools: { tool: [{ name: 'get', ...tool }] } });
const withSchema = (schema: unknown) =>
	withTool({ define: 'schema', schema: JSON.stringify(schema) });
const withExample = (example: unknown) =>
	withTool({ define: 'example', example: JSON.stringify(example) });
const withParameters = (...parameter: IDataObject[]) =>
	withTool({ define: 'fields', parameters: { parameter } });
const asJson = (toolsJson: string): IDataObject => ({ toolSource: 'json', toolsJson });
const A = (schema: unknown) => ({ type: 'object', properties: { a: schema } });

test('tools are declared by example, by schema, and as JSON through one output', async () => {
	const schema = '{"type": "object"}';
	const example = '{"n": 1, "tags": ["x"]}';
	const tool = [
		{ name: 'a', description: '', define: 'example', example },
		{ name: 'b', description: '', define: 'schema', schema },
	];
	await model.run({
		tools: 'a b',
		ways: 'a > Agent; b > Agent',
		parameters: { tools: { tool } },
	});
	await run(asJson('={{ [{ type: "function", function: { name: "c" } }] }}'));
	const inferred = {
		type: 'object',
		properties: { n: { type: 'number' }, tags: { type: 'array', items: { type: 'string' } } },
		required: ['n', 'tags'],
		additionalProperties: false,
	};
	expect(model.bodies.map(({ tools }) => tools)).toContainEqual([
		{ type: 'function', function: { name: 'a', description: '', parameters: inferred } },
		{
			type: 'function',
			function: { name: 'b', description: '', parameters: { type: 'object' } },
		},
	]);
	expect(model.bodies.at(-1)!['tools']).toStrictEqual([
		{ type: 'function', function: { name: 'c' } },
	]);
});

describe("in n8n's engine 2.0, where nothing leads back to a node,", () => {
	const drawn = (parameters: IDataObject): Parameters<typeof runAsStep> => [
		[
			packageNode('Agent', 'functionCallingAgent', {
				parameters: { prompt: 'Hello', streaming: 'off', ...parameters },
			}),
			stubNode('Branch', finds),
		],
		{ Agent: [[], [], ['Branch']], Branch: [['Agent']] },
		'Agent',
		{ credential: model.credential },
	];

	test.each([
		['a tool in a branch', withSchema(A({}))],
		['tools as JSON', asJson('[{ "type": "function", "function": { "name": "get" } }]')],
	])('%s is rejected before the model is asked', async (_what, tools) => {
		await expect(runAsStep(...drawn(tools))).rejects.toThrow(
			'Tool branches cannot run in this engine of n8n',
		);
		expect(model.requests).toHaveLength(0);
	});

	test('an agent without tools answers', async () => {
		const [nodes, , ...more] = drawn({});
		const [[answer] = []] = await runAsStep(nodes, {}, ...more);
		expect(answer!.json).toMatchObject({ output: 'Hello:' });
	});
});

test.each<[unknown, string]>([
	[A({ $ref: '#/definitions/city' }), 'Unresolved $ref "#/definitions/city"'],
	[{ type: 'object', properties: null }, '#/properties'],
	[A({ type: 'float' }), '#/properties/a/type'],
	[{ ...A({}), required: [1] }, '#/required/0'],
	[A({ items: [null] }), '#/properties/a/items/0'],
	[{ ...A({}), definitions: { x: { allOf: [0] } } }, '#/definitions/x/allOf/0'],
	[A({ $id: 'http://' }), 'Invalid URL'],
	[A({ items: { anyOf: [{ pattern: '(?i)x' }] } }), 'Invalid regular expression: /(?i)x/u'],
])(
	'the schema %j cannot be used, and fails before the first request: %s',
	async (schema, problem) => {
		const { failure } = await run(withSchema(schema));
		expect(failure).toMatch(/^Tools: entry 1 \(get\) has a schema that cannot be used/);
		expect(failure).toContain(problem);
		expect(model.requests).toHaveLength(0);
	},
);

test.each<[string, unknown, object]>([
	['a parameter named pattern', A(A({ properties: { pattern: {} } })), { a: {} }],
	['a $ref with a target', { ...A({ $ref: '#/$defs/b' }), $defs: { b: {} } }, { a: 1 }],
	['keywords of others', A({ type: 'string', nullable: true, 'x-order': 1 }), { a: 'x' }],
])('an exotic schema is sent unchanged, and its calls run: %s', async (_name, schema, passed) => {
	const seen = await run(withSchema(schema), passed);
	expect([seen.failure, seen.branch.length]).toStrictEqual(['', 1]);
	expect(seen.schema).toStrictEqual(schema);
});

describe('arguments', () => {
	/** What a hostile model adds to the declared argument `city`. */
	const ARGS = {
		city: 'Rome',
		customerId: 'c-2',
		pairedItem: { item: 7 },
		constructor: 'x',
		toString: 'x',
		json: { city: 'Paris' },
		tool_call: { id: 'c9', tool: 'refund', round: 1, conversation: 0 },
	};
	const ENVELOPE = { id: 'c1', tool: 'get', round: 1, conversation: 0 };
	const OPEN = { type: 'object', properties: { city: { type: 'string' } } };

	test.each([
		['fields', withParameters({ name: 'city' })],
		['an example', withExample({ city: 'Rome' })],
		['an example without arguments', withExample({})],
		['a schema that excludes others', withSchema({ ...OPEN, additionalProperties: false })],
	])('that are not declared are told to the model, for a tool with %s', async (_name, tool) => {
		const { branch } = await run(tool, ARGS);
		expect(branch).toStrictEqual([]);
		expect(model.told[0]).toMatch(/it does not declare (city, )?customerId, pairedItem, const/);
	});

	test.each<[string, IDataObject, object, string]>([
		[
			'that are not declared within another one',
			withExample({ city: { name: 'a' }, list: [{ a: 1 }] }),
			{ city: { name: 'Rome', admin: true }, list: [{ a: 1, b: 2 }] },
			'it does not declare admin, b',
		],
		[
			'of a wrong type, whatever a keyword of another dialect says',
			withSchema(A({ type: 'string', nullable: true })),
			{ a: 1 },
			'Expected \\"string\\"',
		],
	])('%s are told, too', async (_name, tool, args, told) => {
		expect((await run(tool, args)).branch).toStrictEqual([]);
		expect(model.told[0]).toContain(told);
	});

	test.each<[string, IDataObject, object]>([
		['of a schema that allows others', withSchema(OPEN), ARGS],
		[
			'for an empty object in an example',
			withExample({ city: { name: 'a' }, filter: {} }),
			{ city: { name: 'Rome' }, filter: { any: 1 } },
		],
	])('%s reach the branch, but not as the call of another tool', async (_name, tool, args) => {
		const { branch } = await run(tool, args);
		expect(branch).toStrictEqual([{ ...args, tool_call: ENVELOPE }]);
	});
});

describe('Allowed Values', () => {
	test.each<[string, string, object, object]>([
		['integer', '5, 10', { type: 'integer', enum: [5, 10] }, { a: 5 }],
		['number', '0.5, -1', { type: 'number', enum: [0.5, -1] }, { a: 0.5 }],
		['boolean', 'True', { type: 'boolean', enum: [true] }, { a: true }],
		['string', '5, x', { type: 'string', enum: ['5', 'x'] }, { a: '5' }],
		[
			...(['array', 'x, y'] as const),
			{ type: 'array', items: { type: 'string', enum: ['x', 'y'] } },
			{ a: ['y'] },
		],
		['object', ' ', { type: 'object' }, { a: {} }],
	])('of type %s: %s', async (type, values, declared, passed) => {
		const { schema, branch } = await run(withParameters({ name: 'a', type, values }), passed);
		expect(schema!['properties']).toStrictEqual({ a: declared });
		expect(branch).toHaveLength(1);
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
		expect(model.requests).toHaveLength(0);
	});
});

test('a parameter may have the name of a built-in property', async () => {
	const { schema } = await run(withParameters({ name: 'constructor' }, { name: '__proto__' }));
	expect(Object.keys(schema!['properties'] as object)).toContain('constructor');
	expect(JSON.stringify(schema)).toContain('"__proto__":{"type":"string"}');
});

const NAMES = 'Use letters, digits, _ and -, at most 64 characters';

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
		withParameters({ name: 'tool_call' }),
		'Tools: get has a parameter tool_call, which the node adds to each call itself',
		'Rename the parameter',
	],
	[withTool({ name: 'get weather' }), 'Tools: entry 1 has no valid name', NAMES],
	[withTool({ name: '天气' }), 'Tools: entry 1 has no valid name', NAMES],
	[
		withTool({ define: 'schema', schema: '{' }),
		'Tools: entry 1 (get), JSON Schema is not valid JSON',
		'',
	],
	[asJson('{}'), 'Tool Declarations is not a list', 'Enter a JSON list'],
	[asJson('[1]'), 'Tool Declarations: entry 1 is not a tool declaration', 'Write it as'],
	[asJson('['), 'Tool Declarations is not valid JSON', 'Check quotes'],
])('%j is rejected: %s', async (parameters, message, hint) => {
	const { error } = await run(parameters);
	expect(error!.message).toBe(message);
	expect(error!.description).toContain(hint);
	expect(model.requests).toHaveLength(0);
});

describe('connected tool nodes', () => {
	const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };
	const offer = (name: string, sourceNodeName: string, more = {}, schema: unknown = SCHEMA) => ({
		...{ name, description: `Does ${name}`, schema },
		metadata: { sourceNodeName, ...more },
	});
	/** Several tools of one node, as n8n passes them. */
	const toolkit = (...tools: object[]) => ({ tools, getTools: () => tools });

	let hints: string[];
	beforeEach(() => {
		hints = [];
	});

	const read = async (
		connected: unknown,
		getInputSourceData: () => unknown = () => ({}),
		executionOrder = 'v1',
	) => {
		const engine = { runExecutionData: undefined, workflow: { settings: { executionOrder } } };
		const context = strictContext({
			getContext: () => ({}),
			getInputConnectionData: () => Promise.resolve(connected),
			getInputSourceData: getInputSourceData as IExecuteFunctions['getInputSourceData'],
			...engine,
		});
		const hint = (message: string) => void hints.push(message);
		return await readToolNodes(strictRun({ context, hint }));
	};
	const namesOf = ({ declarations }: Awaited<ReturnType<typeof read>>) =>
		declarations.map((declared) => declared.function.name);
	const noSource = () => {
		throw new Error('Source data is missing');
	};

	test('are declared, each with its node', async () => {
		const search = offer('search', 'Web', { isFromToolkit: true });
		expect(await read([offer('weather', 'Weather'), toolkit(search)])).toStrictEqual({
			// The arguments of a node are merged into the item that its expressions read.
			declarations: [
				{ name: 'weather', parameters: { additionalProperties: false, ...SCHEMA } },
				{ name: 'search', parameters: SCHEMA },
			].map(({ name, parameters }) => ({
				type: 'function',
				function: { name, description: `Does ${name}`, parameters },
			})),
			nodes: {
				weather: { nodeName: 'Weather' },
				search: { nodeName: 'Web', tool: 'search' },
			},
		});
	});

	test('have names that the service takes, which are mapped to their own and back', async () => {
		const long = 'x'.repeat(70);
		const named = {
			'calendar.read': 'calendar_read',
			'calendar/read': 'calendar_read_2',
			calendar_read: 'calendar_read_3',
			查天气: '_',
			查地图: '__2',
			[long]: 'x'.repeat(60),
			[`${long}y`]: `${'x'.repeat(60)}_2`,
		};
		const own = Object.keys(named);
		const tools = own.map((name) => offer(name, 'MCP', { isFromToolkit: true }));
		const seen = await read([toolkit(...tools)]);
		expect(namesOf(seen)).toStrictEqual(Object.values(named));
		expect(Object.values(named).map((name) => seen.nodes[name])).toStrictEqual(
			own.map((tool) => ({ nodeName: 'MCP', tool })),
		);
		// n8n may have made them equal.
		const { nodes } = await read([offer('a', 'A'), offer('a', 'B')]);
		expect(nodes).toStrictEqual({ a: { nodeName: 'A' }, a_2: { nodeName: 'B' } });
	});

	test.each([
		['a pattern of Python', { pattern: '(?P<a>x)' }, 'Invalid regular expression: /(?P<a>x)/u'],
		['a type that does not exist', { type: 'float' }, 'at #/properties/a/type: '],
	])('with %s are declared beside the others, with a hint', async (_name, a, problem) => {
		const schema = { type: 'object', properties: { a, b: { type: 'string' } } };
		const seen = await read([toolkit(offer('one', 'MCP', {}, schema), offer('two', 'MCP'))]);
		expect(namesOf(seen)).toStrictEqual(['one', 'two']);
		expect(hints).toStrictEqual([
			expect.stringContaining(`The arguments of one cannot be checked: ${problem}`),
		]);
		const called = toolCall('1', 'one', '{"a":"y"}');
		expect(readToolCall(called, seen.declarations)).toStrictEqual({ arguments: { a: 'y' } });
	});

	test.each([[undefined], [[]]])(
		'are not those of %j, which need no source',
		async (connected) => {
			expect(await read(connected, noSource)).toStrictEqual({ declarations: [], nodes: {} });
		},
	);

	const SOURCE = {
		message: 'Tool Nodes work only when another node has started this one',
		hint: 'Connect a trigger, such as Manual Trigger, and execute the step again',
	};

	test.each<[string, object, object, source?: (() => unknown) | undefined, order?: string]>([
		...['Weather', undefined].map((gatedToolNodeName): [string, object, object] => [
			`behind a human review of ${gatedToolNodeName}`,
			toolkit(offer('weather', 'Ask Ada', { gatedToolNodeName })),
			{
				message: "Tool Nodes contain a human review, which only n8n's own agents can run",
				hint: 'Put Send and Wait for Response into a tool branch instead',
			},
		]),
		// n8n would drop the calls.
		['without a source', offer('weather', 'Weather'), SOURCE, () => null],
		['where n8n throws for want of one', offer('weather', 'Weather'), SOURCE, noSource],
		[
			'in execution order v0, in which n8n would run the node again before its tools',
			offer('weather', 'Weather'),
			{
				message: 'Tool Nodes do not work in Execution Logic v0',
				hint: 'Set Execution Logic (in older versions Execution Order) to v1 in the settings of the workflow, or run the tools in branches',
			},
			undefined,
			'v0',
		],
		[
			'with parameters that are none',
			offer('a', 'A', {}, { type: 'object', properties: null }),
			{
				message:
					'Tool Nodes: entry 2 (a) has a schema that cannot be used: properties is not an object',
			},
		],
	])('are rejected %s', async (_name, connected, error, ...where) => {
		const reading = read([offer('time', 'Time'), connected], ...where);
		await expect(reading).rejects.toMatchObject(error);
	});
});

describe('a run that goes on with connected tool nodes', () => {
	const toolsOf = (...names: readonly string[]) => ({
		tools: {
			tool: names.map((each) => ({
				...{ name: each, define: 'fields' },
				parameters: { parameter: [{ name: 'city' }] },
			})),
		},
	});

	/** Runs an agent with two tools in branches, where nothing is found at first, and with a tool node. */
	async function begin(prompt: string, tool: Partial<INode>, work: StubWork = finds) {
		const name = String(tool.name);
		const parameters = { prompt, streaming: 'off', ...toolsOf('weather', 'time') };
		const nodes = [
			{ ...stubNode('Start', (items) => items), type: 'n8n-nodes-base.manualTrigger' },
			packageNode('Agent', 'functionCallingAgent', { parameters }),
			...['Answers', 'Weather', 'Time'].map((each) => stubNode(each, () => [])),
			{ ...toolNode(name, work), ...tool },
		];
		const wires = {
			Agent: [['Answers'], [], ['Weather'], ['Time']],
			...{ Start: [['Agent']], Weather: [['Agent']], Time: [['Agent']] },
		};
		const { credential } = model;
		const more = { credential, tools: { [name]: 'Agent' } };
		const first = await runWorkflow(nodes, wires, 'Start', more);
		/** Repeats it with the workflow that is saved now. */
		const retry = async (correct: (node: INode) => INode) => {
			// n8n writes this field to the nodes of an execution, which are not those that it has saved.
			const saved = ({ rewireOutputLogTo: _way, ...node }: INode) => correct(node);
			return await first.resume({ id: '2', token: 't', isRetry: true }, saved);
		};
		return { first, retry };
	}

	test('counts all tokens, and keeps its attributes and hints', async () => {
		const declare = jest.spyOn(aiNodeSdk, 'getParametersJsonSchema');
		declare.mockImplementation(({ inputSchema }) => ({
			...(inputSchema as object),
			properties: { city: { pattern: '(?P<a>x)' } },
		}));
		const { first } = await begin('calc:Rome; calc:Oslo', { name: 'calc' });
		declare.mockRestore();
		const [run, ...others] = first.run.data.resultData.runData['Agent']!;
		expect([first.error, others]).toStrictEqual([undefined, []]);
		expect(run!.metadata).toMatchObject({
			tokenUsage: { inputTokens: 30, outputTokens: 15 },
			tracing: { 'gen_ai.usage.input_tokens': 30, 'gen_ai.usage.output_tokens': 15 },
		});
		expect(first.hints).toStrictEqual([
			expect.stringMatching(/^The arguments of calc cannot be checked/),
		]);
	});

	test('tells the model what one has found that has failed, and was corrected before a Retry', async () => {
		let isBroken = true;
		const { first, retry } = await begin(
			'calc:Rome',
			{ name: 'calc', onError: 'stopWorkflow' },
			(items) => {
				if (isBroken) throw new Error('Wrong key');
				return finds(items);
			},
		);
		expect(first.error?.message).toBe('Wrong key');
		isBroken = false;
		const { error, run } = await retry((node) => node);
		const told = model.requests.at(-1)!.at(-1)!.content;
		expect([error, told, run.status]).toStrictEqual([undefined, '{"degrees":4}', 'success']);
	});

	test.each([
		['of another tool', toolsOf('time', 'other'), 'none'],
		['Stopped', {}, 'Weather Time'],
	])(
		'sends no open call through the output %s where a tool node has got its name',
		async (_name, tools, gone) => {
			const { first, retry } = await begin('Rome', { name: 'weather', disabled: true });
			expect(first.error?.message).toMatch(/^Tool weather returned no item/);
			const { error } = await retry(({ disabled: _off, ...node }) => ({
				...node,
				name: gone.includes(node.name) ? `No ${node.name}` : node.name,
				...(node.name === 'Agent' && { parameters: { prompt: 'Rome', ...tools } }),
			}));
			expect(error?.message).toMatch(/^Tools have weather no longer where its calls leave/);
		},
	);
});
