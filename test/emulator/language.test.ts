// cspell:ignore chaxun pomme maison chien días Apfel Hund endoftext
import PHRASINGS from './support/phrasings.json';
import { startService, user, type Json, type TestService } from './support/service';

let service: TestService;
beforeAll(async () => {
	service = await startService();
});
afterAll(() => service.stop());

const text = { type: 'string' };
function tool(name: string, description: string, properties: Json) {
	const parameters = { type: 'object', properties, required: Object.keys(properties) };
	return { type: 'function', function: { name, description, parameters } };
}
const TOOLS = [
	tool('get_weather', 'Get the current weather of a city', { city: text }),
	tool('lookup_order', 'Look up an order', { order_id: text }),
	tool('send_email', 'Sends a message', { to: { ...text, format: 'email' }, subject: text }),
	tool('create_video', 'Start the generation of a video', { prompt: text }),
	tool('search_flights', 'Find flights', { from: text, to: text }),
	tool('add', 'Adds two numbers', { a: { type: 'number' }, b: { type: 'number' } }),
];

describe('a Chinese question', () => {
	it.each<[string, [name: string, values: Json][]]>([
		['北京今天的天气怎么样？', [['get_weather', { city: '北京' }]]],
		[
			'查一下北京和上海的天气',
			[
				['get_weather', { city: '北京' }],
				['get_weather', { city: '上海' }],
			],
		],
		[
			'给 ada@example.com 发一封邮件，主题是“午餐”',
			[['send_email', { to: 'ada@example.com', subject: '午餐' }]],
		],
		['请生成一个小狗在海边奔跑的视频', [['create_video', { prompt: '小狗在海边奔跑' }]]],
		['计算 3 加 4.5', [['add', { a: 3, b: 4.5 }]]],
	])('calls tools that are declared in English: %s', async (question, calls) => {
		const { tool_calls = [] } = await service.say(question, { tools: TOOLS });
		expect(
			tool_calls.map(({ function: call }) => [call.name, JSON.parse(call.arguments) as Json]),
		).toEqual(calls);
	});

	it.each(['什么是人工智能？', '写一个关于灯塔的视频提示词', '你好', '讲个笑话'])(
		'gets an answer without a Latin letter: %s',
		async (question) => {
			const { content, reasoning_content } = await service.say(question, {
				model: 'chat-m1',
			});
			for (const answer of [content, reasoning_content]) {
				expect(answer).toMatch(/\p{Script=Han}/u);
				expect(answer).not.toMatch(/[A-Za-z{}]/);
			}
		},
	);
});

describe('what people ask in workflows', () => {
	it.each([
		['Is this urgent? Answer yes or no: the box is brown', 'No'],
		['这是垃圾邮件吗？回答“是”或“否”：明天十点开会', '否'],
		['Extract the phone number from this: no number here', 'phone number: not stated'],
		['Translate "good morning" into Spanish', 'buenos días'],
		['What is the total of 12.5, 7 and 3?', 'The total is 22.5.'],
	])('%s', async (question, answer) => {
		expect((await service.say(question)).content).toBe(answer);
	});

	it.each<[string, Json]>([
		[
			'As JSON with keys name, email and is_urgent: "I am Bob Ray, bob@example.com, it is urgent"',
			{ name: 'Bob Ray', email: 'bob@example.com', is_urgent: true },
		],
		[
			'As JSON with keys invoice_number, date and total: invoice INV-2041 of 2026-03-15, 3 lamps at $20, total $210.50',
			{ invoice_number: 'INV-2041', date: '2026-03-15', total: 210.5 },
		],
	])('in JSON mode: %s', async (question, answer) => {
		const { content } = await service.say(question, {
			response_format: { type: 'json_object' },
		});
		expect(JSON.parse(content ?? '')).toEqual(answer);
	});

	it('holds the enums and formats of a schema in JSON mode', async () => {
		const schema = {
			type: 'object',
			properties: {
				name: text,
				email: { ...text, format: 'email' },
				joined: { ...text, format: 'date' },
				stars: { type: 'integer', minimum: 1, maximum: 5 },
				tier: { enum: ['gold', 'silver'] },
			},
		};
		const { content } = await service.say(
			`As JSON: a silver account of Ann Lee, ann@example.com, joined 2026-02-03\n${JSON.stringify(schema)}`,
			{ response_format: { type: 'json_object' } },
		);
		expect(JSON.parse(content ?? '')).toEqual({
			name: 'Ann Lee',
			email: 'ann@example.com',
			joined: '2026-02-03',
			stars: 5,
			tier: 'silver',
		});
	});
});

describe.each(Object.entries(PHRASINGS))('in other words: %s', (_task, rows) => {
	it.each(rows.map((row) => [row.at(-2)!, row]))('%s', async (_question, row) => {
		const [answer, ...messages] = row.toReversed();
		expect((await service.say('', { messages: messages.toReversed().map(user) })).content).toBe(
			answer,
		);
	});
});

test.each([
	['What is 2 + 2?', 8],
	['北京今天的天气怎么样？', 6],
	['<|endoftext|>', 7],
	['天'.repeat(100_000), 50_000],
])('counts the tokens of %.30s as a tokenizer does', async (content, tokens) => {
	const { body } = await service.chat({ messages: [user(content)] });
	expect(body.usage.prompt_tokens).toBe(tokens);
});

describe.each(['constructor', 'hasOwnProperty'])('the name %s, which every object has,', (name) => {
	it.each<[string, Json?]>([
		[`Classify as ${name} or driver: He drives a car.`],
		[`Extract ${name} and driver: The ${name} is Ada.`],
		[`Translate to ${name}: dog`],
		[`What is the ${name}?`],
		[
			`Answer in JSON with keys ${name} and driver.`,
			{ response_format: { type: 'json_object' } },
		],
	])('is a word as any other: %s', async (question, more = {}) => {
		const { status } = await service.chat({
			messages: [user(question)],
			...more,
		});
		expect(status).toBe(200);
	});

	it('is a format, a field and a type as any other', async () => {
		const properties = { [name]: { type: 'string', format: name } };
		const parameters = { type: 'object', properties, required: [name] };
		const called = { type: 'function', function: { name: 'find', parameters } };
		const { tool_calls: calls } = await service.say('Find Ada', {
			tools: [called],
			tool_choice: 'required',
		});
		const values = JSON.parse(calls![0]!.function.arguments) as Json;
		expect(typeof Object.values(values)[0]).toBe('string');
	});
});
