import { LLMock } from '@copilotkit/aimock';

import { runNode } from '../support/engine';

// A third-party server with the OpenAI-compatible chat schema.
const other = new LLMock({ port: 0, latency: 1, chunkSize: 4 });

beforeAll(async () => {
	other.onMessage('hello', { content: 'Hi there, friend of the sea' });
	other.onMessage('json', { content: '{"clips": 3}' });
	other.onMessage('weather', { toolCalls: [{ name: 'weather', arguments: { city: 'Rome' } }] });
	await other.start();
});
afterAll(async () => {
	await other.stop();
});

const ask = async (prompt: string, streaming: string, options = {}) =>
	await runNode('chatCompletion', {
		credential: { baseUrl: `${other.url}/v1`, apiKey: 'any' },
		parameters: {
			prompt,
			streaming,
			model: { __rl: true, mode: 'id', value: 'gpt-4o' },
			options,
		},
	});

describe.each(['auto', 'off'])('with Streaming set to %s', (streaming) => {
	test('a reply arrives with its usage', async () => {
		const { outputs } = await ask('hello', streaming);
		expect(outputs[0]![0]!.json).toMatchObject({
			content: 'Hi there, friend of the sea',
			finish_reason: 'stop',
			model: 'gpt-4o',
			usage: { total_tokens: expect.any(Number) as number },
		});
	});

	test('JSON mode is parsed', async () => {
		const { outputs } = await ask('json', streaming, { responseFormat: 'json_object' });
		expect(outputs[0]![0]!.json).toMatchObject({ json: { clips: 3 } });
	});

	test('tool calls are in the output', async () => {
		const tools = [
			{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } },
		];
		const { outputs } = await ask('weather', streaming, { tools });
		expect(outputs[0]![0]!.json).toMatchObject({
			content: null,
			finish_reason: 'tool_calls',
			tool_calls: [
				{ type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
			],
		});
	});
});
