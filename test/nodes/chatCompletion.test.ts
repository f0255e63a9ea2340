import type { IDataObject } from 'n8n-workflow';

import { runNode, type RunOptions } from '../support/engine';
import { events, eventsOf, json, serverForEach, type Script } from '../support/scriptedServer';
import { withFakeTimers } from '../support/fakeTimers';
import { FAILURE } from '../support/failureTexts';

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

let script: Script;

const server = serverForEach((...args) => {
	script(...args);
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

test('by default a stream is requested and collected', async () => {
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
					output: 'Hello',
					finish_reason: 'stop',
					usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
				},
				pairedItem: { item: 0 },
			},
		],
	]);
	expect(chunks).toHaveLength(0);
});

test('line ends and spaces copied with the key are not sent', async () => {
	script = streamed;
	await chat({ credential: { baseUrl: server.url, apiKey: ` ${SECRET}\n` } });

	expect(server.requests[0]!.headers.authorization).toBe(`Bearer ${SECRET}`);
});

test('system message, application and model are sent; streaming can be off', async () => {
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
			answeredBy: 'app',
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
		output: 'Hello',
		finish_reason: 'stop',
		usage: REPLY.usage,
		suggested_questions: ['Why?'],
		trace_id: 't-1',
	});
});

describe('when the trigger streams', () => {
	test('the text is sent to the chat as it arrives, between begin and end', async () => {
		let more: (() => void) | undefined;
		script = (response) => {
			response.writeHead(200, { 'content-type': 'text/event-stream' });
			response.write(eventsOf(CHUNKS.slice(0, 2)));
			more = () => {
				response.end(eventsOf(CHUNKS.slice(2)));
			};
		};
		const { chunks, outputs } = await chat({
			streaming: true,
			// The service waits for the first text to be shown.
			onChunk: ({ content }) => {
				if (content === 'Hel') more!();
			},
		});
		expect(chunks.map(({ type, content }) => [type, content])).toStrictEqual([
			['begin', undefined],
			['item', 'Hel'],
			['item', 'lo'],
			['end', undefined],
		]);
		expect(outputs[0]![0]!.json['output']).toBe('Hello');
	});

	test('what arrives together is sent together', async () => {
		script = streamed;
		const { chunks } = await chat({ streaming: true });
		expect(chunks.map(({ type, content }) => [type, content])).toStrictEqual([
			['begin', undefined],
			['item', 'Hello'],
			['end', undefined],
		]);
	});

	test('white space is sent with the text after it, and none is lost', async () => {
		const pieces = ['Dear', ' ', '\n\n', 'reader', ',\n', '\n'];
		script = (response) => {
			response.writeHead(200, { 'content-type': 'text/event-stream' });
			const [first, ...others] = pieces.map((content) =>
				eventsOf([{ choices: [{ index: 0, delta: { content } }] }]),
			);
			response.write(first);
			void (async () => {
				for (const each of [...others, eventsOf(CHUNKS.slice(-2))]) {
					// Each on its own, as a slow model sends them.
					await new Promise((resolve) => setImmediate(resolve));
					response.write(each);
				}
				response.end();
			})();
		};
		const { chunks } = await chat({ streaming: true });
		const texts = chunks.filter(({ type }) => type === 'item').map(({ content }) => content);
		expect(texts.join('')).toBe(pieces.join(''));
		// The end of the reply has no text after it.
		expect(texts.slice(0, -1).filter((text) => text?.trim() === '')).toStrictEqual([]);
	});

	test('items are sent one after another, each between its own begin and end', async () => {
		script = streamed;
		const { chunks } = await chat({
			streaming: true,
			items: [{ chatInput: 'a' }, { chatInput: 'b' }],
		});
		expect(chunks.map(({ type, metadata }) => `${type} ${metadata.itemIndex}`)).toStrictEqual([
			'begin 0',
			'item 0',
			'end 0',
			'begin 1',
			'item 1',
			'end 1',
		]);
	});

	test('reasoning is shown when Streaming says so', async () => {
		script = (response) => {
			events(response, [
				{ choices: [{ index: 0, delta: { reasoning_content: 'Hm.' } }] },
				...CHUNKS.slice(1),
			]);
		};
		const texts = async (streaming: string) => {
			const parameters = { streaming };
			const { chunks } = await chat({ streaming: true, parameters });
			return chunks.flatMap(({ type, content }) => (type === 'item' ? [content] : []));
		};
		expect(await texts('auto')).toStrictEqual(['Hello']);
		expect(await texts('reasoning')).toStrictEqual(['Hm.\n\nHello']);
	});

	test('a failure that does not stop the node is sent to the chat', async () => {
		script = (response) => {
			json(response, 503, { error: { message: 'down', type: 'x' } });
		};
		const { chunks } = await chat({ streaming: true, onError: 'continueRegularOutput' });
		expect(chunks.map(({ type, content }) => [type, content])).toStrictEqual([
			['begin', undefined],
			['item', `\n\n> ${FAILURE.unavailable}. Try again in a minute.\n\n`],
			['end', undefined],
		]);
	});

	test('a failing call sends its end', async () => {
		script = (response) => {
			json(response, 503, { error: { message: 'down', type: 'x' } });
		};
		const { chunks, error } = await chat({ streaming: true });
		expect(chunks.map(({ type }) => type).slice(0, 2)).toStrictEqual(['begin', 'end']);
		expect(error).toMatchObject({ httpCode: '503' });
	});

	test('nothing is shown with Streaming off', async () => {
		script = (response) => {
			json(response, 200, REPLY);
		};
		const parameters = { streaming: 'off' };
		const { chunks, outputs } = await chat({ streaming: true, parameters });
		expect(chunks).toStrictEqual([]);
		expect(outputs[0]![0]!.json['output']).toBe('Hello');
	});
});

describe('input', () => {
	const body = () => server.requests[0]!.body as { messages: unknown };
	const reply: Script = (response) => {
		json(response, 200, REPLY);
	};

	test('a prompt with a system message and images', async () => {
		script = reply;
		await chat({
			parameters: {
				prompt: 'And this?',
				systemMessage: 'Be brief',
				images: {
					image: [
						{ source: 'url', url: '={{ $json.pictures }}' },
						{ url: ' http://127.0.0.1/c.png ' },
					],
				},
			},
			items: [{ pictures: ['http://127.0.0.1/a.png', 'https://example.com/b.png'] }],
		});
		expect(body().messages).toStrictEqual([
			{ role: 'system', content: 'Be brief' },
			{
				role: 'user',
				content: [
					{ type: 'text', text: 'And this?' },
					{ type: 'image_url', image_url: { url: 'http://127.0.0.1/a.png' } },
					{ type: 'image_url', image_url: { url: 'https://example.com/b.png' } },
					{ type: 'image_url', image_url: { url: 'http://127.0.0.1/c.png' } },
				],
			},
		]);
	});

	test('a list of messages with every role', async () => {
		script = reply;
		const calls = [
			{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } },
		];
		await chat({
			parameters: {
				input: 'messages',
				messages: {
					message: [
						{ role: 'system', content: 'Be brief' },
						{
							role: 'user',
							content: '={{ $json.chatInput }}',
							images: { image: [{ source: 'url', url: 'http://127.0.0.1/a.png' }] },
						},
						{ role: 'assistant', content: '', toolCalls: JSON.stringify(calls) },
						{ role: 'tool', content: 'sunny', toolCallId: 'a' },
						{ role: 'assistant', content: 'Sunny.' },
						{ role: 'user', content: 'Thanks' },
					],
				},
			},
		});
		expect(body().messages).toStrictEqual([
			{ role: 'system', content: 'Be brief' },
			{
				role: 'user',
				content: [
					{ type: 'text', text: 'Hi' },
					{ type: 'image_url', image_url: { url: 'http://127.0.0.1/a.png' } },
				],
			},
			{ role: 'assistant', content: null, tool_calls: calls },
			{ role: 'tool', content: 'sunny', tool_call_id: 'a' },
			{ role: 'assistant', content: 'Sunny.' },
			{ role: 'user', content: 'Thanks' },
		]);
	});

	test.each([
		['text', '[{"role":"user","content":"Hello"}]'],
		['an expression', '={{ [{ role: "user", content: "Hello" }] }}'],
	])('messages as JSON from %s', async (_name, messagesJson) => {
		script = reply;
		await chat({ parameters: { input: 'json', messagesJson } });
		expect(body().messages).toStrictEqual([{ role: 'user', content: 'Hello' }]);
	});

	test('every option is sent under its name in the specification (spec 2.1)', async () => {
		script = reply;
		await chat({
			parameters: {
				streaming: 'off',
				options: {
					frequencyPenalty: 0.5,
					presencePenalty: -0.5,
					reasoningEffort: { __rl: true, mode: 'list', value: 'low' },
					stop: ['END'],
					temperature: '={{ $json.t }}',
					thinking: 'disabled',
					toolChoice: 'none',
					tools: '[{"type":"function","function":{"name":"weather"}}]',
					topP: 0.9,
					extraBody: '{"seed": 7}',
				},
			},
			items: [{ chatInput: 'Hi', t: 0.1 }],
		});
		expect(server.requests[0]!.body).toStrictEqual({
			messages: [{ role: 'user', content: 'Hi' }],
			frequency_penalty: 0.5,
			presence_penalty: -0.5,
			reasoning_effort: 'low',
			stop: ['END'],
			temperature: 0.1,
			thinking: { type: 'disabled' },
			tool_choice: 'none',
			tools: [{ type: 'function', function: { name: 'weather' } }],
			top_p: 0.9,
			seed: 7,
			stream: false,
		});
	});

	/** An entry of Messages, behind another one. */
	const inForm = (entry: IDataObject): IDataObject => ({
		input: 'messages',
		messages: {
			message: [
				{ role: 'user', content: 'Hi' },
				{ role: 'user', ...entry },
			],
		},
	});

	test.each<[IDataObject, string]>([
		[{ input: 'messages', messages: {} }, 'Messages is empty'],
		[{ input: 'json', messagesJson: '[]' }, 'Messages (JSON) is empty'],
		[{ input: 'json', messagesJson: '[{' }, 'Messages (JSON) is not valid JSON'],
		[
			{ input: 'messages', messages: { message: [{ role: 'user', content: '' }] } },
			'Messages: entry 1 has no content',
		],
		[
			{ input: 'messages', messages: { message: [{ role: 'system', content: 'x' }] } },
			'Messages: the last entry has the role system',
		],
		[
			{ images: { image: [{ source: 'url', url: 'data:image/png;base64,AA' }] } },
			'Images: entry 1 is a data: URL',
		],
		[{ prompt: '={{ [] }}' }, 'Prompt is []'],
		[{ prompt: '={{ [$json.nothing, {}] }}' }, 'Prompt is [null,{}]'],
		[{ prompt: '={{ $json.nothing * 2 }}' }, 'Prompt is NaN'],
		[{ systemMessage: '={{ ({ tone: $json.nothing }) }}' }, 'System Message is {}'],
		[
			{ input: 'messages', messages: { message: [{ role: 'user', content: '={{ [] }}' }] } },
			'Messages: entry 1 is []',
		],
		[
			inForm({ images: { image: [{ source: 'url', url: 'data:image/png;base64,AA' }] } }),
			'Messages: entry 2, Images: entry 1 is a data: URL',
		],
		[
			inForm({ role: 'assistant', toolCalls: '[{' }),
			'Messages: entry 2, Tool Calls is not valid JSON',
		],
		[{ options: { stop: ['1', '2', '3', '4', '5'] } }, 'Stop Words has 5 entries'],
		[{ options: { temperature: 1.5 } }, 'Temperature is 1.5'],
		[{ output: '={{ "all" }}' }, 'Output is all'],
		[{ options: { timeout: '={{ "soon" }}' } }, 'Timeout is soon'],
	])('%j is rejected before any request: %s', async (parameters, message) => {
		const { error } = await chat({ parameters });
		expect(error).toMatchObject({ name: 'NodeOperationError', message });
		expect(server.requests).toHaveLength(0);
	});

	test('a private image is rejected when the service is on the internet', async () => {
		const { error } = await chat({
			credential: { baseUrl: 'https://api.example.com', apiKey: SECRET },
			parameters: { images: { image: [{ source: 'url', url: 'http://10.0.0.1/a.png' }] } },
		});
		expect(error).toMatchObject({
			message: 'Images: entry 1 points to a private network, which the service cannot reach',
		});
	});

	test.each([
		[
			'data',
			'Images: entry 1 cannot be published: the item contains the file itself, as n8n has not stored it',
		],
		['other', 'Images: entry 1 has the name other, but the item has no such binary field'],
	])('binary field %s, where n8n keeps files in memory', async (binaryProperty, message) => {
		const { error } = await chat({
			parameters: { images: { image: [{ source: 'binary', binaryProperty }] } },
			binaries: [{ data: { data: 'AAAA', mimeType: 'image/png' } }],
		});
		expect(error).toMatchObject({ name: 'NodeOperationError', message });
	});

	test.each([
		['application/pdf', true],
		['audio/mpeg', true],
		['text/html', true],
		['image/heic', false],
		['Image/PNG', false],
		// Of an unknown file.
		['application/octet-stream', false],
		['text/plain', false],
		['', false],
	])('a file of the type %j in Images is rejected: %s', async (mimeType, isRejected) => {
		script = reply;
		const file = { id: 'filesystem:a', mimeType, data: '' };
		const { error } = await chat({
			parameters: { images: { image: [{ source: 'binary', binaryProperty: 'paper' }] } },
			binaries: [{ paper: file }],
		});
		const rejected = `Images: entry 1 names paper, a file of the type ${mimeType}`;
		expect(error?.message === rejected).toBe(isRejected);
		expect(server.requests).toHaveLength(isRejected ? 0 : 1);
	});
});

describe('output', () => {
	test('a raw output is the unchanged body of the service', async () => {
		const whole = {
			id: 'c-1',
			object: 'chat.completion',
			...REPLY,
			session_id: null,
			own: { x: 1 },
		};
		script = (response) => {
			json(response, 200, whole);
		};
		const { outputs } = await chat({ parameters: { output: 'raw', streaming: 'off' } });
		expect(outputs[0]![0]!.json).toStrictEqual(whole);
	});

	test.each([
		['raw', true],
		['simple', false],
		['', false],
	])('Output from an expression that gives %j', async (value, isRaw) => {
		script = streamed;
		const output = `={{ ${JSON.stringify(value)} }}`;
		const { outputs } = await chat({ parameters: { output } });
		expect(Object.hasOwn(outputs[0]![0]!.json, 'choices')).toBe(isRaw);
	});

	test('tokens are added to the token count of n8n', async () => {
		script = streamed;
		const { run } = await chat({ items: [{ chatInput: 'a' }, { chatInput: 'b' }] });
		expect(run.data.resultData.runData['Tested']![0]!.metadata).toMatchObject({
			tokenUsage: { inputTokens: 6, outputTokens: 2 },
		});
	});
});

describe('many items', () => {
	const question = (body: unknown) =>
		(body as { messages: [{ content: string }] }).messages[0].content;

	test('50 items, 3 of them failing: order and item linking hold, each failure stays on its own item', async () => {
		// The server answers once eight calls are open, or the last one has arrived.
		const open: (() => void)[] = [];
		let most = 0;
		script = (response, { body }, index) => {
			const asked = question(body);
			open.push(() => {
				if (['q7', 'q20', 'q49'].includes(asked)) {
					json(response, 409, { error: { message: 'sensitive', type: 'x' } });
					return;
				}
				json(response, 200, {
					choices: [
						{ index: 0, message: { content: `re ${asked}` }, finish_reason: 'stop' },
					],
				});
			});
			most = Math.max(most, open.length);
			if (open.length < 8 && index < 49) return;
			for (const answer of open.splice(0)) answer();
		};
		const items = Array.from({ length: 50 }, (_, index) => ({ chatInput: `q${index}` }));
		const { status, outputs } = await chat({
			items,
			parameters: { streaming: 'off', options: { concurrency: 8 } },
			onError: 'continueRegularOutput',
		});
		expect(status).toBe('success');
		expect(outputs[0]).toHaveLength(50);
		expect(outputs[0]!.map(({ pairedItem }) => pairedItem)).toStrictEqual(
			items.map((_, item) => ({ item })),
		);
		expect(outputs[0]!.map(({ json: { output, error } }) => output ?? error)).toStrictEqual(
			items.map(({ chatInput }) =>
				['q7', 'q20', 'q49'].includes(chatInput) ? FAILURE.moderated : `re ${chatInput}`,
			),
		);
		expect(server.requests).toHaveLength(50);
		expect(most).toBe(8);
	});

	test('the batch interval separates batches', async () => {
		const minutes: number[] = [];
		await withFakeTimers(async ({ passedMs }) => {
			script = (response) => {
				minutes.push(Math.floor(passedMs() / 60_000));
				json(response, 200, REPLY);
			};
			await chat({
				items: Array.from({ length: 5 }, (_, index) => ({ chatInput: `q${index}` })),
				parameters: {
					streaming: 'off',
					options: { concurrency: 2, batchInterval: 60_000 },
				},
			});
		});
		expect(minutes).toStrictEqual([0, 0, 1, 1, 2]);
	});

	test('canceling stops a reply in mid-stream, and no further request is sent', async () => {
		let cancel: () => void = () => undefined;
		let closed: Promise<unknown> = Promise.resolve();
		script = (response) => {
			closed = new Promise((resolve) => response.on('close', resolve));
			response.writeHead(200, { 'content-type': 'text/event-stream' });
			response.write(`data: ${JSON.stringify(CHUNKS[1])}\n\n`, () => {
				cancel();
			});
		};
		const { status } = await chat({
			items: [{ chatInput: 'a' }, { chatInput: 'b' }, { chatInput: 'c' }],
			parameters: { options: { concurrency: 1 } },
			onError: 'continueRegularOutput',
			onStart: (stop) => {
				cancel = stop;
			},
		});
		await closed;
		expect(status).toBe('canceled');
		expect(server.requests).toHaveLength(1);
	});
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
		['api.example.com', 'Base URL is not a valid URL'],
	])('base URL %j: %s', async (baseUrl, message) => {
		const { error } = await chat({ credential: { baseUrl, apiKey: SECRET } });
		expect(error).toMatchObject({ name: 'NodeOperationError', message });
	});

	test('a wrong key: the error has a hint and the message of the service, but not the key', async () => {
		script = (response) => {
			json(response, 401, {
				error: { message: 'invalid key', type: 'invalid_request_error' },
			});
		};
		const { error, run } = await chat();
		expect(error).toMatchObject({
			name: 'NodeApiError',
			httpCode: '401',
			message: FAILURE.badKey,
		});
		expect(error!.description).toBe(
			'The service said: "invalid key". Check the API Key in the Agent Video API credential, and that the Base URL is of the same service. Type: invalid_request_error.',
		);
		expect(JSON.stringify([run, error])).not.toContain(SECRET);
	});
});
