import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { AiNodeSdk, SdkChunk, SdkMessage } from '../../nodes/shared/chat/aiNodeSdk';
import { chatModel } from '../../nodes/AgentVideoChatModel/execute';
import type { ChatMessage } from '../../nodes/client/chat/types';
import { readerOf } from '../../nodes/shared/run/run';
import { axiosHttp } from '../support/axiosHttp';
import { events, json, serverForEach, type Script } from '../support/scriptedServer';
import { subNodeRun } from '../support/strictContext';

const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
const SDK_USAGE = { promptTokens: 3, completionTokens: 1, totalTokens: 4 };
const CALLS = [
	{ id: 'c1', type: 'function', function: { name: 'a', arguments: '{ "n": 1 }' } },
	{ id: 'c2', type: 'function', function: { name: 'b', arguments: '{}' } },
];

let script: Script;
let nodeContext: IDataObject;

const server = serverForEach((...args) => {
	script(...args);
});

beforeEach(() => {
	nodeContext = {};
});

function model(
	request: Record<string, unknown> = { model: 'chat-m1' },
	imageUrls: readonly string[] = [],
) {
	const sdk = { getParametersJsonSchema: ({ inputSchema }) => inputSchema } as AiNodeSdk;
	const http = axiosHttp(server.url, 'key');
	return chatModel(subNodeRun(nodeContext), {
		sdk,
		http,
		baseUrl: server.url,
		request,
		images: imageUrls,
		idleTimeoutMs: 5_000,
		limitMs: 60_000,
		retry: { retries: 0, retryOutcomeUnknown: false },
	});
}

const says = (text: string): SdkMessage => ({ role: 'user', content: [{ type: 'text', text }] });

const replies =
	(message: object, finish_reason = 'stop'): Script =>
	(response) => {
		json(response, 200, { choices: [{ index: 0, message, finish_reason }], usage: USAGE });
	};

async function collect(chunks: AsyncIterable<SdkChunk>): Promise<SdkChunk[]> {
	const all: SdkChunk[] = [];
	for await (const chunk of chunks) all.push(chunk);
	return all;
}

test('a sub-node of n8n 2.20, whose context does not tell whether a response is streamed, works', () => {
	const ofOldN8n = {
		getNode: () => ({ name: 'Model', type: 'agentVideoChatModel' }),
		getChildNodes: () => [],
		getMode: () => 'manual',
	};
	expect(readerOf(ofOldN8n as unknown as IExecuteFunctions).reader).toBe('owner');
});

test('every kind of message is sent in the form of the service', async () => {
	script = replies({ content: 'Yes' });
	await model({ app_code: 'app', temperature: 0.5 })
		.withTools([
			{ type: 'function', name: 'a', description: 'Does a', inputSchema: { type: 'object' } },
			{ type: 'function', name: 'b' },
		])
		.generate(
			[
				{ role: 'system', content: [{ type: 'text', text: 'Be brief' }] },
				{
					role: 'user',
					content: [
						{ type: 'text', text: 'Look' },
						{ type: 'file', providerMetadata: { url: 'https://example.com/a.png' } },
					],
				},
				{
					role: 'assistant',
					content: [
						{ type: 'text', text: '' },
						{ type: 'tool-call', toolCallId: 'x', toolName: 'a', input: '{}' },
					],
				},
				{
					role: 'tool',
					content: [{ type: 'tool-result', toolCallId: 'x', result: { n: 1 } }],
				},
				{ role: 'assistant', content: [{ type: 'text', text: 'Done' }] },
				says('Good'),
			],
			{ stop: ['END'] },
		);
	expect(server.requests[0]!.body).toStrictEqual({
		app_code: 'app',
		temperature: 0.5,
		stop: ['END'],
		// Also what nobody sees before it is complete: some models only stream.
		stream: true,
		stream_options: { include_usage: true },
		tools: [
			{
				type: 'function',
				function: { name: 'a', description: 'Does a', parameters: { type: 'object' } },
			},
			{ type: 'function', function: { name: 'b', description: '' } },
		],
		messages: [
			{ role: 'system', content: 'Be brief' },
			{
				role: 'user',
				content: [
					{ type: 'text', text: 'Look' },
					{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
				],
			},
			{
				role: 'assistant',
				content: null,
				tool_calls: [
					{ id: 'x', type: 'function', function: { name: 'a', arguments: '{}' } },
				],
			},
			{ role: 'tool', tool_call_id: 'x', content: '{"n":1}' },
			{ role: 'assistant', content: 'Done' },
			{ role: 'user', content: 'Good' },
		],
	});
});

test('a reply has reasoning, text, calls, and usage', async () => {
	script = replies({ content: null, reasoning_content: 'Hm', tool_calls: CALLS }, 'tool_calls');
	expect(await model().generate([says('Hi')])).toStrictEqual({
		message: {
			role: 'assistant',
			content: [
				{ type: 'reasoning', text: 'Hm' },
				{ type: 'tool-call', toolCallId: 'c1', toolName: 'a', input: '{ "n": 1 }' },
				{ type: 'tool-call', toolCallId: 'c2', toolName: 'b', input: '{}' },
			],
		},
		finishReason: 'tool-calls',
		usage: SDK_USAGE,
	});
});

test('calls that the service has run are not passed on', async () => {
	const tool_results = CALLS.map(({ id }) => ({ tool_call_id: id, content: 'ok' }));
	script = replies({ content: 'Done', tool_calls: CALLS, tool_results }, 'stop');
	expect(await model().generate([says('Hi')])).toMatchObject({
		message: { content: [{ type: 'text', text: 'Done' }] },
		finishReason: 'stop',
	});
	expect(nodeContext).toStrictEqual({});
});

test('calls outside the letter of the specification are passed on, and sent back as they were passed', async () => {
	const odd = [
		{ id: 7, function: { name: 'a', arguments: { n: 1 } } },
		{ id: 7, function: { name: 'b' } },
		{ function: { name: 'b', arguments: '' } },
		null,
	];
	script = replies({ content: '', tool_calls: odd }, 'stop');
	const { message } = await model().generate([says('Hi')]);
	const ids = ['7', '7_2', 'call_1_3'];
	expect(message.content).toStrictEqual([
		{ type: 'tool-call', toolCallId: ids[0], toolName: 'a', input: '{"n":1}' },
		{ type: 'tool-call', toolCallId: ids[1], toolName: 'b', input: '{}' },
		{ type: 'tool-call', toolCallId: ids[2], toolName: 'b', input: '{}' },
	]);
	const next = await model().generate([
		says('Hi'),
		message,
		...ids.map((toolCallId): SdkMessage => ({
			role: 'tool',
			content: [{ type: 'tool-result', toolCallId, result: 'ok' }],
		})),
	]);
	expect(server.requests[1]!.body).toMatchObject({
		messages: [
			{ role: 'user' },
			{ role: 'assistant', content: null, tool_calls: ids.map((id) => ({ id })) },
			...ids.map((id) => ({ role: 'tool', tool_call_id: id })),
		],
	});
	expect(next.message.content.at(-1)).toMatchObject({ toolCallId: 'call_2_3' });
});

test('a call without a name reaches the agent with one, and is sent back with it: the service takes no other', async () => {
	script = replies({ content: null, tool_calls: [{ id: 'x', function: {} }] }, 'tool_calls');
	const { message } = await model().generate([says('Hi')]);
	expect(message.content).toMatchObject([{ toolCallId: 'x', toolName: 'unnamed' }]);
	const result = { type: 'tool-result', toolCallId: 'x', result: 'No such tool' } as const;
	await model().generate([says('Hi'), message, { role: 'tool', content: [result] }]);
	expect(server.requests[1]!.body).toMatchObject({
		messages: [{}, { tool_calls: [{ id: 'x', function: { name: 'unnamed' } }] }, {}],
	});
});

test('a finish reason that nobody knows is other', async () => {
	script = replies({ content: 'All' }, 'COMPLETE');
	expect(await model().generate([says('Hi')])).toMatchObject({ finishReason: 'other' });
});

test.each([
	['stop', { content: '' }],
	['content_filter', { content: null }],
	['stop', { content: ' ', reasoning_content: 'Hm' }],
])(
	'a reply that is neither an answer nor a call to run is an error: %s, %j',
	async (reason, message) => {
		script = replies(message, reason);
		await expect(model().generate([says('Hi')])).rejects.toMatchObject({
			message: 'The model replied with neither an answer nor a tool call',
			description: expect.stringContaining(`finish reason ${reason}`) as string,
		});
		expect(server.requests).toHaveLength(1);
	},
);

describe('calls that an agent cannot run', () => {
	const TOOLS = [{ type: 'function', name: 'a', inputSchema: { type: 'object' } }];
	const asks = (...calls: object[]) => ({ content: null, tool_calls: calls });
	const wrong = (name: string, args: string) => ({
		id: 'w',
		type: 'function',
		function: { name, arguments: args },
	});
	const inTurn = (...messages: object[]) => {
		script = (response, request, index) => {
			replies(messages[Math.min(index, messages.length - 1)]!)(response, request, index);
		};
	};

	test.each([
		['zz', '{}', 'Unknown tool "zz". Available tools: a'],
		['', '{}', 'Unknown tool "unnamed". Available tools: a'],
		['a', '{"n": ', 'The arguments are not a JSON object'],
		['a', '[1]', 'The arguments are not a JSON object'],
	])('%j with %j is answered to the model', async (name, args, error) => {
		inTurn(asks(wrong(name, args)), { content: 'Done' });
		const { message, usage } = await model()
			.withTools(TOOLS)
			.generate([says('Hi')]);
		expect(message.content).toStrictEqual([{ type: 'text', text: 'Done' }]);
		expect(usage).toMatchObject({ totalTokens: 8 });
		expect(server.requests[1]!.body).toMatchObject({
			messages: [
				{ role: 'user' },
				{ role: 'assistant', tool_calls: [{ id: 'w' }] },
				{ role: 'tool', tool_call_id: 'w', content: JSON.stringify({ error }) },
			],
		});
	});

	test('beside others: only these are passed on, and each call gets its result', async () => {
		inTurn(asks(wrong('zz', '{}'), CALLS[0]!), { content: 'Done' });
		const agent = model().withTools(TOOLS);
		const { message } = await agent.generate([says('Hi')]);
		expect(message.content).toMatchObject([{ type: 'tool-call', toolCallId: 'c1' }]);
		const result = { type: 'tool-result', toolCallId: 'c1', result: 'ok' } as const;
		await agent.generate([says('Hi'), message, { role: 'tool', content: [result] }]);
		const { messages } = server.requests[1]!.body as { messages: { tool_call_id?: string }[] };
		expect(messages[1]).toMatchObject({ tool_calls: [{ id: 'w' }, { id: 'c1' }] });
		expect(messages.slice(2).map(({ tool_call_id: id }) => id)).toStrictEqual(['w', 'c1']);
	});

	test('names that the service does not take are mapped to others, and back for the agent', async () => {
		const called = {
			...CALLS[0]!,
			function: { name: 'calendar_read', arguments: '{ "n": 1 }' },
		};
		inTurn({ ...asks(called), reasoning_content: 'Hm' }, { content: 'Done' });
		const offered = ['calendar.read', 'calendar read'];
		const agent = model().withTools(offered.map((name) => ({ type: 'function', name })));
		const { message } = await agent.generate([says('Hi')]);
		expect(message.content.at(-1)).toMatchObject({ toolName: 'calendar.read' });
		const rebuilt: SdkMessage = { role: 'assistant', content: message.content.slice(-1) };
		const result = { type: 'tool-result', toolCallId: 'c1', result: 'ok' } as const;
		await agent.generate([says('Hi'), rebuilt, { role: 'tool', content: [result] }]);
		const sent = ['calendar_read', 'calendar_read_2'].map((name) => ({ function: { name } }));
		expect(server.requests[1]!.body).toMatchObject({
			tools: sent,
			messages: [
				{ role: 'user' },
				{ reasoning_content: 'Hm', tool_calls: [called] },
				{ role: 'tool', content: 'ok' },
			],
		});
	});

	test('a memory that cuts a round leaves neither a call nor a result alone', async () => {
		inTurn(asks(CALLS[0]!, { ...CALLS[0]!, id: 'c2' }), { content: 'Done' });
		const agent = model().withTools(TOOLS);
		const { message } = await agent.generate([says('Hi')]);
		const [, second] = message.content;
		const result = (toolCallId: string): SdkMessage => ({
			role: 'tool',
			content: [{ type: 'tool-result', toolCallId, result: 'ok' }],
		});
		const sent = async (...messages: SdkMessage[]) => {
			await agent.generate([...messages, says('Ho')]);
			return (server.requests.at(-1)!.body as { messages: ChatMessage[] }).messages;
		};
		const c2 = { role: 'assistant', tool_calls: [{ id: 'c2' }] };
		const ho = { role: 'user', content: 'Ho' };
		const rebuilt: SdkMessage = { role: 'assistant', content: [second!] };
		// Before the second call of a round.
		expect(await sent(result('c1'), rebuilt, result('c2'))).toMatchObject([
			c2,
			{ tool_call_id: 'c2' },
			ho,
		]);
		// After its calls, and before their results.
		expect(await sent(message)).toMatchObject([ho]);
		// Where it had text.
		const other: SdkMessage['content'] = [
			{ type: 'text', text: 'I look' },
			{ type: 'tool-call', toolCallId: 'c9', toolName: 'a', input: '{}' },
		];
		const said = await sent({ role: 'assistant', content: other });
		expect(said).toMatchObject([{ role: 'assistant', content: 'I look' }, ho]);
		expect(said[0]).not.toHaveProperty('tool_calls');
	});

	test('an end is put to them', async () => {
		script = replies(asks(wrong('zz', '{}')));
		await expect(
			model()
				.withTools(TOOLS)
				.generate([says('Hi')]),
		).rejects.toMatchObject({
			message: 'The model made an invalid call to the tool zz',
		});
		expect(server.requests).toHaveLength(4);
	});
});

test.each([
	['a', { tool_choice: 'auto' }],
	// n8n's tool for the answer of an agent with an output parser.
	['format_final_json_response', { tool_choice: 'required' }],
])('with %s, a required tool is followed by %j', async (name, expected) => {
	const asking = { content: null, tool_calls: CALLS.slice(0, 1) };
	script = (...args) => {
		const isFirst = server.requests.length === 1;
		replies(isFirst ? asking : { content: 'Done' }, isFirst ? 'tool_calls' : 'stop')(...args);
	};
	const agent = model({ tool_choice: 'required' }).withTools(
		['a', name].map((each) => ({ type: 'function', name: each })),
	);
	const { message } = await agent.generate([says('Hi')]);
	const result = { type: 'tool-result', toolCallId: 'c1', result: 'ok' } as const;
	await agent.generate([says('Hi'), message, { role: 'tool', content: [result] }]);
	expect(server.requests.map(({ body }) => body)).toMatchObject([
		{ tool_choice: 'required' },
		expected,
	]);
});

test.each([
	['any', 'required'],
	['none', 'none'],
])('LangChain asks for %s tool, which the service calls %s', async (tool_choice, sent) => {
	script = replies({ content: 'Done' });
	const agent = model({ tool_choice: 'auto' }).withTools([{ type: 'function', name: 'a' }]);
	await agent.generate([says('Hi')], { tool_choice });
	expect(server.requests[0]!.body).toMatchObject({ tool_choice: sent });
});

test('a stream passes text on as it arrives, calls in one piece, and usage', async () => {
	let finish: () => void = () => undefined;
	script = (response) => {
		const send = (delta: object, more: object = {}) => {
			const chunk = { choices: [{ index: 0, delta, ...more }] };
			response.write(`data: ${JSON.stringify(chunk)}\n\n`);
		};
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		send({ reasoning_content: 'Hm' });
		send({ content: 'First' });
		finish = () => {
			send({ tool_calls: [{ index: 0, ...CALLS[0] }] });
			send({ tool_calls: [{ index: 1, ...CALLS[1] }] });
			send({}, { finish_reason: 'tool_calls', usage: USAGE });
			response.end('data: [DONE]\n\n');
		};
	};
	const chunks = model()
		.stream([says('Hi')])
		[Symbol.asyncIterator]();
	expect((await chunks.next()).value).toStrictEqual({ type: 'text-delta', delta: 'First' });
	finish();
	expect(await collect({ [Symbol.asyncIterator]: () => chunks })).toStrictEqual([
		{ type: 'content', content: { type: 'reasoning', text: 'Hm' } },
		{ type: 'tool-call-delta', id: 'c1', name: 'a', argumentsDelta: '{ "n": 1 }' },
		{ type: 'tool-call-delta', id: 'c2', name: 'b', argumentsDelta: '{}' },
		{ type: 'finish', finishReason: 'tool-calls', usage: SDK_USAGE },
	]);
});

test('a stream that breaks passes on the text that had arrived, then fails with a clear error', async () => {
	script = (response) => {
		events(response, [{ choices: [{ index: 0, delta: { content: 'Half' } }] }]);
	};
	const chunks = model()
		.stream([says('Hi')])
		[Symbol.asyncIterator]();
	expect((await chunks.next()).value).toStrictEqual({ type: 'text-delta', delta: 'Half' });
	await expect(chunks.next()).rejects.toMatchObject({
		message: 'The stream ended before the reply was complete',
	});
});

const DATA = { url: 'data:image/png;base64,AAAA' };
test.each<[string, Partial<SdkMessage['content'][number]>]>([
	['image/png', { mediaType: 'image/png' }],
	['image/png', { providerMetadata: DATA }],
	['cat.png', { providerMetadata: { ...DATA, filename: 'cat.png' } }],
])('an image without a URL, %s, is rejected with its name', async (name, fields) => {
	const known = { type: 'file', providerMetadata: { url: 'https://example.com/dog.png' } };
	const content = [known, { type: 'file', ...fields }] as SdkMessage['content'];
	await expect(model().generate([{ role: 'user', content }])).rejects.toMatchObject({
		message: `Image 2 (${name}) has no URL`,
		description: expect.stringContaining('under Images of the chat model') as string,
	});
	expect(server.requests).toHaveLength(0);
});

test.each([
	['attachment.pdf', { providerMetadata: { filename: 'attachment.pdf' } }],
	['application/pdf', { mediaType: 'application/pdf' }],
	['of an unknown type', {}],
])('a file that is no image, %s, is rejected as such', async (name, fields) => {
	const content: SdkMessage['content'] = [{ type: 'file', ...fields }];
	await expect(model().generate([{ role: 'user', content }])).rejects.toMatchObject({
		message: `File 1 (${name}) cannot be sent`,
		description: expect.stringContaining('Passthrough Binary PDFs') as string,
	});
	expect(server.requests).toHaveLength(0);
});

test('the images of the form take the place of those that an agent passes on without a URL', async () => {
	script = replies({ content: 'A cat' });
	const passed: SdkMessage = {
		role: 'user',
		content: [{ type: 'file', providerMetadata: DATA }],
	};
	const url = 'https://n8n.example.com/cat.png';
	await model({}, [url]).generate([says('What is it?'), passed]);
	await model({}, [url]).generate([passed]);
	const image = { type: 'image_url', image_url: { url } };
	expect(
		server.requests.map(({ body }) => (body as { messages: unknown }).messages),
	).toStrictEqual([
		[{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }],
		[{ role: 'user', content: [image] }],
	]);
});

test('ids that a model repeats in the next round are made unique', async () => {
	script = replies({ content: null, tool_calls: CALLS.slice(0, 1) }, 'tool_calls');
	const messages = [says('Hi')];
	const ids: unknown[] = [];
	for (let round = 0; round < 3; round += 1) {
		const { message } = await model().generate(messages);
		const { toolCallId } = message.content[0] as { toolCallId: string };
		ids.push(toolCallId);
		const result = { type: 'tool-result', toolCallId, result: 'ok' } as const;
		messages.push(message, { role: 'tool', content: [result] });
	}
	expect(ids).toStrictEqual(['c1', 'c1_2', 'c1_3']);
	expect(server.requests[2]!.body).toMatchObject({
		messages: [
			{ role: 'user' },
			{ tool_calls: [{ id: 'c1' }] },
			{ tool_call_id: 'c1' },
			{ tool_calls: [{ id: 'c1_2' }] },
			{ tool_call_id: 'c1_2' },
		],
	});
});

test('ids that a model repeats for another item are made unique', async () => {
	const ask = async (text: string, thought: string) => {
		const reply = { content: null, reasoning_content: thought, tool_calls: CALLS.slice(0, 1) };
		script = replies(reply, 'tool_calls');
		const question = says(text);
		const { message } = await model().generate([question]);
		const call = message.content.find(({ type }) => type === 'tool-call');
		const { toolCallId } = call as { toolCallId: string };
		const result = { type: 'tool-result', toolCallId, result: 'ok' } as const;
		return [question, message, { role: 'tool' as const, content: [result] }];
	};
	const first = await ask('Hi', 'Of the first');
	await ask('Ho', 'Of the second');
	await model().generate(first);
	expect(server.requests[2]!.body).toMatchObject({
		messages: [{ content: 'Hi' }, { reasoning_content: 'Of the first' }, { role: 'tool' }],
	});
});

test('images are attached to the last user message, in every round', async () => {
	script = replies({ content: 'A cat' });
	const url = 'https://n8n.example.com/cat.png';
	const own: SdkMessage = {
		role: 'user',
		content: [
			{ type: 'text', text: 'What is it?' },
			{ type: 'file', providerMetadata: { url: 'https://example.com/dog.png' } },
		],
	};
	await model({}, [url]).generate([says('Hi'), says('What is it?')]);
	await model({}, [url]).generate([own]);
	const image = (address: string) => ({ type: 'image_url', image_url: { url: address } });
	const text = { type: 'text', text: 'What is it?' };
	expect(
		server.requests.map(({ body }) => (body as { messages: unknown }).messages),
	).toStrictEqual([
		[
			{ role: 'user', content: 'Hi' },
			{ role: 'user', content: [text, image(url)] },
		],
		[{ role: 'user', content: [text, image('https://example.com/dog.png'), image(url)] }],
	]);
});

test.each(['stop', 'tool_calls'])(
	'files among the parts of a reply become links in its text, with the finish reason %s',
	async (reason) => {
		const content = [
			{ type: 'text', text: 'A lake' },
			{ type: 'image_url', image_url: { url: 'https://cdn.example/77' } },
			{ type: 'video_url', video_url: { url: 'https://cdn.example/clip' } },
			{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
			{ type: 'image_url', image_url: { url: 'DATA:image/png;base64,AAAA' } },
		];
		const calls = reason === 'stop' ? {} : { tool_calls: CALLS };
		script = replies({ content, ...calls }, reason);
		const shown =
			'A lake\n\n![image](https://cdn.example/77)\n\n[video](https://cdn.example/clip)';
		const { message } = await model().generate([says('Hi')]);
		expect(message.content[0]).toStrictEqual({ type: 'text', text: shown });
		const chunks = await collect(model().stream([says('Hi')]));
		const text = chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : ''));
		expect(text.join('')).toBe(shown);
	},
);

test('a reply of a thought and a file without a URL says where the file is', async () => {
	const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
	script = replies({ content: [{ type: 'text', text: '<think>Hm</think>' }, picture] });
	const { message } = await model().generate([says('Hi')]);
	const text = expect.stringContaining('The reply is a file without a link') as string;
	expect(message.content).toStrictEqual([{ type: 'text', text }]);
});
