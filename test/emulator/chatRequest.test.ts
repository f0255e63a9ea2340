import { errorBody, startService, user, type Json, type TestService } from './support/service';

let service: TestService;
beforeAll(async () => {
	service = await startService();
});
afterAll(() => service.stop());

const messages = [user('Tell me something about rivers')];
const chat = (more: Json) => service.chat({ messages, ...more });

describe('2.1 chat request body', () => {
	it.each<[string, Json, string]>([
		['messages: missing', { messages: undefined }, 'messages is required'],
		['model: unknown', { model: 'no-such-model' }, 'model: unknown chat model no-such-model'],
		['temperature: above 1', { temperature: 1.01 }, 'temperature must be at most 1'],
		[
			'stop: five entries',
			{ stop: ['a', 'b', 'c', 'd', 'e'] },
			'stop must have at most 4 entries',
		],
		[
			'tool_choice: no tools',
			{ tool_choice: 'required' },
			'tool_choice "required" needs tools',
		],
		[
			'response_format: type',
			{ response_format: { type: 'xml' } },
			'response_format.type must be one of json_object, text',
		],
		[
			'response_format: json not mentioned',
			{ response_format: { type: 'json_object' } },
			'response_format json_object: a message must tell the model to answer in JSON',
		],
		[
			'reasoning_effort: not supported by the model',
			{ model: 'chat-m1', reasoning_effort: 'none' },
			'reasoning_effort must be one of minimal, low, medium, high for chat-m1',
		],
	])('2.1 rejects %s', async (_name, more, message) => {
		const { status, body } = await chat(more);
		expect([status, body]).toEqual([400, errorBody(message)]);
	});

	it('2.1 temperature, top_p and the penalties each change the answer', async () => {
		const answerWith = (more: Json) =>
			service.say('Write a video prompt about a quiet harbor', more).then((m) => m.content);
		const plain = await answerWith({ temperature: 0.5 });
		const others = await Promise.all(
			[
				{ temperature: 0 },
				{ temperature: 0.9 },
				{ temperature: 0.5, top_p: 0.3 },
				{ temperature: 0.5, frequency_penalty: 2 },
				{ temperature: 0.5, presence_penalty: -2 },
			].map(answerWith),
		);

		expect(new Set([plain, ...others]).size).toBe(6);
	});

	it('2.1 stop truncates the answer before the first stop word, streamed or not', async () => {
		const whole = (await service.say('What is 17 * 3?')).content!;
		const stop = ['51', ' ='];
		const cut = (await service.say('What is 17 * 3?', { stop })).content!;
		const chunks = await service.chunks<{ choices: { delta: { content?: string } }[] }>({
			messages: [user('What is 17 * 3?')],
			stop,
		});

		expect(whole).toBe('17 * 3 = 51');
		expect(cut).toBe('17 * 3');
		expect(chunks.map(({ choices }) => choices[0]!.delta.content ?? '').join('')).toBe(
			'17 * 3',
		);
	});

	it('2.1 thinking: the request overrides the application, which overrides the model default', async () => {
		const thinks = async (more: Json) =>
			(await service.say('Why is the sea salty?', more)).reasoning_content !== undefined;
		const enabled = { thinking: { type: 'enabled' } };
		const disabled = { thinking: { type: 'disabled' } };

		expect(await thinks({ model: 'chat-m1' })).toBe(true);
		expect(await thinks({ model: 'chat-m2' })).toBe(false);
		expect(await thinks({ model: 'chat-m1', ...disabled })).toBe(false);
		expect(await thinks({ model: 'chat-m2', ...enabled })).toBe(true);
		// The application disables thinking for chat-m1.
		expect(await thinks({ app_code: 'demo-app', model: 'chat-m1' })).toBe(false);
		expect(await thinks({ app_code: 'demo-app', model: 'chat-m1', ...enabled })).toBe(true);
	});

	it('2.1 reasoning_effort: a higher effort gives longer reasoning; a model without support ignores it', async () => {
		const thought = async (reasoning_effort: string) => {
			const reply = await service.say('Why?', { model: 'chat-m1', reasoning_effort });
			return reply.reasoning_content!.length;
		};
		const lengths = [await thought('minimal'), await thought('low'), await thought('high')];

		expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
		expect(new Set(lengths).size).toBe(3);
		expect((await chat({ model: 'chat-m2', reasoning_effort: 'xhigh' })).status).toBe(200);
	});

	it('2.1 the setting of an application is the system prompt', async () => {
		const bare = (await chat({})).body.usage.prompt_tokens;
		const bound = (await chat({ app_code: 'busy-app' })).status;
		await service.clock.advance(1_000);
		const { usage } = (await chat({ app_code: 'busy-app' })).body;

		expect(bound).toBe(429);
		expect(usage.prompt_tokens).toBeGreaterThan(bare);
	});

	it('2.1 a workflow returns the output of its end node', async () => {
		const { content } = await service.say('Write about the harbor at night', {
			app_code: 'demo-workflow',
		});
		expect(content!.split('\n').map((line) => line.split(':')[0])).toEqual([
			'Storyboard',
			'Opening',
			'Middle',
			'Ending',
		]);
	});
});
