import OpenAI, { type APIError } from 'openai';

import { completeChat } from '../../nodes/client/chat/completeChat';
import type { ServiceError } from '../../nodes/client/errors';
import { dialects } from '../../emulator/script/scriptStore';
import { axiosHttp } from '../support/axiosHttp';
import { startService, user, type TestService } from './support/service';

const TOOLS = [
	{
		type: 'function' as const,
		function: {
			name: 'get_weather',
			description: 'Get the current weather of a city',
			parameters: {
				type: 'object',
				properties: { city: { type: 'string' } },
				required: ['city'],
			},
		},
	},
];
const SUM = [{ role: 'user' as const, content: 'What is 2 + 2?' }];
const WEATHER = [{ role: 'user' as const, content: 'What is the weather in Paris?' }];

/** What a dialect says to a wrong key, and to what else it rejects. */
const ERRORS: Readonly<Record<string, readonly [key: string, text: string, status: number][]>> = {
	ark: [
		['wrong-key', 'Hi', 401],
		['key', 'rate-limit', 429],
		['key', 'forbidden-word', 400],
	],
	dashscope: [
		['wrong-key', 'Hi', 401],
		['key', 'rate-limit', 429],
		['key', 'forbidden-word', 400],
	],
	ollama: [['key', 'overloaded', 503]],
	openrouter: [
		['wrong-key', 'Hi', 401],
		['key', 'no-credit', 402],
		['key', 'rate-limit', 429],
	],
	siliconflow: [
		['wrong-key', 'Hi', 401],
		['key', 'rate-limit', 429],
		['key', 'overloaded', 503],
	],
	vllm: [
		['wrong-key', 'Hi', 401],
		['key', 'too-long', 400],
	],
};

test('every dialect is tested', () => {
	expect(dialects()).toEqual(Object.keys(ERRORS));
});

describe.each(dialects())('%s', (name) => {
	let service: TestService;
	let client: OpenAI;
	beforeAll(async () => {
		service = await startService({ scripts: [name] });
		client = new OpenAI({ apiKey: 'key', baseURL: `${service.url}/v1`, maxRetries: 0 });
	});
	afterAll(() => service.stop());

	it('is read by the openai client: text, tool calls and usage, in both forms', async () => {
		const plain = await client.chat.completions.create({ model: 'm', messages: SUM });
		expect(plain.choices[0]!.message.content).toBe('2 + 2 = 4');
		expect([plain.model, plain.usage!.total_tokens]).toEqual(['m', 30]);

		const stream = client.chat.completions.stream({ model: 'm', messages: SUM });
		const streamed = await stream.finalChatCompletion();
		expect(streamed.choices[0]!.message.content).toBe('2 + 2 = 4');

		const request = { model: 'm', messages: WEATHER, tools: TOOLS };
		const called = await client.chat.completions.create(request);
		const calling = client.chat.completions.stream(request);
		for (const { choices } of [called, await calling.finalChatCompletion()]) {
			expect(choices[0]).toMatchObject({
				finish_reason: 'tool_calls',
				message: {
					tool_calls: [
						{
							type: 'function',
							function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
						},
					],
				},
			});
		}
	});

	it.each([true, false])('is read by the client of the nodes, streamed: %s', async (stream) => {
		const http = axiosHttp(service.url, 'key');
		const options = { stream, idleTimeoutMs: 5_000, onDelta: undefined };
		const [text, call] = await Promise.all([
			completeChat(http, { model: 'm', messages: SUM }, options),
			completeChat(http, { model: 'm', messages: WEATHER, tools: TOOLS }, options),
		]);
		expect(text.choices[0]!.message.content).toBe('2 + 2 = 4');
		expect(call.choices[0]!.message.tool_calls).toMatchObject([
			{ function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
		]);
	});

	it.each(ERRORS[name]!)('answers %s, %s with %i', async (apiKey, text, status) => {
		const other = new OpenAI({ apiKey, baseURL: `${service.url}/v1`, maxRetries: 0 });
		const error = await other.chat.completions
			.create({ model: 'm', messages: [{ role: 'user', content: text }] })
			.catch((reason: unknown) => reason as APIError);
		expect(error).toMatchObject({ status });
		const http = axiosHttp(service.url, apiKey);
		const failed = await completeChat(
			http,
			{ model: 'm', messages: [{ role: 'user', content: text }] },
			{ stream: false, idleTimeoutMs: 5_000, onDelta: undefined },
		).catch((reason: unknown) => reason as ServiceError);
		expect(failed).toBeInstanceOf(Error);
	});

	it('breaks a stream with an error event', async () => {
		const events = await service.stream({ messages: [user('broken-stream')], model: 'm' });
		expect(events.join('\n')).toMatch(/"content":"Half".*("error"|"code":50505)/s);
	});
});
