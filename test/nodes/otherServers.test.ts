/** The chat nodes with a third-party server that has the OpenAI-compatible chat schema. */
import { LLMock } from '@copilotkit/aimock';
import type { IDataObject } from 'n8n-workflow';

import { allItems, packageNode, runNode, runWorkflow, stubNode } from '../support/engine';
import { askThrough } from '../support/fourNodes';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

const other = new LLMock({ host: '127.0.0.1', port: 0, latency: 1, chunkSize: 4 });
const credential = () => ({ baseUrl: `${other.url}/v1`, apiKey: 'any' });
const MODEL = { model: { __rl: true, mode: 'id', value: 'gpt-4o' } };
const WEATHER = { name: 'weather', arguments: { city: 'Rome' } };

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
		{ toolCalls: ['Como', 'Garda'].map((lake) => ({ name: 'depth', arguments: { lake } })) },
	);
	other.on({ userMessage: 'how deep', hasToolResult: true }, { content: 'Como is deeper' });
	other.onMessage('Hi', { content: 'Hello from afar' });
	other.onMessage('weather', { toolCalls: [WEATHER] });
	await other.start();
});
afterAll(async () => {
	await other.stop();
});

describe.each(['auto', 'off'])('with Streaming set to %s', (streaming) => {
	const ask = async (prompt: string, parameters: IDataObject = {}) =>
		await runNode('chatCompletion', {
			credential: credential(),
			parameters: { ...MODEL, prompt, streaming, output: 'detailed', ...parameters },
		});

	test.each<[string, string, IDataObject, object]>([
		[
			'a reply arrives with its usage',
			'hello',
			{},
			{
				output: 'Hi there, friend of the sea',
				finish_reason: 'stop',
				model: 'gpt-4o',
				usage: { total_tokens: expect.any(Number) as number },
			},
		],
		['JSON mode is parsed', 'json', { responseFormat: 'json' }, { json: { clips: 3 } }],
		[
			'tool calls are in the output',
			'weather',
			{ options: { tools: [{ type: 'function', function: { name: 'weather' } }] } },
			{
				output: null,
				finish_reason: 'tool_calls',
				tool_calls: [
					{
						type: 'function',
						function: { name: 'weather', arguments: '{"city":"Rome"}' },
					},
				],
			},
		],
		[
			'reasoning is told from the answer',
			'think',
			{},
			{ output: 'Forty', reasoning_content: 'Six times seven is more' },
		],
	])('%s', async (_what, prompt, parameters, answer) => {
		const { outputs } = await ask(prompt, parameters);
		expect(outputs[0]![0]!.json).toMatchObject(answer);
	});

	test('an error keeps the words of the server', async () => {
		const { error } = await ask('nothing fits this');
		expect(error?.httpCode).toBe('404');
		expect(error?.description).toContain('No fixture matched');
	});

	test('an agent has its tools called and answers', async () => {
		const fields = { parameter: [{ name: 'lake', type: 'string', required: true }] };
		const tool = { name: 'depth', description: 'Depth', define: 'fields', parameters: fields };
		const parameters = { ...MODEL, prompt: 'how deep', streaming, tools: { tool: [tool] } };
		const result = await runWorkflow(
			[
				packageNode('Agent', 'functionCallingAgent', { parameters }),
				stubNode('Depth', (items) => items.map(() => ({ json: { metres: 410 } }))),
			],
			{ Agent: [[], [], ['Depth']], Depth: [['Agent']] },
			'Agent',
			{ credential: credential() },
		);
		expect(result.error).toBeUndefined();
		const [answers, stopped, calls] = allItems(result, 'Agent');
		expect(answers![0]!.json).toMatchObject({ output: 'Como is deeper' });
		expect(stopped).toHaveLength(0);
		expect(calls).toHaveLength(2);
	});

	test('a chat model answers a chain', async () => {
		const seen = await askThrough('model', streaming === 'auto', credential().baseUrl, MODEL);
		expect(seen.error).toBe('');
		const json: Reply = seen.json;
		const said = json.said ?? [...json.message!.content, json];
		expect(said.map(({ delta, text }) => delta ?? text ?? '').join('')).toBe('Hello from afar');
		expect(said.at(-1)).toMatchObject({ usage: { totalTokens: expect.any(Number) as number } });
	});
});
