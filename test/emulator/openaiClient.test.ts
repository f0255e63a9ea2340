import OpenAI from 'openai';
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

describe('4 the openai client', () => {
	const model = 'chat-m2';
	let client: OpenAI;
	beforeAll(() => {
		client = new OpenAI({ apiKey: 'demo-key', baseURL: `${service.url}/v1`, maxRetries: 0 });
	});

	it('4 create', async () => {
		const completion = await client.chat.completions.create({ model, messages: hello });
		expect(completion.choices[0]!.message.content).toBe('2 + 2 = 4');
		expect(completion.usage!.total_tokens).toBeGreaterThan(0);
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
});
