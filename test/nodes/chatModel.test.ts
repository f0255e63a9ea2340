import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { chatModel } from '../../nodes/AgentVideoChatModel/execute';
import type { ChatMessage } from '../../nodes/client/chat/types';
import type {
	AiNodeSdk,
	SdkChatModel,
	SdkChunk,
	SdkMessage,
} from '../../nodes/shared/chat/aiNodeSdk';
import { readerOf } from '../../nodes/shared/run/run';
import { axiosHttp } from '../support/axiosHttp';
import { delta } from '../support/chatPieces';
import { bodyOf } from '../support/chatReplies';
import { runNode } from '../support/engine';
import { eventsOf, json, scripted, type Script } from '../support/scriptedServer';
import { subNodeRun } from '../support/strictContext';

const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
const SDK_USAGE = { promptTokens: 3, completionTokens: 1, totalTokens: 4 };
const called = (id: string, name: string, args = '{}') => ({
	id,
	type: 'function',
	function: { name, arguments: args },
});
const CALL = called('c1', 'a', '{ "n": 1 }');
const CALLS = [CALL, called('c2', 'b')];

let nodeContext: IDataObject;

const server = scripted();

beforeEach(() => {
	nodeContext = {};
});

function model(
	request: Record<string, unknown> = { model: 'chat-m1' },
	imageUrls: readonly string[] = [],
) {
	const sdk = { getParametersJsonSchema: ({ inputSchema }) => inputSchema } as AiNodeSdk;
	const service = { http: axiosHttp(server.url, 'key'), baseUrl: server.url };
	return chatModel(subNodeRun(nodeContext, service), {
		sdk,
		request,
		images: imageUrls,
		idleTimeoutMs: 5_000,
		limitMs: 60_000,
		retry: { retries: 0, retryOutcomeUnknown: false },
	});
}

const says = (text: string): SdkMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const HI = says('Hi');
const result = (toolCallId: string, value: unknown = 'ok'): SdkMessage => ({
	role: 'tool',
	content: [{ type: 'tool-result', toolCallId, result: value }],
});

/** Gives a reply in one piece, also where a stream is asked for. */
const replies =
	(message: object, finish_reason = 'stop'): Script =>
	(response) => {
		json(response, 200, bodyOf(message, { finish_reason }, { usage: USAGE }));
	};
const asks = (...calls: unknown[]) => ({ content: null, tool_calls: calls });
/** Gives these replies in turn; the last one is repeated. */
const inTurn = (...messages: object[]) => {
	server.script = (response, request, index) => {
		replies(messages[Math.min(index, messages.length - 1)]!)(response, request, index);
	};
};
const sent = (index = 0) =>
	server.requests[index]!.body as { readonly messages: readonly ChatMessage[] };

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
	server.script = replies({ content: 'Yes' });
	const url = 'https://example.com/a.png';
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
						{ type: 'file', providerMetadata: { url } },
					],
				},
				{
					role: 'assistant',
					content: [
						{ type: 'text', text: '' },
						{ type: 'tool-call', toolCallId: 'x', toolName: 'a', input: '{}' },
					],
				},
				result('x', { n: 1 }),
				{ role: 'assistant', content: [{ type: 'text', text: 'Done' }] },
				says('Good'),
			],
			{ stop: ['END'] },
		);
	const parameters = { type: 'object' };
	expect(sent()).toStrictEqual({
		app_code: 'app',
		temperature: 0.5,
		stop: ['END'],
		// Also what nobody sees before it is complete: some models only stream.
		stream: true,
		stream_options: { include_usage: true },
		tools: [
			{ type: 'function', function: { name: 'a', description: 'Does a', parameters } },
			{ type: 'function', function: { name: 'b', description: '' } },
		],
		messages: [
			{ role: 'system', content: 'Be brief' },
			{
				role: 'user',
				content: [
					{ type: 'text', text: 'Look' },
					{ type: 'image_url', image_url: { url } },
				],
			},
			{ role: 'assistant', content: null, tool_calls: [called('x', 'a')] },
			{ role: 'tool', tool_call_id: 'x', content: '{"n":1}' },
			{ role: 'assistant', content: 'Done' },
			{ role: 'user', content: 'Good' },
		],
	});
});

test('a user message without text is rejected; what says nothing else is left out, and an empty result is a text', async () => {
	await expect(model().generate([says('')])).rejects.toThrow('Messages: entry 1 has no content');
	expect(server.requests).toHaveLength(0);
	server.script = replies({ content: 'Yes' });
	const call = { type: 'tool-call', toolCallId: 'a', toolName: 'look', input: '{}' } as const;
	const empty = { type: 'tool-result', toolCallId: 'a', result: undefined } as const;
	await model().generate([
		{ role: 'system', content: [{ type: 'text', text: '' }] },
		{ role: 'assistant', content: [] },
		HI,
		{ role: 'assistant', content: [call] },
		{ role: 'tool', content: [empty] },
	]);
	expect(sent().messages).toMatchObject([
		{ role: 'user', content: 'Hi' },
		{ role: 'assistant' },
		{ role: 'tool', content: '' },
	]);
});

test('a reply has reasoning, text, calls, and usage', async () => {
	server.script = replies({ ...asks(...CALLS), reasoning_content: 'Hm' }, 'tool_calls');
	expect(await model().generate([HI])).toStrictEqual({
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
	server.script = replies({ content: 'Done', tool_calls: CALLS, tool_results }, 'stop');
	expect(await model().generate([HI])).toMatchObject({
		message: { content: [{ type: 'text', text: 'Done' }] },
		finishReason: 'stop',
	});
	expect(nodeContext).toStrictEqual({});
});

test('calls outside the letter of the specification are passed on, and sent back as they were passed', async () => {
	// The service takes no call without a name.
	const odd = [
		{ id: 7, function: { name: 'a', arguments: { n: 1 } } },
		{ id: 7, function: { name: 'b' } },
		{ function: { name: 'b', arguments: '' } },
		{ id: 'x', function: {} },
		null,
	];
	server.script = replies({ content: '', tool_calls: odd }, 'stop');
	const { message } = await model().generate([HI]);
	const passed = [
		['7', 'a', '{"n":1}'],
		['7_2', 'b', '{}'],
		['call_1_3', 'b', '{}'],
		['x', 'unnamed', '{}'],
	] as const;
	expect(message.content).toStrictEqual(
		passed.map(([toolCallId, toolName, input]) => ({
			type: 'tool-call',
			toolCallId,
			toolName,
			input,
		})),
	);
	const next = await model().generate([HI, message, ...passed.map(([id]) => result(id))]);
	expect(sent(1)).toMatchObject({
		messages: [
			{ role: 'user' },
			{
				role: 'assistant',
				content: null,
				tool_calls: passed.map(([id, name]) => ({ id, function: { name } })),
			},
			...passed.map(([id]) => ({ role: 'tool', tool_call_id: id })),
		],
	});
	expect(next.message.content[2]).toMatchObject({ toolCallId: 'call_2_3' });
});

test('a finish reason that nobody knows is other', async () => {
	server.script = replies({ content: 'All' }, 'COMPLETE');
	expect(await model().generate([HI])).toMatchObject({ finishReason: 'other' });
});

describe('calls that an agent cannot run', () => {
	const TOOLS = [{ type: 'function', name: 'a', inputSchema: { type: 'object' } }];

	test.each([
		['zz', '{}', 'Unknown tool "zz". Available tools: a'],
		['', '{}', 'Unknown tool "unnamed". Available tools: a'],
		['a', '{"n": ', 'The arguments are not a JSON object'],
		['a', '[1]', 'The arguments are not a JSON object'],
	])('%j with %j is answered to the model', async (name, args, error) => {
		inTurn(asks(called('w', name, args)), { content: 'Done' });
		const { message, usage } = await model().withTools(TOOLS).generate([HI]);
		expect(message.content).toStrictEqual([{ type: 'text', text: 'Done' }]);
		expect(usage).toMatchObject({ totalTokens: 8 });
		expect(sent(1)).toMatchObject({
			messages: [
				{ role: 'user' },
				{ role: 'assistant', tool_calls: [{ id: 'w' }] },
				{ role: 'tool', tool_call_id: 'w', content: JSON.stringify({ error }) },
			],
		});
	});

	test('beside others: only these are passed on, and each call gets its result', async () => {
		inTurn(asks(called('w', 'zz'), CALL), { content: 'Done' });
		const agent = model().withTools(TOOLS);
		const { message } = await agent.generate([HI]);
		expect(message.content).toMatchObject([{ type: 'tool-call', toolCallId: 'c1' }]);
		await agent.generate([HI, message, result('c1')]);
		const { messages } = sent(1);
		expect(messages[1]).toMatchObject({ tool_calls: [{ id: 'w' }, { id: 'c1' }] });
		expect(messages.slice(2).map(({ tool_call_id: id }) => id)).toStrictEqual(['w', 'c1']);
	});

	test('names that the service does not take are mapped to others, and back for the agent', async () => {
		const renamed = called('c1', 'calendar_read', '{ "n": 1 }');
		inTurn({ ...asks(renamed), reasoning_content: 'Hm' }, { content: 'Done' });
		const offered = ['calendar.read', 'calendar read'];
		const agent = model().withTools(offered.map((name) => ({ type: 'function', name })));
		const { message } = await agent.generate([HI]);
		expect(message.content.at(-1)).toMatchObject({ toolName: 'calendar.read' });
		const rebuilt: SdkMessage = { role: 'assistant', content: message.content.slice(-1) };
		await agent.generate([HI, rebuilt, result('c1')]);
		expect(sent(1)).toMatchObject({
			tools: ['calendar_read', 'calendar_read_2'].map((name) => ({ function: { name } })),
			messages: [
				{ role: 'user' },
				{ reasoning_content: 'Hm', tool_calls: [renamed] },
				{ role: 'tool', content: 'ok' },
			],
		});
	});

	test('a memory that cuts a round leaves neither a call nor a result alone', async () => {
		inTurn(asks(CALL, { ...CALL, id: 'c2' }), { content: 'Done' });
		const agent = model().withTools(TOOLS);
		const { message } = await agent.generate([HI]);
		const [, second] = message.content;
		const sentAfter = async (...messages: SdkMessage[]) => {
			await agent.generate([...messages, says('Ho')]);
			return sent(server.requests.length - 1).messages;
		};
		const ho = { role: 'user', content: 'Ho' };
		// Before the second call of a round.
		const rebuilt: SdkMessage = { role: 'assistant', content: [second!] };
		expect(await sentAfter(result('c1'), rebuilt, result('c2'))).toMatchObject([
			{ role: 'assistant', tool_calls: [{ id: 'c2' }] },
			{ tool_call_id: 'c2' },
			ho,
		]);
		// After its calls, and before their results.
		expect(await sentAfter(message)).toMatchObject([ho]);
		// Where it had text.
		const other: SdkMessage['content'] = [
			{ type: 'text', text: 'I look' },
			{ type: 'tool-call', toolCallId: 'c9', toolName: 'a', input: '{}' },
		];
		const said = await sentAfter({ role: 'assistant', content: other });
		expect(said).toMatchObject([{ role: 'assistant', content: 'I look' }, ho]);
		expect(said[0]).not.toHaveProperty('tool_calls');
	});

	test('an end is put to them', async () => {
		server.script = replies(asks(called('w', 'zz')));
		await expect(model().withTools(TOOLS).generate([HI])).rejects.toMatchObject({
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
	inTurn(asks(CALL), { content: 'Done' });
	const agent = model({ tool_choice: 'required' }).withTools(
		['a', name].map((each) => ({ type: 'function', name: each })),
	);
	const { message } = await agent.generate([HI]);
	await agent.generate([HI, message, result('c1')]);
	expect([sent(), sent(1)]).toMatchObject([{ tool_choice: 'required' }, expected]);
});

test.each([
	['any', 'required'],
	['none', 'none'],
])('LangChain asks for %s tool, which the service calls %s', async (tool_choice, choice) => {
	server.script = replies({ content: 'Done' });
	const agent = model({ tool_choice: 'auto' }).withTools([{ type: 'function', name: 'a' }]);
	await agent.generate([HI], { tool_choice });
	expect(sent()).toMatchObject({ tool_choice: choice });
});

test('a stream passes text on as it arrives, calls in one piece, and usage', async () => {
	let finish: () => void = () => undefined;
	server.script = (response) => {
		const send = (...chunk: Parameters<typeof delta>) => {
			response.write(eventsOf([delta(...chunk)]));
		};
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		send({ reasoning_content: 'Hm' });
		send({ content: 'First' });
		finish = () => {
			CALLS.forEach((call, index) => {
				send({ tool_calls: [{ index, ...call }] });
			});
			send({}, { finish_reason: 'tool_calls', usage: USAGE });
			response.end('data: [DONE]\n\n');
		};
	};
	const chunks = model().stream([HI])[Symbol.asyncIterator]();
	expect((await chunks.next()).value).toStrictEqual({ type: 'text-delta', delta: 'First' });
	finish();
	expect(await collect({ [Symbol.asyncIterator]: () => chunks })).toStrictEqual([
		{ type: 'content', content: { type: 'reasoning', text: 'Hm' } },
		{ type: 'tool-call-delta', id: 'c1', name: 'a', argumentsDelta: '{ "n": 1 }' },
		{ type: 'tool-call-delta', id: 'c2', name: 'b', argumentsDelta: '{}' },
		{ type: 'finish', finishReason: 'tool-calls', usage: SDK_USAGE },
	]);
});

describe('ids that a model repeats are made unique', () => {
	test('in the next round', async () => {
		server.script = replies(asks(CALL), 'tool_calls');
		const messages = [HI];
		const ids: unknown[] = [];
		for (let round = 0; round < 3; round += 1) {
			const { message } = await model().generate(messages);
			const { toolCallId } = message.content[0] as { toolCallId: string };
			ids.push(toolCallId);
			messages.push(message, result(toolCallId));
		}
		expect(ids).toStrictEqual(['c1', 'c1_2', 'c1_3']);
		expect(sent(2)).toMatchObject({
			messages: [
				{ role: 'user' },
				...['c1', 'c1_2'].flatMap((id) => [{ tool_calls: [{ id }] }, { tool_call_id: id }]),
			],
		});
	});

	test('for another item', async () => {
		const ask = async (text: string, thought: string) => {
			server.script = replies({ ...asks(CALL), reasoning_content: thought }, 'tool_calls');
			const question = says(text);
			const { message } = await model().generate([question]);
			const call = message.content.find(({ type }) => type === 'tool-call');
			return [question, message, result((call as { toolCallId: string }).toolCallId)];
		};
		const first = await ask('Hi', 'Of the first');
		await ask('Ho', 'Of the second');
		await model().generate(first);
		expect(sent(2)).toMatchObject({
			messages: [{ content: 'Hi' }, { reasoning_content: 'Of the first' }, { role: 'tool' }],
		});
	});
});

describe('files', () => {
	type Part = SdkMessage['content'][number];
	const file = (fields: Partial<Part>): Part => ({ ...fields, type: 'file' });
	const ofUser = (...content: Part[]): SdkMessage => ({ role: 'user', content });
	const DOG = 'https://example.com/dog.png';
	const DATA = { url: 'data:image/png;base64,AAAA' };

	const NO_URL = 'under Images of the chat model';
	const NO_IMAGE = 'Passthrough Binary PDFs';
	test.each<[string, Partial<Part>, string]>([
		['Image 2 (image/png) has no URL', { mediaType: 'image/png' }, NO_URL],
		['Image 2 (image/png) has no URL', { providerMetadata: DATA }, NO_URL],
		[
			'Image 2 (cat.png) has no URL',
			{ providerMetadata: { ...DATA, filename: 'cat.png' } },
			NO_URL,
		],
		['File 2 (a.pdf) cannot be sent', { providerMetadata: { filename: 'a.pdf' } }, NO_IMAGE],
		['File 2 (application/pdf) cannot be sent', { mediaType: 'application/pdf' }, NO_IMAGE],
		['File 2 (of an unknown type) cannot be sent', {}, NO_IMAGE],
	])('%s, and nothing is: %j', async (message, fields, advice) => {
		const known = file({ providerMetadata: { url: DOG } });
		await expect(model().generate([ofUser(known, file(fields))])).rejects.toMatchObject({
			message,
			description: expect.stringContaining(advice) as string,
		});
		expect(server.requests).toHaveLength(0);
	});

	test('the images of the form go with the last user message, and take the place of those that an agent passes on without a URL', async () => {
		server.script = replies({ content: 'A cat' });
		const url = 'https://n8n.example.com/cat.png';
		const passed = file({ providerMetadata: DATA });
		const question = { type: 'text', text: 'What is it?' } as const;
		const image = (address: string) => ({ type: 'image_url', image_url: { url: address } });
		const own = image(url);
		for (const [messages, expected] of [
			[
				[HI, says(question.text)],
				['Hi', [question, own]],
			],
			[[says(question.text), ofUser(passed)], [[question, own]]],
			[[ofUser(passed)], [[own]]],
			[
				[ofUser(question, file({ providerMetadata: { url: DOG } }))],
				[[question, image(DOG), own]],
			],
		] as const) {
			await model({}, [url]).generate(messages);
			const asked = sent(server.requests.length - 1).messages;
			expect(asked).toStrictEqual(expected.map((content) => ({ role: 'user', content })));
		}
	});

	test.each(['stop', 'tool_calls'])(
		'among the parts of a reply become links in its text, with the finish reason %s',
		async (reason) => {
			const image = (url: string) => ({ type: 'image_url', image_url: { url } });
			const content = [
				{ type: 'text', text: 'A lake' },
				image('https://cdn.example/77'),
				{ type: 'video_url', video_url: { url: 'https://cdn.example/clip' } },
				image(DATA.url),
				image('DATA:image/png;base64,AAAA'),
			];
			const calls = reason === 'stop' ? {} : { tool_calls: CALLS };
			server.script = replies({ content, ...calls }, reason);
			const shown =
				'A lake\n\n![image](https://cdn.example/77)\n\n[video](https://cdn.example/clip)';
			const { message } = await model().generate([HI]);
			expect(message.content[0]).toStrictEqual({ type: 'text', text: shown });
			const chunks = await collect(model().stream([HI]));
			const text = chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : ''));
			expect(text.join('')).toBe(shown);
		},
	);

	test('a reply of a thought and a file without a URL says where the file is', async () => {
		const picture = { type: 'image_url', image_url: DATA };
		server.script = replies({
			content: [{ type: 'text', text: '<think>Hm</think>' }, picture],
		});
		const { message } = await model().generate([HI]);
		const text = expect.stringContaining('The reply is a file without a link') as string;
		expect(message.content).toStrictEqual([{ type: 'text', text }]);
	});
});

/** What n8n's SDK makes of a model: its log counts tokens, and with tools it makes another one. */
class Adapter {
	readonly callbacks: { estimateTokensFromStringList: typeof tokenizer }[] = [
		{ estimateTokensFromStringList: tokenizer },
	];
	constructor(readonly chatModel: SdkChatModel) {}
	async generate(...args: Parameters<SdkChatModel['generate']>) {
		return await this.chatModel.generate(...args);
	}
	async getNumTokens(content: string | readonly object[]) {
		return await tokenizer([JSON.stringify(content)]);
	}
	_streamResponseChunks = jest.fn();
	bindTools(): Adapter {
		return new Adapter(this.chatModel.withTools([]));
	}
}
const tokenizer = jest.fn((texts: string[]) => Promise.resolve(texts.length));
const supplied: Adapter[] = [];

jest.mock('@n8n/ai-node-sdk', () => ({
	supplyModel: (_context: unknown, made: SdkChatModel) => {
		const adapter = new Adapter(made);
		supplied.push(adapter);
		return { response: adapter };
	},
}));

/** Calls the model through a chain, once for each item. */
async function callThrough(parameters: IDataObject, items: IDataObject[]) {
	const credential = { baseUrl: server.url, apiKey: 'k' };
	return await runNode('agentVideoChatModel', { credential, parameters, items });
}

const url = 'http://127.0.0.1/a.png';
const OF_ITEM = { url: '={{ $json.url }}' };
// n8n asks for them once for all items.
test.each<[what: string, image: IDataObject, items: IDataObject[], isSent: boolean]>([
	['of a fixed URL go with every item', { url }, [{}, {}], true],
	['of an expression go with a single item', OF_ITEM, [{ url }], true],
	['of an expression are rejected where there are several items', OF_ITEM, [{ url }, {}], false],
	['in binary data as well', { source: 'binary', binaryProperty: 'data' }, [{}, {}], false],
])('images %s', async (_what, image, items, isSent) => {
	server.script = replies({ content: 'A cat' });
	const { error } = await callThrough({ images: { image: [image] } }, items);
	if (isSent) expect(error).toBeUndefined();
	else expect(error?.description).toContain('Images would be those of the first item');
	expect(server.requests).toHaveLength(isSent ? items.length : 0);
	expect(JSON.stringify(server.requests).includes(url)).toBe(isSent);
});

test("n8n's log, memories and chains estimate tokens by length, also with tools: one tokenizer is quadratic, the other is downloaded", async () => {
	server.script = replies({ content: 'Hello' });
	const { status } = await callThrough({}, [{}]);
	expect(status).toBe('success');

	const adapter = supplied.at(-1)!;
	for (const each of [adapter, adapter.bindTools(), adapter.bindTools().bindTools()]) {
		const [log] = each.callbacks;
		expect(await log!.estimateTokensFromStringList(['![![', 'abcdefgh'])).toBe(3);
		// Max Tokens To Read From Memory, and the Summarization Chain.
		expect(await each.getNumTokens('abcdefgh')).toBe(2);
		expect(await each.getNumTokens('一只猫')).toBe(3);
		const parts = [
			{ type: 'text', text: 'abcd' },
			{ type: 'image_url', image_url: 'data:' },
		];
		expect(await each.getNumTokens(parts)).toBe(1);
	}
	expect(tokenizer).not.toHaveBeenCalled();
});
