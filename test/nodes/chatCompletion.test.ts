import type { IDataObject } from 'n8n-workflow';

import { runNode, type RunOptions } from '../support/engine';
import { FAILURE } from '../support/failureTexts';
import { withFakeTimers } from '../support/fakeTimers';
import { events, eventsOf, json, serverForEach, type Script } from '../support/scriptedServer';

const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
const REPLY = {
	choices: [
		{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' },
	],
	usage: USAGE,
};

const CHUNKS = [
	{ choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] },
	{ choices: [{ index: 0, delta: { content: 'Hel' }, finish_reason: null }], session_id: null },
	{ choices: [{ index: 0, delta: { content: 'lo' }, finish_reason: null }] },
	{ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: USAGE }] },
	'[DONE]',
];

/** Answers as it is asked. */
const reply: Script = (response, { body }) => {
	if ((body as { stream: boolean }).stream) events(response, CHUNKS);
	else json(response, 200, REPLY);
};
const fails =
	(status: number, message: string): Script =>
	(response) => {
		json(response, status, { error: { message, type: 'x' } });
	};

let script: Script;
beforeEach(() => {
	script = reply;
});

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

const sent = () => server.requests[0]!.body as { messages: unknown };
const shown = ({ chunks }: Awaited<ReturnType<typeof chat>>) =>
	chunks.map(({ type, content }) => [type, content]);

test('by default a stream is requested and collected; what was copied with the key is not sent', async () => {
	const credential = { baseUrl: server.url, apiKey: ` ${SECRET}\n` };
	const { status, outputs, chunks } = await chat({ credential });

	expect(status).toBe('success');
	expect(server.requests).toMatchObject([
		{
			method: 'POST',
			path: '/v1/chat/completions',
			headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
		},
	]);
	expect(sent()).toStrictEqual({
		messages: [{ role: 'user', content: 'Hi' }],
		stream: true,
		stream_options: { include_usage: true },
	});
	const answer = { output: 'Hello', finish_reason: 'stop', usage: USAGE };
	expect(outputs).toStrictEqual([[{ json: answer, pairedItem: { item: 0 } }]]);
	expect(chunks).toHaveLength(0);
});

test('system message, application and model are sent; streaming can be off', async () => {
	const more = { trace_id: 't-1', session_id: null, suggested_questions: ['Why?'] };
	script = (response) => {
		json(response, 200, { ...REPLY, ...more });
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
	expect(sent()).toStrictEqual({
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
		usage: USAGE,
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
		const result = await chat({
			streaming: true,
			// The service waits for the first text to be shown.
			onChunk: ({ content }) => {
				if (content === 'Hel') more!();
			},
		});
		expect(shown(result)).toStrictEqual([
			['begin', undefined],
			['item', 'Hel'],
			['item', 'lo'],
			['end', undefined],
		]);
		expect(result.outputs[0]![0]!.json['output']).toBe('Hello');
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

	test('what arrives together is sent together; items one after another, each between its own begin and end', async () => {
		const items = [{ chatInput: 'a' }, { chatInput: 'b' }];
		const { chunks } = await chat({ streaming: true, items });
		expect(
			chunks.map(({ type, content, metadata }) => [type, metadata.itemIndex, content]),
		).toStrictEqual(
			[0, 1].flatMap((item) => [
				['begin', item, undefined],
				['item', item, 'Hello'],
				['end', item, undefined],
			]),
		);
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

	test('a failure is sent to the chat where it does not stop the node; its end always', async () => {
		script = fails(503, 'down');
		const goesOn = await chat({ streaming: true, onError: 'continueRegularOutput' });
		expect(shown(goesOn)).toStrictEqual([
			['begin', undefined],
			['item', `\n\n> ${FAILURE.unavailable}. Try again in a minute.\n\n`],
			['end', undefined],
		]);
		const { chunks, error } = await chat({ streaming: true });
		expect(chunks.map(({ type }) => type).slice(0, 2)).toStrictEqual(['begin', 'end']);
		expect(error).toMatchObject({ httpCode: '503' });
	});

	test('nothing is shown with Streaming off', async () => {
		const parameters = { streaming: 'off' };
		const { chunks, outputs } = await chat({ streaming: true, parameters });
		expect(chunks).toStrictEqual([]);
		expect(outputs[0]![0]!.json['output']).toBe('Hello');
	});
});

describe('input', () => {
	test('a prompt with a system message and images', async () => {
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
		expect(sent().messages).toStrictEqual([
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
		const calls = ['a', 'b'].map((id) => ({
			id,
			type: 'function',
			function: { name: 'weather', arguments: '{}' },
		}));
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
						{ role: 'tool', content: '', toolCallId: 'b' },
						{ role: 'assistant', content: 'Sunny.' },
						{ role: 'user', content: 'Thanks' },
					],
				},
			},
		});
		expect(sent().messages).toStrictEqual([
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
			{ role: 'tool', content: '', tool_call_id: 'b' },
			{ role: 'assistant', content: 'Sunny.' },
			{ role: 'user', content: 'Thanks' },
		]);
	});

	test.each([
		['text', '[{"role":"user","content":"Hello"}]'],
		['an expression', '={{ [{ role: "user", content: "Hello" }] }}'],
	])('messages as JSON from %s', async (_name, messagesJson) => {
		await chat({ parameters: { input: 'json', messagesJson } });
		expect(sent().messages).toStrictEqual([{ role: 'user', content: 'Hello' }]);
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
		[{ input: 'json', messagesJson: '[{' }, 'Messages (JSON) is not valid JSON'],
		[
			{ input: 'messages', messages: { message: [{ role: 'system', content: 'x' }] } },
			'Messages: the last entry has the role system',
		],
		[
			{ images: { image: [{ source: 'url', url: 'data:image/png;base64,AA' }] } },
			'Images: entry 1 is a data: URL',
		],
		...['', '  ', '={{ $json.none }}'].map((prompt): [IDataObject, string] => [
			{ prompt },
			'Prompt is empty',
		]),
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
		[inForm({ content: ' ' }), 'Messages: entry 2 has no content'],
		[
			inForm({ role: 'assistant', toolCalls: '[5]' }),
			'Messages: entry 2 has tool_calls that are not a list of tool calls',
		],
		[
			inForm({ role: 'tool', content: 'x', toolCallId: 'a' }),
			'Messages: entry 2 is a tool result without a matching tool call',
		],
		[{ output: '={{ "all" }}' }, 'Output is all'],
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
		['text/html', true],
		['Image/PNG', false],
		// Of an unknown file.
		['application/octet-stream', false],
		['text/plain', false],
		['', false],
	])('a file of the type %j in Images is rejected: %s', async (mimeType, isRejected) => {
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
		const whole = { id: 'c-1', ...REPLY, session_id: null, own: { x: 1 } };
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
		const output = `={{ ${JSON.stringify(value)} }}`;
		const { outputs } = await chat({ parameters: { output } });
		expect(Object.hasOwn(outputs[0]![0]!.json, 'choices')).toBe(isRaw);
	});

	test('tokens are added to the token count of n8n', async () => {
		const { run } = await chat({ items: [{ chatInput: 'a' }, { chatInput: 'b' }] });
		expect(run.data.resultData.runData['Tested']![0]!.metadata).toMatchObject({
			tokenUsage: { inputTokens: 6, outputTokens: 2 },
		});
	});
});

describe('many items', () => {
	test('50 items, 3 of them failing: order and item linking hold, each failure stays on its own item', async () => {
		// The server answers once eight calls are open, or the last one has arrived.
		const failing = ['q7', 'q20', 'q49'];
		const open: (() => void)[] = [];
		let most = 0;
		script = (response, { body }, index) => {
			const { messages } = body as { messages: [{ content: string }] };
			const [{ content }] = messages;
			const message = { content: `re ${content}` };
			open.push(() => {
				if (failing.includes(content)) json(response, 409, { error: {} });
				else json(response, 200, { choices: [{ ...REPLY.choices[0], message }] });
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
		expect(outputs[0]!.map(({ pairedItem }) => pairedItem)).toStrictEqual(
			items.map((_, item) => ({ item })),
		);
		expect(outputs[0]!.map(({ json: { output, error } }) => output ?? error)).toStrictEqual(
			items.map(({ chatInput }) =>
				failing.includes(chatInput) ? FAILURE.moderated : `re ${chatInput}`,
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

test('without a valid Base URL nothing is sent', async () => {
	const { error } = await chat({ credential: { baseUrl: 'api.example.com', apiKey: SECRET } });
	const message = 'Base URL is not a valid URL';
	expect(error).toMatchObject({ name: 'NodeOperationError', message });
});

test('a wrong key: the error has a hint and the message of the service, but not the key', async () => {
	script = fails(401, 'invalid key');
	const { error, run } = await chat();
	const message = FAILURE.badKey;
	expect(error).toMatchObject({ name: 'NodeApiError', httpCode: '401', message });
	expect(error!.description).toBe(
		'The service said: "invalid key". Check the API Key in the Agent Video API credential, and that the Base URL is of the same service. Type: x.',
	);
	expect(JSON.stringify([run, error])).not.toContain(SECRET);
});
