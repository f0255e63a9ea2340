/** What clients of OpenAI, and that of the nodes, read of the emulator: as it is, with --openai, and as another service. */
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import OpenAI, { type APIError } from 'openai';

import { completeChat } from '../../nodes/client/chat/completeChat';
import { dialects } from '../../emulator/script/scriptStore';
import { axiosHttp } from '../support/axiosHttp';
import { startService, user, type TestService } from './support/service';

let service: TestService;
let client: OpenAI;
const clientOf = (apiKey: string) =>
	new OpenAI({ apiKey, baseURL: `${service.url}/v1`, maxRetries: 0 });

/** Starts an emulator for the tests of a block. */
function withService(options: Parameters<typeof startService>[0] = {}): void {
	beforeAll(async () => {
		service = await startService(options);
		client = clientOf('demo-key');
	});
	afterAll(() => service.stop());
}

const ask = (content: string) => [{ role: 'user' as const, content }];
const SUM = ask('What is 2 + 2?');
const WEATHER = {
	name: 'get_weather',
	description: 'Get the current weather of a city',
	parameters: {
		type: 'object',
		properties: { city: { type: 'string' } },
		required: ['city'],
	},
};
const TOOLS = [{ type: 'function' as const, function: WEATHER }];

describe('4 the openai client', () => {
	withService();
	const model = 'chat-m2';

	it('4 create', async () => {
		const completion = await client.chat.completions.create({ model, messages: SUM });
		expect(completion.choices[0]!.message.content).toBe('2 + 2 = 4');
		expect(completion.usage!.total_tokens).toBeGreaterThan(0);
	});

	it('4 create, streamed with usage', async () => {
		const stream = await client.chat.completions.create({
			...{ model, messages: SUM, stream: true as const },
			stream_options: { include_usage: true },
		});
		let text = '';
		let total = 0;
		for await (const chunk of stream) {
			text += chunk.choices[0]?.delta.content ?? '';
			total += chunk.usage?.total_tokens ?? 0;
		}
		const plain = await client.chat.completions.create({ model, messages: SUM });
		expect([text, total]).toEqual(['2 + 2 = 4', plain.usage!.total_tokens]);
	});

	it('4 runTools, streamed', async () => {
		const cities: string[] = [];
		const runner = client.chat.completions.runTools({
			...{ model, stream: true as const },
			messages: ask('What is the weather in Paris and Rome?'),
			tools: [
				{
					type: 'function' as const,
					function: {
						...WEATHER,
						parse: (text: string) => JSON.parse(text) as { city: string },
						function: ({ city }: { city: string }) => {
							cities.push(city);
							return { temperature: city.length, sky: 'clear' };
						},
					},
				},
			],
		});
		expect(await runner.finalContent()).toBe(
			'Here is what I found.\nParis: temperature: 5, sky: clear.\nRome: temperature: 4, sky: clear.',
		);
		expect(cities).toEqual(['Paris', 'Rome']);
	});
});

describe('--openai', () => {
	withService({ openai: true });
	const model = 'gpt-4o';
	const REVIEW = ask('A negative review: 9 of 10 broke.');
	const SCHEMA = {
		type: 'object',
		properties: {
			sentiment: { type: 'string', enum: ['positive', 'negative'] },
			score: { type: 'integer', minimum: 1, maximum: 5 },
			when: { type: 'string', format: 'date' },
		},
		required: ['sentiment', 'score', 'when'],
		additionalProperties: false,
	};

	const satisfies = (text: string | null): unknown => {
		const value: unknown = JSON.parse(text ?? '');
		const ajv = new Ajv();
		addFormats(ajv);
		expect(ajv.validate(SCHEMA, value)).toBe(true);
		return value;
	};

	it('satisfies a JSON schema, with the enumerated value that the message names', async () => {
		const completion = await client.chat.completions.create({
			model,
			messages: [{ role: 'developer', content: 'Judge' }, ...REVIEW],
			response_format: {
				type: 'json_schema',
				json_schema: { name: 'review', strict: true, schema: SCHEMA },
			},
		});
		const [{ message }] = completion.choices as [(typeof completion.choices)[number]];
		expect(satisfies(message.content)).toMatchObject({ sentiment: 'negative' });
		expect(completion.model).toBe(model);
	});

	it('has n choices, in both forms, which end at max_tokens', async () => {
		const limits = { n: 2, max_tokens: 1, temperature: 1.5, stop: 'x' };
		const request = { model, messages: SUM, ...limits };
		const plain = await client.chat.completions.create(request);
		const streamed = await client.chat.completions.stream(request).finalChatCompletion();
		for (const { choices } of [plain, streamed])
			expect(
				choices.map(({ index, message, finish_reason }) => [
					...[index, message.content, finish_reason],
				]),
			).toEqual([
				[0, '2', 'length'],
				[1, '2', 'length'],
			]);
	});

	it('lists the models', async () => {
		const { data } = await client.models.list();
		expect(data.map(({ id }) => id)).toContain('chat-m1');
		expect(await client.models.retrieve(model)).toMatchObject({ id: model, object: 'model' });
	});

	it('gives responses with tool calls and their results, and with a JSON schema', async () => {
		const input: OpenAI.Responses.ResponseInput = ask('What is the weather in Paris?');
		const tools = [{ type: 'function' as const, strict: false, ...WEATHER }];
		const request = { model, input, tools };
		const { output } = await client.responses.stream(request).finalResponse();
		const call = output[0] as OpenAI.Responses.ResponseFunctionToolCall;
		expect(call).toMatchObject({ type: 'function_call', arguments: '{"city":"Paris"}' });

		const type = 'function_call_output' as const;
		const result = { type, call_id: call.call_id, output: '{"sky": "clear"}' };
		const answer = await client.responses.create({
			...request,
			input: [...input, call, result],
		});
		expect(answer.output_text).toBe('Paris: sky: clear.');

		const { output_text } = await client.responses.create({
			...{ model, input: REVIEW },
			text: { format: { type: 'json_schema', name: 'review', schema: SCHEMA } },
		});
		satisfies(output_text);
	});
});

/** What a dialect says to a wrong key, and to what else it rejects. */
const ERRORS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
	ark: { 'wrong-key': 401, 'rate-limit': 429, 'forbidden-word': 400 },
	dashscope: { 'wrong-key': 401, 'rate-limit': 429, 'forbidden-word': 400 },
	ollama: { overloaded: 503 },
	openrouter: { 'wrong-key': 401, 'no-credit': 402, 'rate-limit': 429 },
	siliconflow: { 'wrong-key': 401, 'rate-limit': 429, overloaded: 503 },
	vllm: { 'wrong-key': 401, 'too-long': 400 },
};

test('every dialect is tested', () => {
	expect(dialects()).toEqual(Object.keys(ERRORS));
});

describe.each(dialects())('%s', (name) => {
	withService({ scripts: [name] });
	const options = (stream = false) => ({ stream, idleTimeoutMs: 5_000, onDelta: undefined });
	const texted = { model: 'm', messages: SUM };
	const asked = { model: 'm', messages: ask('What is the weather in Paris?'), tools: TOOLS };
	const CALLED = [{ function: { name: 'get_weather', arguments: '{"city":"Paris"}' } }];

	it('is read by the openai client: text, tool calls and usage, in both forms', async () => {
		const { completions } = client.chat;
		const plain = await completions.create(texted);
		expect([plain.model, plain.usage!.total_tokens]).toEqual(['m', 30]);
		for (const each of [plain, await completions.stream(texted).finalChatCompletion()])
			expect(each.choices[0]!.message.content).toBe('2 + 2 = 4');
		const called = await completions.create(asked);
		for (const each of [called, await completions.stream(asked).finalChatCompletion()])
			expect(each.choices[0]).toMatchObject({
				finish_reason: 'tool_calls',
				message: { tool_calls: [{ type: 'function', ...CALLED[0] }] },
			});
	});

	it.each([true, false])('is read by the client of the nodes, streamed: %s', async (stream) => {
		const http = axiosHttp(service.url, 'key');
		const text = await completeChat(http, texted, options(stream));
		const call = await completeChat(http, asked, options(stream));
		expect(text.choices[0]!.message.content).toBe('2 + 2 = 4');
		expect(call.choices[0]!.message.tool_calls).toMatchObject(CALLED);
	});

	it.each(Object.entries(ERRORS[name]!))('answers %s with %i', async (what, status) => {
		const key = what === 'wrong-key' ? what : 'key';
		const request = { model: 'm', messages: ask(what) };
		const error = await clientOf(key)
			.chat.completions.create(request)
			.catch((reason: unknown) => reason as APIError);
		expect(error).toMatchObject({ status });
		const failed = completeChat(axiosHttp(service.url, key), request, options());
		await expect(failed).rejects.toBeInstanceOf(Error);
	});

	it('breaks a stream with an error event', async () => {
		const events = await service.stream({ messages: [user('broken-stream')], model: 'm' });
		expect(events.join('\n')).toMatch(/"content":"Half".*("error"|"code":50505)/s);
	});
});
