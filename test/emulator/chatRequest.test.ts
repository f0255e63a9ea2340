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
		['messages: null', { messages: null }, 'messages is required'],
		['messages: empty', { messages: [] }, 'messages must not be empty'],
		['messages: not a list', { messages: 'Hello' }, 'messages must be of type array'],
		['app_code: type', { app_code: 5 }, 'app_code must be of type string'],
		['model: type', { model: {} }, 'model must be of type string'],
		['model: unknown', { model: 'no-such-model' }, 'model: unknown chat model no-such-model'],
		['session_id: type', { session_id: 1 }, 'session_id must be of type string'],
		['temperature: above 1', { temperature: 1.01 }, 'temperature must be at most 1'],
		['temperature: below 0', { temperature: -0.01 }, 'temperature must be at least 0'],
		['temperature: text', { temperature: '0.5' }, 'temperature must be of type number'],
		['top_p: above 1', { top_p: 1.01 }, 'top_p must be at most 1'],
		['top_p: below 0', { top_p: -0.01 }, 'top_p must be at least 0'],
		['top_p: type', { top_p: 'all' }, 'top_p must be of type number'],
		[
			'frequency_penalty: above',
			{ frequency_penalty: 2.1 },
			'frequency_penalty must be at most 2',
		],
		[
			'frequency_penalty: below',
			{ frequency_penalty: -3 },
			'frequency_penalty must be at least -2',
		],
		['presence_penalty: above', { presence_penalty: 3 }, 'presence_penalty must be at most 2'],
		[
			'presence_penalty: below',
			{ presence_penalty: -2.5 },
			'presence_penalty must be at least -2',
		],
		['stream: type', { stream: 'yes' }, 'stream must be of type boolean'],
		[
			'stream_options: type',
			{ stream_options: { include_usage: 1 } },
			'stream_options.include_usage must be of type boolean',
		],
		[
			'stop: five entries',
			{ stop: ['a', 'b', 'c', 'd', 'e'] },
			'stop must have at most 4 entries',
		],
		['stop: not a list', { stop: 'a' }, 'stop must be of type array'],
		[
			'tool_choice: value',
			{ tool_choice: 'any' },
			'tool_choice must be one of auto, none, required',
		],
		[
			'tool_choice: no tools',
			{ tool_choice: 'required' },
			'tool_choice "required" needs tools',
		],
		['tools: not a list', { tools: {} }, 'tools must be of type array'],
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
			'thinking: type',
			{ thinking: { type: 'on' } },
			'thinking.type must be one of enabled, disabled',
		],
		['thinking: not an object', { thinking: true }, 'thinking must be of type object'],
		[
			'reasoning_effort: type',
			{ reasoning_effort: 3 },
			'reasoning_effort must be of type string',
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

	it('2.1 accepts the limits of every range, treats null as not set, and ignores unknown fields', async () => {
		for (const more of [
			{ temperature: 0, frequency_penalty: -2, presence_penalty: -2, top_p: 1, stop: [] },
			{ temperature: 1, frequency_penalty: 2, presence_penalty: 2, top_p: 0.5 },
			{ stop: ['w', 'x', 'y', 'z'], stream_options: { include_usage: true }, tools: [] },
			{ app_code: null, model: null, temperature: null, tools: null, stream: null },
			{ user: 'somebody', max_tokens: 5, n: 3, nonsense: { deep: [1] } },
		]) {
			expect((await chat(more)).status).toBe(200);
		}
	});

	it('2.1 model selects the model, with and without an application', async () => {
		const models = [];
		for (const more of [
			{},
			{ model: 'chat-m1' },
			{ app_code: 'demo-app' },
			{ app_code: 'demo-app', model: 'chat-m2' },
			{ app_code: 'demo-assistant', model: 'chat-m2' },
			{ app_code: 'demo-assistant', model: 'no-such-model' },
		]) {
			models.push((await chat(more)).body.model);
		}
		expect(models).toEqual(['chat-m2', 'chat-m1', 'chat-m1', 'chat-m2', 'chat-m1', 'chat-m1']);
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

	it('2.1 a question that is asked again gets other texts by the seed, and the same at temperature 0', async () => {
		const ask = async (seed: number, temperature: number) => {
			const other = await startService({ seed });
			const texts: unknown[] = [];
			for (let time = 0; time < 3; time++)
				texts.push((await other.say('Write a title about a fox', { temperature })).content);
			await other.stop();
			return texts;
		};
		const texts = await ask(7, 0.7);
		expect(new Set(texts).size).toBe(3);
		expect(await ask(7, 0.7)).toEqual(texts);
		expect(await ask(8, 0.7)).not.toEqual(texts);
		expect(new Set(await ask(7, 0)).size).toBe(1);
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

	it('2.1 response_format json_object answers in JSON with the requested keys', async () => {
		const { content } = await service.say(
			'Write a video prompt about a cat. Answer in JSON with keys prompt, title, score and tags',
			{ response_format: { type: 'json_object' } },
		);
		expect(JSON.parse(content!)).toEqual({
			prompt: expect.stringMatching(/ a cat .+\.$/) as string,
			title: expect.stringMatching(/ a Cat$/) as string,
			score: expect.any(Number) as number,
			tags: ['cat'],
		});
	});

	it('2.1 response_format json_object follows a JSON template; without keys it returns topic and answer', async () => {
		const response_format = { type: 'json_object' };
		const sampled = await service.say(
			'Answer as {"city": "…", "population": 0, "view": [], "is_capital": true} in JSON: What is Paris?',
			{ response_format },
		);
		const plain = await service.say('What is 2 + 2? Answer in JSON.', { response_format });

		expect(JSON.parse(sampled.content!)).toEqual({
			city: 'Paris',
			population: expect.any(Number) as number,
			view: expect.arrayContaining([expect.any(String)]) as string[],
			is_capital: true,
		});
		expect(JSON.parse(plain.content!)).toEqual({ topic: '2 + 2', answer: '2 + 2 = 4' });
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

	it('2.1 equal seeds give equal answers, different seeds give different answers', async () => {
		const answers = [];
		for (const seed of [1, 1, 2]) {
			const other = await startService({ seed });
			answers.push((await other.say('Write a video prompt about a quiet harbor')).content);
			await other.stop();
		}
		expect(answers[0]).toBe(answers[1]);
		expect(answers[0]).not.toBe(answers[2]);
	});
});

describe('2.1 text generation', () => {
	it.each<[string, string, RegExp]>([
		['a video prompt', 'Write a video prompt about a lighthouse.', /^\S.* a lighthouse .*\.$/],
		[
			'a list in JSON, without a colon after the topic',
			'Give 2 titles about bees as JSON',
			/^1\. \S.* Bees\n2\. \S.* Bees$/,
		],
		['a calculation', 'What is 12 times 12?', /^12 times 12 = 144$/],
		[
			'numbers in the subject',
			'Write a video prompt about two cats in a 24/7 diner',
			/^(?!1\. ).* two cats in a 24\/7 diner /,
		],
		[
			'numbers that are not a calculation',
			'The shop is open 24/7',
			/^The shop is open 24\/7: /,
		],
		['several texts', 'Give me 3 titles for a film about bees', /^1\. .*\n2\. .*\n3\. .*Bees$/],
		['a question', 'How do I grill fish?', /^How do I grill fish\? /],
		['a single word', 'Rivers', /^Rivers: /],
	])('2.1 answers %s', async (_name, question, answer) => {
		expect((await service.say(question)).content).toMatch(answer);
	});

	it('2.1 follows a system message that requests video prompts', async () => {
		const { body } = await service.chat({
			messages: [
				{ role: 'system', content: 'You write one-sentence video prompts.' },
				user('an old tram in the rain'),
			],
		});
		expect(body.choices[0]!.message.content).toMatch(/^[A-Z].* an old tram in the rain .*\.$/);
	});

	it('2.1 recalls facts from earlier messages', async () => {
		const { body } = await service.chat({
			messages: [
				user('My name is Ada.'),
				{ role: 'assistant', content: 'Noted.' },
				user('What is my name?'),
			],
		});
		expect(body.choices[0]!.message.content).toBe('Your name is Ada.');
	});
});
