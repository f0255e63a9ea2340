import { errorBody, startService, user, type Json, type TestService } from './support/service';

let service: TestService;
beforeAll(async () => {
	service = await startService();
});
afterAll(() => service.stop());

function tool(
	name: string,
	description: string,
	properties: Json,
	required = Object.keys(properties),
) {
	const parameters = { type: 'object', properties, required };
	return { type: 'function', function: { name, description, parameters } };
}

const text = { type: 'string' };
const WEATHER = tool(
	'get_weather',
	'Get the current weather of a city',
	{ city: text, unit: { enum: ['celsius', 'fahrenheit'] } },
	['city'],
);
const TIME = tool('get_time', 'Tells the local time', { location: text });
const ADD = tool('add', 'Adds two numbers', { a: { type: 'number' }, b: { type: 'number' } });
const ORDER = tool('lookup_order', 'Look up an order', { order_id: text });
const MAIL = tool('send_email', 'Sends a message', {
	to: { ...text, format: 'email' },
	subject: text,
});
const FLIGHTS = tool('search_flights', 'Find flights', {
	from: text,
	to: text,
	date: { ...text, format: 'date' },
	adults: { type: 'integer', minimum: 1 },
});
const TAGS = tool('tag_file', 'Puts labels on a file', { labels: { type: 'array', items: text } });
const CLIP = tool('record_clip', 'Records a clip', {
	scene: text,
	seconds: { type: 'integer', enum: [4, 5, 8, 10, 15] },
});
const TOOLS = [CLIP, WEATHER, TIME, ADD, ORDER, MAIL, FLIGHTS, TAGS];

type Call = [name: string, values: Json];

async function callsFor(content: string, more: Json = {}): Promise<readonly Call[]> {
	const { tool_calls = [] } = await service.say(content, { tools: TOOLS, ...more });
	return tool_calls.map((c): Call => [c.function.name, JSON.parse(c.function.arguments) as Json]);
}

describe('2.3 tool declaration', () => {
	it.each<[string, unknown, string]>([
		[
			'type: value',
			{ type: 'plugin', function: { name: 'a' } },
			'tools[0].type must be function',
		],
		[
			'parameters: not an object schema',
			{ type: 'function', function: { name: 'a', parameters: { type: 'array' } } },
			'tools[0].function.parameters.type must be object',
		],
		[
			'parameters: not a JSON schema',
			{
				type: 'function',
				function: { name: 'a', parameters: { type: 'object', properties: 5 } },
			},
			'tools[0].function.parameters.properties must be of type object',
		],
	])('2.3 rejects %s', async (_name, declaration, message) => {
		const { status, body } = await service.chat({
			messages: [user('Hi')],
			tools: [declaration],
		});
		expect([status, body]).toEqual([400, errorBody(message)]);
	});
});

describe('2.3 tool call', () => {
	it.each<[string, string, readonly Call[]]>([
		['one value', 'What is the weather in Paris?', [['get_weather', { city: 'Paris' }]]],
		[
			'several values: several calls',
			'Weather in Paris, Rome and New York please',
			[
				['get_weather', { city: 'Paris' }],
				['get_weather', { city: 'Rome' }],
				['get_weather', { city: 'New York' }],
			],
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

	it('2.3 a call has an id, the type function and arguments as a JSON string; content is null', async () => {
		const { body } = await service.chat({
			messages: [user('Weather in Paris and Rome')],
			tools: TOOLS,
		});
		const [choice] = body.choices;
		const ids = choice!.message.tool_calls!.map(({ id }) => id);

		expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
		expect(choice!.message.tool_calls![0]).toEqual({
			id: expect.stringMatching(/^call_\w+$/) as string,
			type: 'function',
			function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
		});
		expect(new Set(ids).size).toBe(2);
	});

	it('2.1 tool_choice: none makes no call, required makes at least one', async () => {
		expect(await callsFor('Weather in Paris', { tool_choice: 'none' })).toEqual([]);
		expect(await callsFor('Tell me a joke', { tool_choice: 'required' })).toHaveLength(1);
		expect(await callsFor('Weather in Paris', { tool_choice: 'auto' })).toHaveLength(1);
	});
});

describe('4 function-calling flow', () => {
	async function runConversation(question: string, results: readonly string[], more: Json = {}) {
		const messages: unknown[] = [user(question)];
		const rounds: string[][] = [];
		for (;;) {
			const { body } = await service.chat({ messages, tools: TOOLS, ...more });
			const { message, finish_reason } = body.choices[0]!;
			if (!message.tool_calls) return { rounds, answer: message.content, finish_reason };
			rounds.push(message.tool_calls.map((c) => c.function.name));
			messages.push(message);
			message.tool_calls.forEach((c, index) => {
				messages.push({ role: 'tool', tool_call_id: c.id, content: results[index] });
			});
		}
	}

	it('4 answers from tool results in JSON or text, with finish_reason stop', async () => {
		expect(
			await runConversation('Weather in Paris', ['{"temperature": 21, "sky": "clear"}']),
		).toEqual({
			rounds: [['get_weather']],
			answer: 'Paris: temperature: 21, sky: clear.',
			finish_reason: 'stop',
		});
		expect(
			(await runConversation('Weather in Paris and Rome', ['sunny', 'rainy'])).answer,
		).toBe('Here is what I found.\nParis: sunny.\nRome: rainy.');
	});
});
