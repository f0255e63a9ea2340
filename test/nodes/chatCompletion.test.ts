import type { IBinaryData, IDataObject } from 'n8n-workflow';

import { delta, inPieces } from '../support/chatPieces';
import { fails, bodyOf, STOP } from '../support/chatReplies';
import { canceler, runNode, type RunOptions } from '../support/engine';
import { FAILURE } from '../support/failureTexts';
import { withFakeTimers } from '../support/fakeTimers';
import { events, eventsOf, json, scripted, type Script } from '../support/scriptedServer';

const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
const REPLY = bodyOf({ content: 'Hello' }, STOP, { usage: USAGE });

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
const server = scripted(reply);

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
	server.script = (response) => {
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
		server.script = (response) => {
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
		server.script = (response) => {
			response.writeHead(200, { 'content-type': 'text/event-stream' });
			const chunks = pieces.map((content) => eventsOf([delta({ content })]));
			inPieces(response, [...chunks, eventsOf(CHUNKS.slice(-2))]);
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

	test('a failure is sent to the chat where it does not stop the node; its end always', async () => {
		server.script = fails(503, 'down');
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
});

describe('input', () => {
	const A = 'http://127.0.0.1/a.png';
	const B = 'https://example.com/b.png';
	const images = (...urls: string[]) => ({ image: urls.map((url) => ({ source: 'url', url })) });
	const parts = (text: string, ...urls: string[]) => [
		{ type: 'text', text },
		...urls.map((url) => ({ type: 'image_url', image_url: { url } })),
	];
	const SYSTEM = { role: 'system', content: 'Be brief' };
	const calls = ['a', 'b'].map((id) => ({
		id,
		type: 'function',
		function: { name: 'weather', arguments: '{}' },
	}));

	test.each<[string, IDataObject, object[]]>([
		[
			'a prompt with a system message and images',
			{
				prompt: 'And this?',
				systemMessage: 'Be brief',
				images: images('={{ $json.pictures }}', ` ${A} `),
			},
			[SYSTEM, { role: 'user', content: parts('And this?', A, B, A) }],
		],
		[
			'a list with every role',
			{
				input: 'messages',
				messages: {
					message: [
						SYSTEM,
						{ role: 'user', content: '={{ $json.chatInput }}', images: images(A) },
						{ role: 'assistant', content: '', toolCalls: JSON.stringify(calls) },
						{ role: 'tool', content: 'sunny', toolCallId: 'a' },
						{ role: 'tool', content: '', toolCallId: 'b' },
						{ role: 'assistant', content: 'Sunny.' },
						{ role: 'user', content: 'Thanks' },
					],
				},
			},
			[
				SYSTEM,
				{ role: 'user', content: parts('Hi', A) },
				{ role: 'assistant', content: null, tool_calls: calls },
				{ role: 'tool', content: 'sunny', tool_call_id: 'a' },
				{ role: 'tool', content: '', tool_call_id: 'b' },
				{ role: 'assistant', content: 'Sunny.' },
				{ role: 'user', content: 'Thanks' },
			],
		],
		...['[{"role":"user","content":"Ho"}]', '={{ [{ role: "user", content: "Ho" }] }}'].map(
			(messagesJson): [string, IDataObject, object[]] => [
				`JSON: ${messagesJson}`,
				{ input: 'json', messagesJson },
				[{ role: 'user', content: 'Ho' }],
			],
		),
	])('messages from %s', async (_what, parameters, messages) => {
		await chat({ parameters, items: [{ chatInput: 'Hi', pictures: [A, B] }] });
		expect(sent().messages).toStrictEqual(messages);
	});

	/** An entry of Messages, behind another one. */
	const inForm = (entry: IDataObject): IDataObject => ({
		input: 'messages',
		messages: {
			message: [{ content: 'Hi' }, entry].map((each) => ({ role: 'user', ...each })),
		},
	});
	const asked = (prompt: string) => ({ prompt });
	const data = images('data:image/png;base64,AA');

	test.each<[IDataObject, string]>([
		[{ input: 'messages', messages: {} }, 'Messages is empty'],
		[{ input: 'json', messagesJson: '[{' }, 'Messages (JSON) is not valid JSON'],
		[{ images: data }, 'Images: entry 1 is a data: URL'],
		[asked(''), 'Prompt is empty'],
		[asked('  '), 'Prompt is empty'],
		[asked('={{ $json.none }}'), 'Prompt is empty'],
		[asked('={{ [] }}'), 'Prompt is []'],
		[asked('={{ [$json.nothing, {}] }}'), 'Prompt is [null,{}]'],
		[asked('={{ $json.nothing * 2 }}'), 'Prompt is NaN'],
		[{ systemMessage: '={{ ({ tone: $json.nothing }) }}' }, 'System Message is {}'],
		[inForm({ role: 'system', content: 'x' }), 'Messages: the last entry has the role system'],
		[inForm({ content: '={{ [] }}' }), 'Messages: entry 2 is []'],
		[inForm({ content: ' ' }), 'Messages: entry 2 has no content'],
		[inForm({ images: data }), 'Messages: entry 2, Images: entry 1 is a data: URL'],
		[
			inForm({ role: 'assistant', toolCalls: '[{' }),
			'Messages: entry 2, Tool Calls is not valid JSON',
		],
		[{ output: '={{ "all" }}' }, 'Output is all'],
	])('%j is rejected before any request: %s', async (parameters, message) => {
		const { error } = await chat({ parameters });
		expect(error).toMatchObject({ name: 'NodeOperationError', message });
		expect(server.requests).toHaveLength(0);
	});

	const PRIVATE = 'http://10.0.0.1/a.png';
	const IN_JSON = [
		{ role: 'user', content: [{ type: 'image_url', image_url: { url: PRIVATE } }] },
	];
	test.each<[string, IDataObject]>([
		['Images: entry 1', { images: images(PRIVATE) }],
		[
			'Messages (JSON): entry 1, image',
			{ input: 'json', messagesJson: JSON.stringify(IN_JSON) },
		],
	])(
		'a private image is rejected when the service is on the internet: %s',
		async (field, parameters) => {
			const credential = { baseUrl: 'https://api.example.com', apiKey: SECRET };
			const { error } = await chat({ credential, parameters });
			expect(error).toMatchObject({
				message: `${field} points to a private network, which the service cannot reach`,
			});
			expect((await chat({ parameters })).error).toBeUndefined();
		},
	);

	const MEMORY = { data: 'AAAA', mimeType: 'image/png' };
	const stored = (mimeType: string) => ({ id: 'filesystem:a', mimeType, data: '' });
	const NOT_STORED = 'the item contains the file itself, as n8n has not stored it';

	test.each<[string, IBinaryData, string]>([
		['file', MEMORY, `cannot be published: ${NOT_STORED}`],
		['other', MEMORY, 'has the name other, but the item has no such binary field'],
		['file', stored('application/pdf'), 'names file, a file of the type application/pdf'],
		['file', stored('text/html'), 'names file, a file of the type text/html'],
		['file', stored('Image/PNG'), ''],
		// Of an unknown file.
		...['application/octet-stream', 'text/plain', ''].map(
			(type): [string, IBinaryData, string] => ['file', stored(type), ''],
		),
	])('the binary field %s as an image, of the file %j: "%s"', async (...row) => {
		const [binaryProperty, file, problem] = row;
		const { error } = await chat({
			parameters: { images: { image: [{ source: 'binary', binaryProperty }] } },
			binaries: [{ file }],
		});
		if (problem !== '') expect(error?.message).toBe(`Images: entry 1 ${problem}`);
		else expect(error).toBeUndefined();
		expect(server.requests).toHaveLength(problem === '' ? 1 : 0);
	});
});

describe('output', () => {
	test.each(['', {}])(
		'a raw output has no error, %j, for which n8n would pay again',
		async (error) => {
			const whole = { id: 'c-1', ...REPLY, session_id: null, own: { x: 1 } };
			server.script = (response) => {
				json(response, 200, { ...whole, error });
			};
			const parameters = { output: 'raw', streaming: 'off' };
			const { outputs } = await chat({ parameters, retryOnFail: true });
			expect(outputs[0]![0]!.json).toStrictEqual(whole);
			expect(server.requests).toHaveLength(1);
		},
	);

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
		// The server answers once eight calls are open, or the last one has arrived, the latest first.
		const failing = ['q7', 'q20', 'q49'];
		const open: (() => void)[] = [];
		let most = 0;
		server.script = (response, { body }, index) => {
			const { messages } = body as { messages: [{ content: string }] };
			const [{ content }] = messages;
			open.push(() => {
				if (failing.includes(content)) json(response, 409, { error: {} });
				else json(response, 200, bodyOf({ content: `re ${content}` }));
			});
			most = Math.max(most, open.length);
			if (open.length < 8 && index < 49) return;
			for (const answer of open.splice(0).reverse()) answer();
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
			server.script = (response) => {
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
		const { onStart, cancel } = canceler();
		let closed: Promise<unknown> = Promise.resolve();
		server.script = (response) => {
			closed = new Promise((resolve) => response.on('close', resolve));
			response.writeHead(200, { 'content-type': 'text/event-stream' });
			response.write(eventsOf(CHUNKS.slice(1, 2)), cancel);
		};
		const { status } = await chat({
			items: [{ chatInput: 'a' }, { chatInput: 'b' }, { chatInput: 'c' }],
			parameters: { options: { concurrency: 1 } },
			onError: 'continueRegularOutput',
			onStart,
		});
		await closed;
		expect(status).toBe('canceled');
		expect(server.requests).toHaveLength(1);
	});
});
