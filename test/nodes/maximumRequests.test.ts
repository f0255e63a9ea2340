/** Maximum Requests: what all chat nodes may send in one execution. */
import type { IDataObject } from 'n8n-workflow';

import {
	allItems,
	modelCallerNode,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type EnvironmentOptions,
} from '../support/engine';
import { CHAT_NODES, type ChatNodeName } from '../support/fourNodes';
import {
	json,
	startScriptedServer,
	type Script,
	type ScriptedServer,
} from '../support/scriptedServer';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

const says =
	(message: object, finish_reason = 'stop'): Script =>
	(response) => {
		json(response, 200, { choices: [{ index: 0, message, finish_reason }] });
	};
const HELLO = says({ content: 'Hello' });

let server: ScriptedServer;
let script: Script;
const credential = () => ({ baseUrl: server.url, apiKey: 'k' });

beforeEach(async () => {
	script = HELLO;
	server = await startScriptedServer((...args) => {
		script(...args);
	});
});
afterEach(async () => {
	await server.stop();
});

const ITEMS = [{}, {}, {}];
const LIMIT = 'Maximum Requests is 2, and this node has sent 2 in this execution';

/** Asks with these options for each item. */
async function ask(
	node: ChatNodeName,
	given: IDataObject,
	more: Partial<EnvironmentOptions & { retryOnFail: boolean }> = {},
) {
	const [type, usual] = CHAT_NODES[node];
	const parameters = { ...usual, streaming: 'off', ...given };
	const run = { credential: credential(), items: ITEMS, ...more };
	if (node !== 'model')
		return await runNode(type, { ...run, parameters, onError: 'continueRegularOutput' });
	const chain = modelCallerNode('Chain', { stream: false, onError: 'continueRegularOutput' });
	return await runWorkflow([packageNode('Model', type, { parameters }), chain], {}, 'Chain', {
		...run,
		model: { name: 'Model', of: 'Chain' },
	});
}

describe.each(Object.keys(CHAT_NODES) as ChatNodeName[])('%s', (node) => {
	test('no request above the limit is sent, and the error says so', async () => {
		const { outputs } = await ask(node, { maximumRequests: 2, options: { retries: 0 } });
		expect(server.requests).toHaveLength(2);
		const failed = outputs.flat().filter(({ json: fields }) => fields['error'] !== undefined);
		expect(failed).toHaveLength(1);
		expect(JSON.stringify(failed)).toContain(LIMIT);
		expect(JSON.stringify(server.requests)).not.toContain('maximum');
	});

	test('by default there is no limit', async () => {
		const { outputs } = await ask(node, {});
		expect(server.requests).toHaveLength(3);
		expect(JSON.stringify(outputs)).not.toContain('error');
	});

	test('a retry counts; without one left the error is that of the service', async () => {
		script = (response) => {
			json(response, 429, { error: { message: 'Slow down' } }, { 'retry-after': '0' });
		};
		const { outputs } = await ask(node, { maximumRequests: 2 }, { items: [{}] });
		expect(server.requests).toHaveLength(2);
		expect(JSON.stringify(outputs)).toContain('Too many requests');
	});
});

test('the attempts to repair a reply count, and what was paid for is kept', async () => {
	script = says({ content: 'No JSON' });
	const { error } = await runNode('chatCompletion', {
		credential: credential(),
		parameters: {
			prompt: 'Hi',
			responseFormat: 'json',
			maximumRequests: 2,
			options: { repairAttempts: 5 },
		},
	});
	expect(server.requests).toHaveLength(2);
	expect(error!.message).toBe(LIMIT);
	expect(JSON.stringify(error)).toContain('No JSON');
});

test('a fallback counts', async () => {
	script = (response) => {
		json(response, 404, { error: { message: 'model not found' } });
	};
	const { error } = await runNode('chatCompletion', {
		credential: credential(),
		parameters: {
			prompt: 'Hi',
			maximumRequests: 2,
			options: { fallbacks: 'b, c, d' },
		},
	});
	expect(server.requests).toHaveLength(2);
	expect(error!.message).toBe(LIMIT);
});

test('the rounds and later items of an agent count, and so does each turn of a loop around it', async () => {
	const tool = { name: 'look', define: 'example', example: '{}' };
	const called = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
	script = (response, request, index) => {
		const { messages } = request.body as { messages: { role: string }[] };
		const asks = messages.at(-1)!.role === 'user';
		(asks ? says({ content: null, tool_calls: [called] }, 'tool_calls') : HELLO)(
			response,
			request,
			index,
		);
	};
	let left = 3;
	const result = await runWorkflow(
		[
			stubNode('Start', (items) => items),
			packageNode('Agent', 'functionCallingAgent', {
				onError: 'continueRegularOutput',
				parameters: {
					prompt: 'Hi',
					streaming: 'off',
					tools: { tool: [tool] },
					maximumRequests: 3,
				},
			}),
			stubNode('Look', (items) =>
				items.map((each, item) => ({ ...each, pairedItem: { item } })),
			),
			stubNode('Again', () => (left-- > 1 ? [{ json: { next: left } }] : [])),
		],
		{
			Start: [['Agent']],
			Agent: [['Again'], [], ['Look']],
			Look: [['Agent']],
			Again: [['Agent']],
		},
		'Start',
		{ credential: credential() },
	);
	expect(server.requests).toHaveLength(3);
	const [answers = []] = allItems(result, 'Agent');
	expect(
		answers.map(({ json: { output = null, error = null } }) => [output, error]),
	).toStrictEqual([
		['Hello', null],
		[null, LIMIT.replaceAll('2', '3')],
		[null, LIMIT.replaceAll('2', '3')],
	]);
});

test('Retry On Fail goes on counting; the retry of an execution starts at zero', async () => {
	script = (response) => {
		json(response, 503, {});
	};
	const first = await runNode('chatCompletion', {
		credential: credential(),
		retryOnFail: true,
		parameters: { prompt: 'Hi', maximumRequests: 2 },
		execution: { id: '1', token: 'one' },
	});
	expect(server.requests).toHaveLength(2);
	const { error } = await first.resume({ id: '2', token: 'one', isRetry: true });
	expect(server.requests).toHaveLength(4);
	expect(error!.message).toBe(LIMIT);
});
