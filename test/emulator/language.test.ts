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
		['请查询订单1001的状态', [['lookup_order', { order_id: '1001' }]]],
		[
			'给 ada@example.com 发一封邮件，主题是“午餐”',
			[['send_email', { to: 'ada@example.com', subject: '午餐' }]],
		],
		['请生成一个小狗在海边奔跑的视频', [['create_video', { prompt: '小狗在海边奔跑' }]]],
		['查询从巴黎到罗马的航班', [['search_flights', { from: '巴黎', to: '罗马' }]]],
		['计算 3 加 4.5', [['add', { a: 3, b: 4.5 }]]],
	])('calls tools that are declared in English: %s', async (question, calls) => {
		const { tool_calls = [] } = await service.say(question, { tools: TOOLS });
		expect(
			tool_calls.map(({ function: call }) => [call.name, JSON.parse(call.arguments) as Json]),
		).toEqual(calls);
	});

	it('calls a tool that is declared in Chinese, and so does an English one', async () => {
		const tools = [tool('chaxun', '查询城市天气', { city: text })];
		for (const [question, city] of [
			['北京的天气怎么样？', '北京'],
			['What is the weather in Paris?', 'Paris'],
		] as const) {
			const { tool_calls } = await service.say(question, { tools });
			expect(tool_calls?.map(({ function: call }) => call.arguments)).toEqual([
				JSON.stringify({ city }),
			]);
		}
	});

	it('calls one tool after another, and answers in Chinese', async () => {
		const messages: unknown[] = [user('先查北京的天气，然后查订单1002')];
		const names: string[] = [];
		for (;;) {
			const { body } = await service.chat({ messages, tools: TOOLS });
			const { message } = body.choices[0]!;
			if (!message.tool_calls) {
				expect(message.content).toBe('查询结果如下。\n北京：晴。\n1002：晴。');
				expect(names).toEqual(['get_weather', 'lookup_order']);
				return;
			}
			messages.push(message);
			for (const { id, function: call } of message.tool_calls) {
				names.push(call.name);
				messages.push({ role: 'tool', tool_call_id: id, content: '晴。' });
			}
		}
	});

	it.each([
		'什么是人工智能？',
		'为什么天空是蓝色的？',
		'怎样做好一个视频？',
		'写一个关于灯塔的视频提示词',
		'写三个关于咖啡的标题',
		'你好',
		'讲个笑话',
		'介绍一下北京',
	])('gets an answer without a Latin letter: %s', async (question) => {
		const { content, reasoning_content } = await service.say(question, { model: 'chat-m1' });
		for (const answer of [content, reasoning_content]) {
			expect(answer).toMatch(/\p{Script=Han}/u);
			expect(answer).not.toMatch(/[A-Za-z{}]/);
		}
	});

	it.each([
		['demo-app', '画一只红狐狸', /^这是红狐狸的图片：\n\n!\[红狐狸\]\(http/],
		['demo-assistant', '现在几点？', /^现在是 2026-01-01T/],
		['demo-assistant', '17乘以3是多少', /^17 乘以 3 = 51。$/],
		['demo-assistant', '搜索人工智能的新闻', /^我搜索了人工智能的新闻，/],
	])('runs plugins of %s: %s', async (app_code, question, answer) => {
		expect((await service.say(question, { app_code })).content).toMatch(answer);
	});
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

	it.each([
		['My order number is A-1001.', 'What is my order number?', 'Your order number is A-1001.'],
		['I live in Oslo', 'Where do I live?', 'You told me: Oslo.'],
		['Hi', 'What is my shoe size?', 'You have not told me that yet.'],
		['我的订单号是A-1001', '我的订单号是什么？', '你的订单号是A-1001。'],
		['我最喜欢的颜色是蓝色', '我最喜欢的颜色是什么？', '你最喜欢的颜色是蓝色。'],
		['记住：明天十点开会', '我让你记住了什么？', '你让我记住：明天十点开会。'],
	])('recalls from the conversation: %s %s', async (fact, question, answer) => {
		const messages = [user(fact), { role: 'assistant', content: 'OK' }, user(question)];
		expect((await service.say('', { messages })).content).toBe(answer);
	});

	it.each<[string, Json]>([
		[
			'As JSON with keys name, email and is_urgent: "I am Bob Ray, bob@example.com, it is urgent"',
			{ name: 'Bob Ray', email: 'bob@example.com', is_urgent: true },
		],
		[
			'用JSON回答，字段为姓名、城市、金额：我叫韩梅梅，住在上海，付了 300 元',
			{ 姓名: '韩梅梅', 城市: '上海', 金额: 300 },
		],
		[
			'Return JSON with keys sentiment (positive, negative) and total. Review: I hate it, paid $30',
			{ sentiment: 'negative', total: 30 },
		],
		[
			'Is it spam? As JSON with keys is_spam and reason: You win a free prize',
			{ is_spam: true, reason: 'The text says: "You win a free prize"' },
		],
		['Sum the numbers as JSON with key sum: 3, 4, 5', { sum: 12 }],
		[
			'Translate to German as JSON with key translations: apple, dog',
			{ translations: ['Apfel', 'Hund'] },
		],
		[
			'As JSON with keys invoice_number, date and total: invoice INV-2041 of 2026-03-15, 3 lamps at $20, total $210.50',
			{ invoice_number: 'INV-2041', date: '2026-03-15', total: 210.5 },
		],
		[
			'As JSON with keys author and duration_minutes: a talk of 2026, 45 minutes, author Jane Doe',
			{ author: 'Jane Doe', duration_minutes: 45 },
		],
		[
			'用JSON回答，字段为 sentiment（正面、负面）和 priority（高、低）：系统崩溃了，太糟糕了',
			{ sentiment: '负面', priority: '高' },
		],
	])('in JSON mode: %s', async (question, answer) => {
		const { content } = await service.say(question, {
			response_format: { type: 'json_object' },
		});
		expect(JSON.parse(content ?? '')).toEqual(answer);
	});

	const day = { ...text, format: 'date' };
	const objectOf = (properties: Json) => ({ type: 'object', properties });
	const linesOf = (properties: Json) =>
		objectOf({ items: { type: 'array', items: objectOf(properties) } });
	const LINE = { name: text, quantity: { type: 'integer' }, price: { type: 'number' } };
	const PERSON = { name: text, email: { ...text, format: 'email' } };
	it.each<[string, Json, Json]>([
		[
			'The stay is from 2026-01-05 to 2026-02-07',
			objectOf({ end_date: day, start_date: day }),
			{ end_date: '2026-02-07', start_date: '2026-01-05' },
		],
		[
			'Invoice of 2026-03-01, shipped 2026-03-04, due 2026-03-31',
			objectOf({ invoice_date: day, due_date: day, shipped_date: day }),
			{ invoice_date: '2026-03-01', due_date: '2026-03-31', shipped_date: '2026-03-04' },
		],
		[
			'会议从2026年3月5日到2026年3月7日',
			objectOf({ start_date: day, end_date: day }),
			{ start_date: '2026-03-05', end_date: '2026-03-07' },
		],
		[
			'Order: 2 x Lamp at $5, 3 x Chair at $7.50',
			linesOf(LINE),
			{
				items: [
					{ name: 'Lamp', quantity: 2, price: 5 },
					{ name: 'Chair', quantity: 3, price: 7.5 },
				],
			},
		],
		[
			'Guests: Ann Lee (ann@example.com), Bob Ray (bob@example.com)',
			linesOf(PERSON),
			{
				items: [
					{ name: 'Ann Lee', email: 'ann@example.com' },
					{ name: 'Bob Ray', email: 'bob@example.com' },
				],
			},
		],
	])('fills the fields of %s apart', async (fact, schema, answer) => {
		const { content } = await service.say(`As JSON. ${fact}\n${JSON.stringify(schema)}`, {
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

it.each([
	['a talk on April 7, 2026 in Berlin, online: false', '2026-04-07', false],
	['日期 2026年3月18日，online: true', '2026-03-18', true],
	['the 1st February 2026', '2026-02-01', true],
])('dates and flags of a schema hold in: %s', async (fact, date, online) => {
	const properties = { date: { ...text, format: 'date' }, online: { type: 'boolean' } };
	const { content } = await service.say(
		`As JSON: ${fact}\n${JSON.stringify({ type: 'object', properties })}`,
		{ response_format: { type: 'json_object' } },
	);
	expect(JSON.parse(content ?? '')).toEqual({ date, online });
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

describe.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty'])(
	'the name %s, which every object has,',
	(name) => {
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
	},
);
