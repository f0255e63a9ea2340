import { LLMock } from '@copilotkit/aimock';

import {
	allItems,
	modelCallerNode,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
} from '../support/engine';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

// A third-party server with the OpenAI-compatible chat schema.
const other = new LLMock({ host: '127.0.0.1', port: 0, latency: 1, chunkSize: 4 });
const credential = () => ({ baseUrl: `${other.url}/v1`, apiKey: 'any' });
const MODEL = { __rl: true, mode: 'id', value: 'gpt-4o' };

/** What the caller of a chat model puts out: the pieces of a stream, or a message. */
interface Reply extends Piece {
	readonly said?: readonly Piece[];
	readonly message?: { readonly content: readonly Piece[] };
}

interface Piece {
	readonly delta?: string;
	readonly text?: string;
}

beforeAll(async () => {
	other.onMessage('hello', { content: 'Hi there, friend of the sea' });
	other.onMessage('json', { content: '{"clips": 3}' });
	other.onMessage('think', { content: 'Forty', reasoning: 'Six times seven is more' });
	other.on(
		{ userMessage: 'how deep', hasToolResult: false },
		{
			toolCalls: [
				{ name: 'depth', arguments: { lake: 'Como' } },
				{ name: 'depth', arguments: { lake: 'Garda' } },
			],
		},
	);
	other.on({ userMessage: 'how deep', hasToolResult: true }, { content: 'Como is deeper' });
	other.onMessage('Hi', { content: 'Hello from afar' });
	other.onMessage('weather', { toolCalls: [{ name: 'weather', arguments: { city: 'Rome' } }] });
	await other.start();
});
afterAll(async () => {
	await other.stop();
});

const ask = async (prompt: string, streaming: string, options = {}, responseFormat = 'text') =>
	await runNode('chatCompletion', {
		credential: credential(),
		parameters: {
			prompt,
			streaming,
			model: MODEL,
			responseFormat,
			output: 'detailed',
			options,
		},
	});

describe.each(['auto', 'off'])('with Streaming set to %s', (streaming) => {
	test('a reply arrives with its usage', async () => {
		const { outputs } = await ask('hello', streaming);
		expect(outputs[0]![0]!.json).toMatchObject({
			output: 'Hi there, friend of the sea',
			finish_reason: 'stop',
			model: 'gpt-4o',
			usage: { total_tokens: expect.any(Number) as number },
		});
	});

	test('JSON mode is parsed', async () => {
		const { outputs } = await ask('json', streaming, {}, 'json');
		expect(outputs[0]![0]!.json).toMatchObject({ json: { clips: 3 } });
	});

	test('tool calls are in the output', async () => {
		const tools = [
			{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } },
		];
		const { outputs } = await ask('weather', streaming, { tools });
		expect(outputs[0]![0]!.json).toMatchObject({
			output: null,
			finish_reason: 'tool_calls',
			tool_calls: [
				{ type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
			],
		});
	});

	test('reasoning is told from the answer', async () => {
		const { outputs } = await ask('think', streaming);
		expect(outputs[0]![0]!.json).toMatchObject({
			output: 'Forty',
			reasoning_content: 'Six times seven is more',
		});
	});

	test('an error keeps the words of the server', async () => {
		const { error } = await ask('nothing fits this', streaming);
		expect(error?.httpCode).toBe('404');
		expect(error?.description).toContain('No fixture matched');
	});

	test('an agent has its tools called and answers', async () => {
		const parameters = { parameter: [{ name: 'lake', type: 'string', required: true }] };
		const depth = { name: 'depth', description: 'Depth', define: 'fields', parameters };
		const result = await runWorkflow(
			[
				stubNode('Start', (items) => items),
				packageNode('Agent', 'functionCallingAgent', {
					parameters: {
						prompt: 'how deep',
						model: MODEL,
						streaming,
						tools: { tool: [depth] },
					},
				}),
				stubNode('Depth', (items) => items.map(() => ({ json: { metres: 410 } }))),
			],
			{ Start: [['Agent']], Agent: [[], [], ['Depth']], Depth: [['Agent']] },
			'Start',
			{ credential: credential() },
		);
		expect(result.error).toBeUndefined();
		const [answers, stopped, calls] = allItems(result, 'Agent');
		expect(answers![0]!.json).toMatchObject({ output: 'Como is deeper' });
		expect(stopped).toHaveLength(0);
		expect(calls).toHaveLength(2);
	});

	test('a chat model answers a chain', async () => {
		const result = await runWorkflow(
			[
				packageNode('Model', 'agentVideoChatModel', { parameters: { model: MODEL } }),
				modelCallerNode('Chain', { stream: streaming === 'auto' }),
			],
			{},
			'Chain',
			{ credential: credential(), model: { name: 'Model', of: 'Chain' } },
		);
		expect(result.error).toBeUndefined();
		const json: Reply = result.outputs[0]![0]!.json;
		const said = json.said ?? [...json.message!.content, json];
		expect(said.map(({ delta, text }) => delta ?? text ?? '').join('')).toBe('Hello from afar');
		expect(said.at(-1)).toMatchObject({ usage: { totalTokens: expect.any(Number) as number } });
	});
});
