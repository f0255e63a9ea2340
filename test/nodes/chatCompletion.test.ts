import { runNode, type RunOptions } from '../support/engine';
import {
	events,
	json,
	startScriptedServer,
	type Script,
	type ScriptedServer,
} from '../support/scriptedServer';

const REPLY = {
	choices: [
		{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' },
	],
	usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};

const CHUNKS = [
	{ choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] },
	{ choices: [{ index: 0, delta: { content: 'Hel' }, finish_reason: null }], session_id: null },
	{ choices: [{ index: 0, delta: { content: 'lo' }, finish_reason: null }] },
	{
		choices: [
			{
				index: 0,
				delta: {},
				finish_reason: 'stop',
				usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
			},
		],
	},
	'[DONE]',
];

let server: ScriptedServer;
let script: Script;

beforeEach(async () => {
	server = await startScriptedServer((...args) => {
		script(...args);
	});
});
afterEach(async () => {
	await server.stop();
});

const SECRET = 'k-secret';

async function chat(more: Partial<RunOptions> = {}) {
	return await runNode('chatCompletion', {
		credential: { baseUrl: server.url, apiKey: SECRET },
		items: [{ chatInput: 'Hi' }],
		...more,
	});
}

const streamed: Script = (response) => {
	events(response, CHUNKS);
};

test('a stream is asked for and collected by default', async () => {
	script = streamed;
	const { status, outputs, chunks } = await chat();

	expect(status).toBe('success');
	expect(server.requests).toMatchObject([
		{
			method: 'POST',
			path: '/v1/chat/completions',
			headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
		},
	]);
	expect(server.requests[0]!.body).toStrictEqual({
		messages: [{ role: 'user', content: 'Hi' }],
		stream: true,
		stream_options: { include_usage: true },
	});
	expect(outputs).toStrictEqual([
		[
			{
				json: {
					content: 'Hello',
					finish_reason: 'stop',
					usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
				},
				pairedItem: { item: 0 },
			},
		],
	]);
	expect(chunks).toHaveLength(0);
});

test('system message, application and model go out; streaming can be off', async () => {
	script = (response) => {
		json(response, 200, {
			...REPLY,
			trace_id: 't-1',
			session_id: null,
			suggested_questions: ['Why?'],
		});
	};
	const { outputs } = await chat({
		parameters: {
			prompt: 'Name {{ x }} plainly',
			systemMessage: 'Be brief',
			appCode: ' demo-app ',
			model: { __rl: true, mode: 'id', value: 'chat-m2' },
			streaming: 'off',
		},
	});
	expect(server.requests[0]!.body).toStrictEqual({
		messages: [
			{ role: 'system', content: 'Be brief' },
			{ role: 'user', content: 'Name {{ x }} plainly' },
		],
		app_code: 'demo-app',
		model: 'chat-m2',
		stream: false,
	});
	expect(outputs[0]![0]!.json).toStrictEqual({
		content: 'Hello',
		finish_reason: 'stop',
		usage: REPLY.usage,
		suggested_questions: ['Why?'],
		trace_id: 't-1',
	});
});

describe('when the trigger streams', () => {
	test('the text goes to the chat as it arrives, bracketed', async () => {
		script = streamed;
		const { chunks, outputs } = await chat({ streaming: true });
		expect(chunks.map(({ type, content }) => [type, content])).toStrictEqual([
			['begin', undefined],
			['item', 'Hel'],
			['item', 'lo'],
			['end', undefined],
		]);
		expect(outputs[0]![0]!.json['content']).toBe('Hello');
	});

	test('items follow one another, each in its own brackets', async () => {
		script = streamed;
		const { chunks } = await chat({
			streaming: true,
			items: [{ chatInput: 'a' }, { chatInput: 'b' }],
		});
		expect(chunks.map(({ type, metadata }) => `${type} ${metadata.itemIndex}`)).toStrictEqual([
			'begin 0',
			'item 0',
			'item 0',
			'end 0',
			'begin 1',
			'item 1',
			'item 1',
			'end 1',
		]);
	});

	test('a failing call closes its bracket', async () => {
		script = (response) => {
			json(response, 503, { error: { message: 'down', type: 'x' } });
		};
		const { chunks, error } = await chat({ streaming: true });
		expect(chunks.map(({ type }) => type).slice(0, 2)).toStrictEqual(['begin', 'end']);
		expect(error).toMatchObject({ httpCode: '503' });
	});

	test.each(['collect', 'off'])(
		'nothing is shown with Streaming set to %s',
		async (streaming) => {
			script = (response) => {
				if (streaming === 'off') json(response, 200, REPLY);
				else events(response, CHUNKS);
			};
			const { chunks, outputs } = await chat({ streaming: true, parameters: { streaming } });
			expect(chunks).toStrictEqual([]);
			expect(outputs[0]![0]!.json['content']).toBe('Hello');
		},
	);
});

test('each item gets its own reply, in the order of the items', async () => {
	script = (response, { body }) => {
		const [{ content }] = (body as { messages: [{ content: string }] }).messages;
		json(response, 200, {
			choices: [{ index: 0, message: { content: `re ${content}` }, finish_reason: 'stop' }],
		});
	};
	const items = Array.from({ length: 12 }, (_, index) => ({ chatInput: `q${index}` }));
	const { outputs } = await chat({ items, parameters: { streaming: 'off' } });
	expect(
		outputs[0]!.map(({ json: { content }, pairedItem }) => [content, pairedItem]),
	).toStrictEqual(items.map(({ chatInput }, item) => [`re ${chatInput}`, { item }]));
});

describe('bad input', () => {
	test.each([[''], ['  '], ['={{ $json.none }}']])(
		'prompt %j: refused before any request',
		async (prompt) => {
			const { error } = await chat({ parameters: { prompt } });
			expect(error).toMatchObject({ name: 'NodeOperationError', message: 'Prompt is empty' });
			expect(server.requests).toHaveLength(0);
		},
	);

	test.each([
		['', 'Base URL is empty'],
		['api.example.com', 'Base URL is not a web address'],
	])('base URL %j: %s', async (baseUrl, message) => {
		const { error } = await chat({ credential: { baseUrl, apiKey: SECRET } });
		expect(error).toMatchObject({ name: 'NodeOperationError', message });
	});

	test('a host that does not exist is named as such', async () => {
		const { error } = await chat({
			credential: { baseUrl: 'http://service.invalid', apiKey: SECRET },
		});
		expect(error).toMatchObject({
			name: 'NodeApiError',
			message: 'The host name of the service was not found',
		});
		expect(error!.description).toContain('Check the Base URL');
	});

	test('an address where nothing listens is named as such', async () => {
		await server.stop();
		const { error } = await chat();
		expect(error).toMatchObject({
			name: 'NodeApiError',
			message: 'Nothing answers at the address of the service',
		});
	});

	test('a wrong key: remedy and the words of the service, without the key', async () => {
		script = (response) => {
			json(response, 401, {
				error: { message: 'invalid key', type: 'invalid_request_error' },
			});
		};
		const { error, run } = await chat();
		expect(error).toMatchObject({
			name: 'NodeApiError',
			httpCode: '401',
			message: 'The service did not accept the API key',
		});
		expect(error!.description).toBe(
			'Check the API Key in the Agent Video API credential. The service said: invalid key. Type: invalid_request_error',
		);
		expect(JSON.stringify([run, error])).not.toContain(SECRET);
	});
});

test('a cut stream keeps the text that had arrived, in the error output too', async () => {
	script = (response) => {
		events(response, CHUNKS.slice(0, 2));
	};
	const { error } = await chat();
	expect(error).toMatchObject({
		message: 'The stream ended before the reply did',
		context: { data: { partial: { choices: [{ message: { content: 'Hel' } }] } } },
	});

	const { status, outputs } = await chat({ onError: 'continueErrorOutput' });
	expect(status).toBe('success');
	expect(outputs[1]![0]!.json).toMatchObject({
		error: 'The stream ended before the reply did',
		details: { partial: { choices: [{ message: { content: 'Hel' } }] } },
	});
});
