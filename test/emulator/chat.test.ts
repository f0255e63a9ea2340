import { errorBody, serviceFor, startService, user, type Json } from './support/service';

const service = serviceFor('all');

const RIVERS = [user('Tell me something about rivers')];
const SUM = { messages: [user('What is 2 + 2?')], model: 'chat-m2' };
const chat = (more: Json) => service.chat({ messages: RIVERS, ...more });
const ask = (content: string, app_code?: string, more: Json = {}) =>
	service.chat({
		messages: [user(content)],
		...(app_code !== undefined && { app_code }),
		...more,
	});

interface Chunk {
	readonly choices: readonly {
		readonly delta: Json & { readonly content?: string; readonly reasoning_content?: string };
		readonly finish_reason: string | null;
		readonly usage?: Json;
	}[];
	readonly usage?: Json;
}

const image = (url: unknown) => ({ type: 'image_url', image_url: { url } });

// That each kind of wrong body has the status 400: `test/nodes/chatRequests.test.ts`.
test.each<[string, Json, string]>([
	['model: unknown', { model: 'no-such-model' }, 'model: unknown chat model no-such-model'],
	['temperature: above 1', { temperature: 1.01 }, 'temperature must be at most 1'],
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
	[
		'image: unreachable',
		{ messages: [user([image('https://pictures.invalid/a.png')])] },
		'messages[0].content[0].image_url.url cannot be reached: pictures.invalid',
	],
])('a request that the service rejects, %s', async (_name, more, message) => {
	const { status, body } = await chat(more);
	expect([status, body]).toEqual([400, errorBody(message)]);
});

describe('2.1 chat request body', () => {
	it('2.1 temperature, top_p and the penalties each change the answer', async () => {
		const answerWith = async (more: Json) =>
			(await service.say('Write a video prompt about a quiet harbor', more)).content;
		const answers = await Promise.all(
			[
				{ temperature: 0.5 },
				{ temperature: 0 },
				{ temperature: 0.9 },
				{ temperature: 0.5, top_p: 0.3 },
				{ temperature: 0.5, frequency_penalty: 2 },
				{ temperature: 0.5, presence_penalty: -2 },
			].map(answerWith),
		);
		expect(new Set(answers).size).toBe(6);
	});

	it('2.1 stop truncates the answer before the first stop word, streamed or not', async () => {
		const question = 'What is 17 * 3?';
		const stop = ['51', ' ='];
		expect((await service.say(question)).content).toBe('17 * 3 = 51');
		expect((await service.say(question, { stop })).content).toBe('17 * 3');
		const chunks = await service.chunks<Chunk>({ messages: [user(question)], stop });
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
		const about = 'Write about the harbor at night';
		const { content } = await service.say(about, { app_code: 'demo-workflow' });
		expect(content!.split('\n').map((line) => line.split(':')[0])).toEqual([
			'Storyboard',
			'Opening',
			'Middle',
			'Ending',
		]);
	});
});

describe('2.2 message', () => {
	it('2.2 without the plugin the model replies that it cannot see the image', async () => {
		const fox = image('https://example.com/red-fox_2.jpg');
		const { content } = await service.say([{ type: 'text', text: 'What is this?' }, fox]);
		expect(content).toMatch(/^I cannot see the image red fox 2\./);
	});

	it('2.2 image editing returns the URL of the generated image', async () => {
		const edit = [
			{ type: 'text', text: 'Make the fox blue' },
			image('https://example.com/fox.jpg'),
		];
		const { content } = await service.say(edit, { app_code: 'demo-app' });
		const url = /\((http[^)]+\.jpg)\)/.exec(content!)![1]!;

		expect(url.startsWith(`${service.url}/cdn/images/`)).toBe(true);
		expect((await fetch(url)).headers.get('content-type')).toBe('image/jpeg');
	});
});

describe('2.3 tools', () => {
	const text = { type: 'string' };
	const declare = (
		name: string,
		description: string,
		properties: Json,
		required = Object.keys(properties),
	) => {
		const parameters = { type: 'object', properties, required };
		return { type: 'function', function: { name, description, parameters } };
	};
	const TOOLS = [
		declare('record_clip', 'Records a clip', {
			scene: text,
			seconds: { type: 'integer', enum: [4, 5, 8, 10, 15] },
		}),
		declare(
			'get_weather',
			'Get the current weather of a city',
			{ city: text, unit: { enum: ['celsius', 'fahrenheit'] } },
			['city'],
		),
		declare('get_time', 'Tells the local time', { location: text }),
		declare('lookup_order', 'Look up an order', { order_id: text }),
		declare('send_email', 'Sends a message', {
			to: { ...text, format: 'email' },
			subject: text,
		}),
		declare('search_flights', 'Find flights', {
			from: text,
			to: text,
			date: { ...text, format: 'date' },
			adults: { type: 'integer', minimum: 1 },
		}),
		declare('tag_file', 'Puts labels on a file', { labels: { type: 'array', items: text } }),
	];

	type Call = [name: string, values: Json];

	async function callsFor(content: string, more: Json = {}): Promise<readonly Call[]> {
		const { tool_calls = [] } = await service.say(content, { tools: TOOLS, ...more });
		return tool_calls.map((c): Call => [
			c.function.name,
			JSON.parse(c.function.arguments) as Json,
		]);
	}

	it.each<[string, string, readonly Call[]]>([
		[
			'several values: several calls',
			'Weather in Paris, Rome and New York please',
			['Paris', 'Rome', 'New York'].map((city) => ['get_weather', { city }]),
		],
		[
			'several tools',
			'What is the weather in Paris and what time is it in Tokyo?',
			[
				['get_weather', { city: 'Paris' }],
				['get_time', { location: 'Tokyo' }],
			],
		],
		[
			'an enumeration',
			'Weather in Oslo in fahrenheit',
			[['get_weather', { city: 'Oslo', unit: 'fahrenheit' }]],
		],
		[
			'named values and formats',
			'Find flights from Paris to Rome for 2 adults on 2026-03-04',
			[['search_flights', { from: 'Paris', to: 'Rome', date: '2026-03-04', adults: 2 }]],
		],
		[
			'an email address and a quoted value',
			'Send an email to ada@example.com with subject "Lunch"',
			[['send_email', { to: 'ada@example.com', subject: 'Lunch' }]],
		],
		[
			'a list',
			'Put the labels red, green and blue',
			[['tag_file', { labels: ['red', 'green', 'blue'] }]],
		],
		['no matching tool', 'Tell me a joke', []],
	])('2.3 %s', async (_name, question, calls) => {
		expect(await callsFor(question)).toEqual(calls);
	});

	it('2.1 tool_choice: none makes no call, required makes at least one', async () => {
		expect(await callsFor('Weather in Paris', { tool_choice: 'none' })).toEqual([]);
		expect(await callsFor('Tell me a joke', { tool_choice: 'required' })).toHaveLength(1);
		expect(await callsFor('Weather in Paris', { tool_choice: 'auto' })).toHaveLength(1);
	});

	it.each([
		[
			'Weather in Paris',
			['{"temperature": 21, "sky": "clear"}'],
			'Paris: temperature: 21, sky: clear.',
		],
		['Weather in Paris', [''], 'Paris: nothing.'],
		[
			'Weather in Paris and Rome',
			['sunny', 'rainy'],
			'Here is what I found.\nParis: sunny.\nRome: rainy.',
		],
	])('4 answers from tool results in JSON or text: %s', async (question, results, answer) => {
		const asked = await ask(question, undefined, { tools: TOOLS });
		const { message } = asked.body.choices[0]!;
		expect(message.tool_calls).toHaveLength(results.length);
		const told = message.tool_calls!.map(({ id }, index) => ({
			role: 'tool',
			tool_call_id: id,
			content: results[index],
		}));
		const messages = [user(question), message, ...told];
		const { body } = await service.chat({ messages, tools: TOOLS });
		expect(body.choices[0]).toMatchObject({
			finish_reason: 'stop',
			message: { content: answer },
		});
	});
});

it('2.4 usage includes the setting, the history, the retrieved knowledge and the question', async () => {
	const promptTokens = async (more: Json) =>
		(await service.chat({ ...SUM, ...more })).body.usage.prompt_tokens;
	const question = user('Which aspect ratio fits best?');
	const alone = await promptTokens({ messages: [question] });
	const history = [user('Hi'), { role: 'assistant', content: 'Hello, how can I help?' }];

	expect(await promptTokens({ messages: [...history, question] })).toBeGreaterThan(alone);
	const bound = await promptTokens({ messages: [question], app_code: 'demo-app' });
	expect(bound).toBeGreaterThan(alone + 15);
	for (const more of [{}, { model: 'chat-m1' }, { app_code: 'demo-assistant' }]) {
		const { usage } = (await service.chat({ ...SUM, ...more })).body;
		expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
	}
});

describe('2.5 streamed chat response', () => {
	it('2.5 is an event stream that ends with [DONE]', async () => {
		const response = await service.send('/v1/chat/completions', { ...SUM, stream: true });
		expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
		expect(await response.text()).toMatch(/^(data: \{.*\}\n\n)+data: \[DONE\]\n\n$/);
	});

	it('2.5 sends role, then content word by word, then an empty delta with stop', async () => {
		const fresh = await startService();
		const chunks = await fresh.chunks<Chunk>(SUM);
		await fresh.stop();
		expect(chunks.map(({ choices }) => [choices[0]!.delta, choices[0]!.finish_reason])).toEqual(
			[
				[{ role: 'assistant', content: '' }, null],
				...['2 ', '+ ', '2 ', '= ', '4'].map((content) => [{ content }, null]),
				[{}, 'stop'],
			],
		);
		expect(chunks[0]).toEqual({
			id: expect.stringMatching(/^chatcmpl-/) as string,
			object: 'chat.completion.chunk',
			created: Date.UTC(2026, 0, 1) / 1000,
			model: 'chat-m2',
			session_id: null,
			trace_id: expect.stringMatching(/^trace-/) as string,
			choices: [
				{
					index: 0,
					delta: { role: 'assistant', content: '' },
					logprobs: null,
					finish_reason: null,
				},
			],
		});
	});

	it('2.5 sends no usage without include_usage', async () => {
		for (const stream_options of [undefined, {}, { include_usage: false }]) {
			const last = (await service.chunks<Chunk>({ ...SUM, stream_options })).at(-1)!;
			expect(last.usage ?? last.choices[0]!.usage).toBeUndefined();
		}
	});

	it('2.5 sends the reasoning before the answer', async () => {
		const chunks = await service.chunks<Chunk>({ ...SUM, model: 'chat-m1' });
		const deltas = chunks.map(({ choices }) => choices[0]!.delta);
		const join = (field: 'content' | 'reasoning_content') =>
			deltas.map((delta) => delta[field] ?? '').join('');
		const lastThought = deltas.findLastIndex((delta) => delta.reasoning_content);
		const firstWord = deltas.findIndex((delta) => delta.content);

		expect(join('reasoning_content')).toMatch(/^The user wants something about "2 \+ 2"\. /);
		expect(join('content')).toBe('2 + 2 = 4');
		expect(lastThought).toBeLessThan(firstWord);
	});
});

describe('2.6 extra fields', () => {
	it('2.6 knowledge_base tells whether retrieval has a hit, and the answer uses the record', async () => {
		const hit = (await ask('Tell me about aspect ratio', 'demo-app')).body;
		const miss = (await ask('Who won the match?', 'demo-app')).body;

		expect(hit.knowledge_base).toEqual({ search_hit: true, first_similarity: 1 });
		expect(hit.choices[0]!.message.content).toMatch(/^Use the aspect ratio 16:9 for landscape/);
		expect(miss.knowledge_base).toEqual({ search_hit: false, first_similarity: 0 });
	});

	it('2.6 agent describes the plugin, and the generated file can be downloaded', async () => {
		const linked = async (content: string) => {
			const { body } = await ask(content, 'demo-app');
			const [, url] = /\((http[^)]+)\)/.exec(body.choices[0]!.message.content!)!;
			return { agent: body.agent, file: await fetch(url!) };
		};
		const { agent, file } = await linked('Draw a picture of a red fox');
		expect(agent).toEqual({
			status: 'success',
			chain: [
				{
					plugin_name: 'image_generation',
					thought: 'The user wants a picture.',
					plugin_input: { prompt: 'a red fox' },
				},
			],
			need_show_plugin: true,
		});
		expect(file.headers.get('content-type')).toBe('image/jpeg');
		const written = await linked('Write a file about invoices');
		expect(await written.file.text()).toBe('invoices\n');
	});

	it('2.6 has no extra fields without an application', async () => {
		const { body } = await ask('Draw a picture of a red fox');
		for (const field of ['knowledge_base', 'suggested_questions', 'agent'])
			expect(body).not.toHaveProperty(field);
	});

	it('2.6 trace_id is unique per request', async () => {
		const ids = [(await ask('Hi')).body.trace_id, (await ask('Hi')).body.trace_id];
		expect(new Set(ids).size).toBe(2);
	});
});

describe('2.7 super assistant', () => {
	const APP = 'demo-assistant';
	const contentOf = ({ body }: Awaited<ReturnType<typeof ask>>) =>
		body.choices[0]!.message.content;

	it('2.7 a new session_id starts a session; other applications ignore session_id', async () => {
		const mine = { session_id: 'mine' };
		const question = 'What should you remember?';
		await ask('Remember that the key is under the mat.', APP, mine);
		const known = await ask(question, APP, mine);
		const other = await ask(question, 'demo-app', mine);

		expect(contentOf(known)).toBe('You asked me to remember: the key is under the mat.');
		expect(other.body).not.toHaveProperty('session_id');
		expect(contentOf(other)).toBe('You have not told me that yet.');
	});

	it('2.7 uses the last user message only', async () => {
		const told = [user('My name is Bob.'), { role: 'assistant', content: 'Hi' }];
		const messages = [...told, user('What is my name?')];
		const asked = await service.chat({ messages, app_code: APP });
		expect(contentOf(asked)).toBe('You have not told me that yet.');
		const none = await service.chat({
			messages: [{ role: 'system', content: 'Hi' }],
			app_code: APP,
		});
		expect(none.body).toMatchObject({
			error: { message: 'messages must contain a user message' },
		});
	});

	it('2.7 supports response_format json_object', async () => {
		const response_format = { type: 'json_object' };
		const answer = await ask('What is 2 + 3? Answer in JSON.', APP, { response_format });
		expect(JSON.parse(contentOf(answer)!)).toEqual({ topic: '2 + 3', answer: '2 + 3 = 5.' });
	});

	it('2.7 a single call ends after 600 seconds', async () => {
		const before = service.journal.of('/v1/chat/completions').length;
		const answer = ask('Take your time, slow-900', APP);
		while (service.journal.of('/v1/chat/completions').length === before)
			await service.queryTask('none');
		await service.queryTask('none');
		let isSettled = false;
		void answer.then(() => (isSettled = true));
		for (const [ms, isOver] of [
			[599_000, false],
			[1_000, true],
		] as const) {
			await service.clock.advance(ms);
			// One more round trip, so that a response already sent arrives first.
			await service.say('Hello');
			expect(isSettled).toBe(isOver);
		}
		expect(contentOf(await answer)).toBe('Stopped: the call reached its limit of 600 seconds.');
	});
});

describe('JSON mode', () => {
	const JSON_MODE = { response_format: { type: 'json_object' } };
	const replyOf = async (content: string, more: Json = {}) =>
		JSON.parse((await service.say(content, { ...JSON_MODE, ...more })).content ?? '') as object;

	it.each(['demo-app', 'demo-workflow', 'demo-assistant'])(
		'%s answers with the keys that the message lists',
		async (app_code) => {
			const question = 'A lake at dawn, as JSON with the keys title and tags';
			expect(Object.keys(await replyOf(question, { app_code }))).toEqual(['title', 'tags']);
		},
	);

	const REVIEW = 'I love this camera, it is great';

	it.each<[string, object]>([
		[
			`As JSON with keys sentiment (positive, neutral or negative) and title: "${REVIEW}"`,
			{ sentiment: 'positive' },
		],
		[
			`As JSON like {"sentiment": "negative|neutral|positive"}. Review: ${REVIEW}`,
			{ sentiment: 'positive' },
		],
		[
			`My parcel has not arrived.

Answer with JSON only. The JSON must match this JSON Schema:
{"type":"object","properties":{"label":{"type":"string","enum":["billing","shipping","other"]}}}`,
			{ label: 'shipping' },
		],
	])('a value with a list of labels is one of them: %s', async (question, values) => {
		expect(await replyOf(question)).toMatchObject(values);
	});
});
