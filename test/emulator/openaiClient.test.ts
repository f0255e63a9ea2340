import OpenAI, { APIError } from 'openai';
import { startService, type TestService } from './support/service';

let service: TestService;
beforeAll(async () => {
	service = await startService();
});
afterAll(() => service.stop());

const hello = [{ role: 'user' as const, content: 'What is 2 + 2?' }];

/** Tool with an implementation, for `runTools`; `toolInputs` collects its arguments. */
function weatherTool(toolInputs: string[]) {
	return {
		type: 'function' as const,
		function: {
			name: 'get_weather',
			description: 'Get the current weather of a city',
			parameters: {
				type: 'object',
				properties: { city: { type: 'string' } },
				required: ['city'],
			},
			parse: (text: string) => JSON.parse(text) as { city: string },
			function: ({ city }: { city: string }) => {
				toolInputs.push(city);
				return { temperature: city.length, sky: 'clear' };
			},
		},
	};
}

const QUESTION = [{ role: 'user' as const, content: 'What is the weather in Paris and Rome?' }];
const ANSWER =
	'Here is what I found.\nParis: temperature: 5, sky: clear.\nRome: temperature: 4, sky: clear.';

describe.each([
	['the plain key', 'demo-key', 'chat-m2', false],
	['the key with an application', 'demo-key-demo-app', 'chat-m1', true],
])('4 the openai client with %s', (_name, apiKey, model, isBound) => {
	let client: OpenAI;
	beforeAll(() => {
		client = new OpenAI({ apiKey, baseURL: `${service.url}/v1`, maxRetries: 0 });
	});

	it('4 create', async () => {
		const completion = await client.chat.completions.create({ model, messages: hello });
		expect(completion.choices[0]!.message.content).toBe('2 + 2 = 4');
		expect(completion.usage!.total_tokens).toBeGreaterThan(0);
		expect('knowledge_base' in completion).toBe(isBound);
	});

	it('4 create, streamed with usage', async () => {
		const stream = await client.chat.completions.create({
			model,
			messages: hello,
			stream: true,
			stream_options: { include_usage: true },
		});
		let text = '';
		let total = 0;
		for await (const chunk of stream) {
			text += chunk.choices[0]?.delta.content ?? '';
			total += chunk.usage?.total_tokens ?? 0;
		}
		expect(text).toBe('2 + 2 = 4');
		expect(total).toBe(
			(await client.chat.completions.create({ model, messages: hello })).usage!.total_tokens,
		);
	});

	it('4 stream() with finalContent and totalUsage', async () => {
		const runner = client.chat.completions.stream({
			model,
			messages: hello,
			stream_options: { include_usage: true },
		});
		expect(await runner.finalContent()).toBe('2 + 2 = 4');
		expect((await runner.finalChatCompletion()).choices[0]!.finish_reason).toBe('stop');
		expect(await runner.totalUsage()).toMatchObject({ completion_tokens: 7 });
	});

	it('4 runTools', async () => {
		const toolInputs: string[] = [];
		const runner = client.chat.completions.runTools({
			model,
			messages: QUESTION,
			tools: [weatherTool(toolInputs)],
		});
		expect(await runner.finalContent()).toBe(ANSWER);
		expect(toolInputs).toEqual(['Paris', 'Rome']);
	});

	it('4 runTools, streamed', async () => {
		const toolInputs: string[] = [];
		const runner = client.chat.completions.runTools({
			model,
			messages: QUESTION,
			tools: [weatherTool(toolInputs)],
			stream: true,
		});
		expect(await runner.finalContent()).toBe(ANSWER);
		expect(toolInputs).toEqual(['Paris', 'Rome']);
	});

	it('4 JSON mode', async () => {
		const { choices } = await client.chat.completions.create({
			model,
			messages: [
				{
					role: 'user',
					content: 'What is 2 + 2? Answer in JSON with keys answer and topic.',
				},
			],
			response_format: { type: 'json_object' },
		});
		expect(JSON.parse(choices[0]!.message.content!)).toEqual({
			answer: '2 + 2 = 4',
			topic: '2 + 2',
		});
	});
});

describe('7 the openai client parses the error responses', () => {
	it.each([
		['nobody', 401, 'authentication_error'],
		['demo-key-nothing', 402, 'not_found_error'],
		['demo-key-private-app', 403, 'permission_error'],
		['demo-key-no-credit', 406, 'insufficient_credit_error'],
	])('7 %s: %i', async (apiKey, status, type) => {
		const client = new OpenAI({ apiKey, baseURL: `${service.url}/v1`, maxRetries: 0 });
		const rejected = client.chat.completions.create({ model: 'chat-m2', messages: hello });
		const error = await rejected.catch((reason: unknown) => reason as APIError);
		expect(error).toBeInstanceOf(APIError);
		expect(error).toMatchObject({ status, type });
	});

	it('7.1 429: retries after Retry-After', async () => {
		const real = await startService({ clock: 'real', chunkMs: 0 });
		const client = new OpenAI({
			apiKey: 'demo-key-busy-app',
			baseURL: `${real.url}/v1`,
			maxRetries: 2,
		});
		const completion = await client.chat.completions.create({
			model: 'chat-m2',
			messages: hello,
		});
		const statuses = real.journal.entries.map(({ status }) => status);
		await real.stop();

		expect(completion.choices[0]!.message.content).toBe('2 + 2 = 4');
		expect(statuses).toEqual([429, 200]);
	});
});
