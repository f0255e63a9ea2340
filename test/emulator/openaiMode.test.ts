import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import OpenAI from 'openai';

import { startService, type TestService } from './support/service';

let service: TestService;
let client: OpenAI;
beforeAll(async () => {
	service = await startService({ openai: true });
	client = new OpenAI({ apiKey: 'demo-key', baseURL: `${service.url}/v1`, maxRetries: 0 });
});
afterAll(() => service.stop());

const MODEL = 'gpt-4o';
const SUM = [{ role: 'user' as const, content: 'What is 2 + 2?' }];
const REVIEW = [{ role: 'user' as const, content: 'A negative review: 9 of 10 broke.' }];
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
const PARAMETERS = {
	type: 'object',
	properties: { city: { type: 'string' } },
	required: ['city'],
};
const weather = {
	name: 'get_weather',
	description: 'Get the weather of a city',
	parameters: PARAMETERS,
};

const satisfies = (text: string | null): unknown => {
	const value: unknown = JSON.parse(text ?? '');
	const ajv = new Ajv();
	addFormats(ajv);
	expect(ajv.validate(SCHEMA, value)).toBe(true);
	return value;
};

describe('chat completions', () => {
	it('satisfy a JSON schema, with the enumerated value that the message names', async () => {
		const { choices, model } = await client.chat.completions.create({
			model: MODEL,
			messages: [{ role: 'developer', content: 'Judge' }, ...REVIEW],
			response_format: {
				type: 'json_schema',
				json_schema: { name: 'review', strict: true, schema: SCHEMA },
			},
		});
		expect(satisfies(choices[0]!.message.content)).toMatchObject({ sentiment: 'negative' });
		expect(model).toBe(MODEL);
	});

	it('have n choices, in both forms, and end at max_tokens', async () => {
		const request = {
			model: MODEL,
			messages: SUM,
			n: 2,
			max_tokens: 1,
			temperature: 1.5,
			stop: 'x',
		};
		const plain = await client.chat.completions.create(request);
		const streamed = await client.chat.completions.stream(request).finalChatCompletion();
		for (const { choices } of [plain, streamed]) {
			expect(
				choices.map((choice) => [
					choice.index,
					choice.message.content,
					choice.finish_reason,
				]),
			).toEqual([
				[0, '2', 'length'],
				[1, '2', 'length'],
			]);
		}
	});
});

describe('other endpoints', () => {
	it('list the models', async () => {
		const { data } = await client.models.list();
		expect(data.map(({ id }) => id)).toContain('chat-m1');
		expect(await client.models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: 'model' });
	});

	it('give responses with tool calls and their results, and with a JSON schema', async () => {
		const tools = [{ type: 'function' as const, strict: false, ...weather }];
		const input: OpenAI.Responses.ResponseInput = [
			{ role: 'user', content: 'What is the weather in Paris?' },
		];
		const request = { model: MODEL, input, tools };
		const { output } = await client.responses.stream(request).finalResponse();
		const call = output[0] as OpenAI.Responses.ResponseFunctionToolCall;
		expect(call).toMatchObject({ type: 'function_call', arguments: '{"city":"Paris"}' });

		const result = {
			type: 'function_call_output' as const,
			call_id: call.call_id,
			output: '{"sky": "clear"}',
		};
		const answer = await client.responses.create({
			...request,
			input: [...input, call, result],
		});
		expect(answer.output_text).toBe('Paris: sky: clear.');

		const { output_text } = await client.responses.create({
			model: MODEL,
			input: REVIEW,
			text: { format: { type: 'json_schema', name: 'review', schema: SCHEMA } },
		});
		satisfies(output_text);
	});
});
