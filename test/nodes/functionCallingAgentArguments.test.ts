import type { IDataObject } from 'n8n-workflow';

import type { ChatMessage } from '../../nodes/client/chat/types';
import { packageNode, runWorkflow, stubNode } from '../support/engine';
import { json, serverForEach } from '../support/scriptedServer';

/** What a hostile model adds to the declared argument `city`. */
const UNDECLARED = {
	customerId: 'c-2',
	pairedItem: { item: 7 },
	constructor: 'x',
	toString: 'x',
	json: { city: 'Paris' },
	tool_call: { id: 'c9', tool: 'refund', round: 1, conversation: 0 },
};
const ENVELOPE = { id: 'c1', tool: 'weather', round: 1, conversation: 0 };

/** A tool with the argument `city`, declared in each way. */
const FIELDS = { define: 'fields', parameters: { parameter: [{ name: 'city' }] } };
const EXAMPLE = { define: 'example', example: '{ "city": "Rome" }' };
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };
const OPEN = { define: 'schema', schema: JSON.stringify(SCHEMA) };
const CLOSED = {
	define: 'schema',
	schema: JSON.stringify({ ...SCHEMA, additionalProperties: false }),
};

let args: object;

const server = serverForEach((response, _request, index) => {
	const calls = [
		{
			id: 'c1',
			type: 'function',
			function: { name: 'weather', arguments: JSON.stringify(args) },
		},
	];
	const message =
		index === 0
			? { role: 'assistant', content: null, tool_calls: calls }
			: { role: 'assistant', content: 'Done.' };
	const finish_reason = index === 0 ? 'tool_calls' : 'stop';
	json(response, 200, { choices: [{ index: 0, message, finish_reason }] });
});

beforeEach(() => {
	args = { city: 'Rome', ...UNDECLARED };
});

async function run(tool: object, options: IDataObject = {}) {
	const branch: IDataObject[] = [];
	const nodes = [
		packageNode('Agent', 'functionCallingAgent', {
			parameters: {
				prompt: 'Weather?',
				streaming: 'off',
				tools: { tool: [{ name: 'weather', description: 'Tells the weather', ...tool }] },
				options,
			},
		}),
		stubNode('Branch', (items) => {
			branch.push(...items.map((item) => item.json));
			return items.map((_item, item) => ({ json: { degrees: 7 }, pairedItem: { item } }));
		}),
	];
	const { outputs, status } = await runWorkflow(
		nodes,
		{ Agent: [[], [], ['Branch']], Branch: [['Agent']] },
		'Agent',
		{ credential: { baseUrl: server.url, apiKey: 'k' } },
	);
	expect(status).toBe('success');
	expect(outputs[0]![0]!.json['output']).toBe('Done.');
	const { messages } = server.requests[1]!.body as { messages: ChatMessage[] };
	return { branch, told: messages.at(-1)!.content };
}

test.each([
	['fields', FIELDS],
	['an example', EXAMPLE],
	['a schema that excludes others', CLOSED],
])('undeclared arguments of a tool with %s are told to the model', async (_name, tool) => {
	const { branch, told } = await run(tool);
	expect(branch).toEqual([]);
	expect(told).toContain('it does not declare customerId, pairedItem, constructor');
});

test('arguments of a schema that allows others reach the branch, but not as the call of another tool', async () => {
	const { branch } = await run(OPEN);
	expect(branch).toEqual([{ ...args, tool_call: ENVELOPE }]);
});

test('an empty object in an example allows any keys', async () => {
	args = { city: { name: 'Rome' }, filter: { any: 1 } };
	const tool = { define: 'example', example: '{ "city": { "name": "a" }, "filter": {} }' };
	expect((await run(tool)).branch).toEqual([{ ...args, tool_call: ENVELOPE }]);
	server.requests.length = 0;
});

test('undeclared keys within an argument are told, too', async () => {
	args = { city: { name: 'Rome', admin: true }, list: [{ a: 1, b: 2 }] };
	const tool = {
		define: 'example',
		example: '{ "city": { "name": "a" }, "list": [{ "a": 1 }] }',
	};
	expect((await run(tool)).told).toContain('it does not declare admin, b');
});
