import Ajv, { type SchemaObject, type ValidateFunction } from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';
import { startService, user, type Json, type TestService } from './support/service';

/** Types of the openai client, which are generated from the published OpenAPI description. */
const TYPES = require
	.resolve('openai/resources/chat/completions/completions')
	.replace(/\.js$/, '.d.ts');

let service: TestService;
let isCompletion: ValidateFunction;
let isChunk: ValidateFunction;

beforeAll(async () => {
	service = await startService();
	const generator = createGenerator({
		path: TYPES,
		skipTypeCheck: true,
		additionalProperties: true,
	});
	const ajv = new Ajv({ strict: false });
	isCompletion = ajv.compile(generator.createSchema('ChatCompletion') as SchemaObject);
	isChunk = ajv.compile(generator.createSchema('ChatCompletionChunk') as SchemaObject);
}, 60_000);
afterAll(() => service.stop());

const TOOLS = [
	{
		type: 'function',
		function: {
			name: 'get_weather',
			parameters: { type: 'object', properties: { city: { type: 'string' } } },
		},
	},
];
const PICTURE = { type: 'image_url', image_url: { url: 'https://example.com/fox.jpg' } };

/** Requests for every kind of response. */
const REQUESTS: readonly (readonly [string, Json])[] = [
	['a plain answer', { messages: [user('Hello')] }],
	['reasoning', { messages: [user('Why?')], model: 'chat-m1' }],
	['tool calls', { messages: [user('Weather in Paris and Rome')], tools: TOOLS }],
	['JSON', { messages: [user('Hello in JSON')], response_format: { type: 'json_object' } }],
	['an application', { messages: [user('Draw a picture of a fox')], app_code: 'demo-app' }],
	['an image', { messages: [user([PICTURE])], app_code: 'demo-app' }],
	['a workflow', { messages: [user('Foxes')], app_code: 'demo-workflow' }],
	['a super assistant', { messages: [user('What is 2 + 2?')], app_code: 'demo-assistant' }],
];

describe('4 responses satisfy the published schema', () => {
	it.each(REQUESTS)('4 completion: %s', async (_name, request) => {
		const { body } = await service.chat(request);
		isCompletion(body);
		expect(isCompletion.errors).toBeNull();
	});

	it.each(REQUESTS)('4 chunks: %s', async (_name, request) => {
		const chunks = await service.chunks({
			...request,
			stream_options: { include_usage: true },
		});
		for (const chunk of chunks) {
			isChunk(chunk);
			expect(isChunk.errors).toBeNull();
		}
	});

	it('4 the schema detects missing fields', () => {
		expect(isCompletion({ choices: [{ index: 0, message: { role: 'assistant' } }] })).toBe(
			false,
		);
		expect(isChunk({ choices: [{ delta: {} }] })).toBe(false);
	});
});
