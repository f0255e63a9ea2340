import type { IExecuteFunctions } from 'n8n-workflow';

import { readToolCall, toolCall } from '../../nodes/client/chat/toolCalls';
import { readToolNodes } from '../../nodes/shared/chat/toolNodes';
import { strictContext, strictRun } from '../support/strictContext';

// Only a complete n8n has its SDK for AI nodes.
jest.mock('../../nodes/shared/chat/aiNodeSdk', () => ({
	...jest.requireActual<object>('../../nodes/shared/chat/aiNodeSdk'),
	loadAiNodeSdk: () => ({
		getParametersJsonSchema: ({ inputSchema }: { inputSchema: unknown }) => inputSchema,
	}),
}));

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };
const offer = (
	name: string,
	sourceNodeName: string,
	more: object = {},
	schema: unknown = SCHEMA,
) => ({
	name,
	description: `Does ${name}`,
	schema,
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

test('tools are declared, each with its node', async () => {
	const connected = [
		offer('weather', 'Weather'),
		toolkit(offer('search', 'Web', { isFromToolkit: true })),
	];
	expect(await read(connected)).toStrictEqual({
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

test('names that the service does not take, or that n8n has made equal, are mapped to others and back', async () => {
	const long = 'x'.repeat(70);
	const own = [
		'calendar.read',
		'calendar/read',
		'calendar_read',
		'查天气',
		'查地图',
		long,
		`${long}y`,
	];
	const names = [
		...['calendar_read', 'calendar_read_2', 'calendar_read_3', '_', '__2'],
		...['x'.repeat(60), `${'x'.repeat(60)}_2`],
	];
	const offered = own.map((name) => offer(name, 'MCP', { isFromToolkit: true }));
	const { declarations, nodes } = await read([toolkit(...offered)]);
	expect(declarations.map((declared) => declared.function.name)).toStrictEqual(names);
	expect(names.map((name) => nodes[name])).toStrictEqual(
		own.map((tool) => ({ nodeName: 'MCP', tool })),
	);
	const equal = await read([offer('a', 'A'), offer('a', 'B')]);
	expect(equal.nodes).toStrictEqual({ a: { nodeName: 'A' }, a_2: { nodeName: 'B' } });
});

test.each([
	['a pattern of Python', { pattern: '(?P<a>x)' }, 'Invalid regular expression: /(?P<a>x)/u'],
	['a type that does not exist', { type: 'float' }, 'at #/properties/a/type: '],
	['a $ref to nowhere', { $ref: 'other.json' }, 'Unresolved $ref "other.json"'],
])('a tool with %s is declared beside the others, with a hint', async (_name, a, problem) => {
	const schema = { type: 'object', properties: { a, b: { type: 'string' } } };
	const connected = [toolkit(offer('one', 'MCP', {}, schema), offer('two', 'MCP'))];
	const { declarations } = await read(connected);
	expect(declarations.map((declared) => declared.function.name)).toStrictEqual(['one', 'two']);
	expect(hints).toStrictEqual([
		expect.stringContaining(`The arguments of one cannot be checked: ${problem}`),
	]);
	const called = toolCall('1', 'one', '{"a":"y"}');
	expect(readToolCall(called, declarations)).toStrictEqual({ arguments: { a: 'y' } });
});

test.each([[undefined], [[]]])('%j are no tool nodes, and need no source', async (connected) => {
	const none = () => {
		throw new Error('no source');
	};
	expect(await read(connected, none)).toStrictEqual({ declarations: [], nodes: {} });
});

test.each([['Weather'], [undefined]])(
	'a tool of the node %s behind a human review is rejected',
	async (gatedToolNodeName) => {
		const reviewed = toolkit(offer('weather', 'Ask Ada', { gatedToolNodeName }));
		await expect(read([offer('time', 'Time'), reviewed])).rejects.toMatchObject({
			message: "Tool Nodes contain a human review, which only n8n's own agents can run",
			hint: 'Put Send and Wait for Response into a tool branch instead',
		});
	},
);

test.each([
	[() => null],
	[
		() => {
			throw new Error('Source data is missing');
		},
	],
])('a run without a source is rejected: n8n would drop the calls', async (source) => {
	await expect(read([offer('weather', 'Weather')], source)).rejects.toMatchObject({
		message: 'Tool Nodes work only when another node has started this one',
		hint: 'Connect a trigger, such as Manual Trigger, and execute the step again',
	});
});

test('execution order v0 is rejected: n8n would run the node again before its tools', async () => {
	await expect(read([offer('weather', 'Weather')], undefined, 'v0')).rejects.toMatchObject({
		message: 'Tool Nodes do not work in execution order v0',
		hint: 'Set Execution Order to v1 in the settings of the workflow, or run the tools in branches',
	});
});

test.each([
	[
		[offer('a', 'A', {}, { type: 'object', properties: null })],
		'Tool Nodes: entry 1 (a) has a schema that cannot be used: properties is not an object',
	],
])('%j are rejected: %s', async (connected, message) => {
	await expect(read(connected)).rejects.toMatchObject({ message });
});
