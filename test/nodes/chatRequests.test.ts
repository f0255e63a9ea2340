import type { IDataObject } from 'n8n-workflow';

import { chatModel } from '../../nodes/AgentVideoChatModel/execute';
import { FIRST_TOOL } from '../../nodes/shared/run/nodeContext';
import type { AiNodeSdk, SdkMessage } from '../../nodes/shared/chat/aiNodeSdk';
import { startService, type TestService } from '../emulator/support/service';
import { axiosHttp } from '../support/axiosHttp';
import {
	ACCEPTED_BODIES,
	REJECTED_MESSAGES,
	REJECTED_OPTIONS,
	REJECTED_TOOLS,
	type ChatBody,
} from '../support/chatBodies';
import {
	modelCallerNode,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type Wires,
} from '../support/engine';
import { events, json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { subNodeRun } from '../support/strictContext';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

const HI = [{ role: 'user', content: 'Hi' }];
const REPLY = { choices: [{ index: 0, message: { content: 'Hello' }, finish_reason: 'stop' }] };

let emulator: TestService;
let server: ScriptedServer;
beforeAll(async () => {
	emulator = await startService();
	server = await startScriptedServer((response, { body }) => {
		if ((body as ChatBody)['stream'] !== true) json(response, 200, REPLY);
		else {
			const [{ message, ...choice }] = REPLY.choices as [(typeof REPLY.choices)[0]];
			events(response, [{ choices: [{ ...choice, delta: message }] }, '[DONE]']);
		}
	});
});
beforeEach(() => {
	server.requests.length = 0;
});
afterAll(async () => {
	await emulator.stop();
	await server.stop();
});

const scripted = () => ({ baseUrl: server.url, apiKey: 'k' });
const emulated = () => ({ baseUrl: emulator.url, apiKey: 'demo-key' });
const imageOnly = { image: [{ source: 'url', url: 'https://example.com/fox.jpg' }] };

/** The parameters of a node for a body. Tools are an option only of Chat Completion. */
function toParameters(node: string, { messages = HI, tools, ...fields }: ChatBody): IDataObject {
	const options = Object.fromEntries(
		Object.entries(fields).map(([name, value]) => [
			name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
			value,
		]),
	);
	const list = tools === undefined ? undefined : JSON.stringify(tools);
	const declared =
		node === 'chatCompletion' ? {} : { toolSource: 'json', toolsJson: list ?? '={{ [] }}' };
	return {
		input: 'json',
		messagesJson: JSON.stringify(messages),
		streaming: 'off',
		...declared,
		options: {
			...options,
			...(node === 'chatCompletion' && list !== undefined ? { tools: list } : {}),
		},
	};
}

interface Message {
	readonly role: string;
	readonly content?: unknown;
	readonly tool_calls?: unknown;
	readonly tool_call_id?: unknown;
}

/** A list of messages as entries of the form; undefined where the form cannot have it. */
function toForm(messages: unknown): IDataObject | undefined {
	if (!Array.isArray(messages)) return undefined;
	const entries = (messages as Message[]).map((message) => {
		const { role, content = '', tool_calls: toolCalls, tool_call_id: toolCallId } = message;
		const isPlain = typeof (content ?? '') === 'string' && role !== 'bot';
		const isOfRole =
			(toolCalls === undefined || role === 'assistant') &&
			(toolCallId === undefined || (role === 'tool' && typeof toolCallId === 'string'));
		if (!isPlain || !isOfRole || (role === 'tool' && typeof message.content !== 'string'))
			return undefined;
		return {
			role,
			content,
			...(toolCalls === undefined ? {} : { toolCalls: JSON.stringify(toolCalls) }),
			...(toolCallId === undefined ? {} : { toolCallId }),
		};
	});
	if (entries.some((entry) => entry?.role === undefined)) return undefined;
	return { input: 'messages', messages: { message: entries } };
}

/** The fields of the agent for its tools, and those of Chat Completion. */
const LABELS = { chatCompletion: 'Tools', functionCallingAgent: 'Tool Declarations' } as const;

describe('the service rejects, and no node sends', () => {
	test.each([...REJECTED_MESSAGES, ...REJECTED_TOOLS, ...REJECTED_OPTIONS])(
		'$spec $name: status 400',
		async ({ body }) => {
			expect((await emulator.chat({ messages: HI, ...body })).status).toBe(400);
		},
	);

	describe.each(['chatCompletion', 'functionCallingAgent'] as const)('%s', (node) => {
		const run = async (parameters: IDataObject) => await runDrawn(node, parameters);

		test.each(REJECTED_MESSAGES)('$spec $name', async ({ body, problem }) => {
			const { error } = await run(toParameters(node, body));
			expect(error?.message).toMatch(/^Messages \(JSON\)/);
			expect(error?.message).toContain(problem);
			expect(error?.description).toMatch(/^[A-Z]/);
			expect(server.requests).toHaveLength(0);
		});

		test.each(REJECTED_TOOLS)('$spec $name', async ({ body, problem }) => {
			const { error } = await run(toParameters(node, body));
			expect(error?.message.startsWith(LABELS[node])).toBe(true);
			expect(error?.message).toContain(problem);
			expect(server.requests).toHaveLength(0);
		});

		// Without tools, the agent sends no choice.
		const isSent = ({ body }: { readonly body: ChatBody }) =>
			node === 'chatCompletion' || body['tool_choice'] !== 'required';
		test.each(REJECTED_OPTIONS.filter(isSent))('$spec $name', async ({ body, problem }) => {
			const { error } = await run(toParameters(node, body));
			expect(error?.message).toBe(problem);
			expect(server.requests).toHaveLength(0);
		});
	});

	const inForm = REJECTED_MESSAGES.flatMap(({ body, ...row }) => {
		const parameters = toForm(body['messages']);
		return parameters === undefined ? [] : [{ ...row, parameters }];
	});
	test.each(inForm)('Messages in the form: $name', async ({ parameters, problem }) => {
		const { error } = await runNode('chatCompletion', { credential: scripted(), parameters });
		expect(error?.message.startsWith('Messages')).toBe(true);
		expect(error?.message).toContain(problem);
		expect(server.requests).toHaveLength(0);
	});

	const ofAssistant = REJECTED_OPTIONS.filter(({ body }) => !('tool_choice' in body));
	test.each(ofAssistant)('Super Assistant: $name', async ({ body, problem }) => {
		const { options } = toParameters('chatCompletion', body);
		const { error } = await runNode('superAssistant', {
			credential: scripted(),
			parameters: { appCode: 'a', message: 'Hi', options },
		});
		expect(error?.message).toBe(problem);
		expect(server.requests).toHaveLength(0);
	});

	test.each(ofAssistant)('Chat Model: $name', async ({ body, problem }) => {
		const { options } = toParameters('chatCompletion', body);
		const { error } = await callModel(options as IDataObject, false);
		expect(error?.description).toContain(problem);
		expect(server.requests).toHaveLength(0);
	});

	test('a user message without text is rejected by the chat model', async () => {
		await expect(generate([says('')])).rejects.toThrow('Messages: entry 1 has no content');
		expect(server.requests).toHaveLength(0);
	});
});

describe('the service accepts, and the nodes send', () => {
	test.each(ACCEPTED_BODIES)('$spec $name: status 200', async ({ body }) => {
		expect((await emulator.chat({ messages: HI, ...body })).status).toBe(200);
	});

	describe.each(['chatCompletion', 'functionCallingAgent'] as const)('%s', (node) => {
		test.each(ACCEPTED_BODIES)('$spec $name', async ({ body }) => {
			const parameters = toParameters(node, body);
			const { error } = await runDrawn(node, parameters);
			expect(error).toBeUndefined();
			const { stream, ...sent } = server.requests[0]!.body as ChatBody;
			const { tool_choice: _choice, ...expected } = { messages: HI, ...body } as ChatBody;
			expect(sent).toStrictEqual(
				node === 'chatCompletion' ? { messages: HI, ...body } : expected,
			);
			expect(stream).toBe(false);
		});
	});

	test.each([
		['chatCompletion', { prompt: '', images: imageOnly }],
		[
			'chatCompletion',
			{
				input: 'messages',
				messages: { message: [{ role: 'user', content: '', images: imageOnly }] },
			},
		],
		['functionCallingAgent', { prompt: ' ', images: imageOnly }],
		['superAssistant', { appCode: 'demo-assistant', message: '', images: imageOnly }],
	])('an image without text: %s %j', async (node, parameters) => {
		const { error } = await runNode(node, { credential: emulated(), parameters });
		expect(error).toBeUndefined();
	});

	test.each(['chatCompletion', 'superAssistant'])(
		'%s without text and image names the field',
		async (node) => {
			const parameters = { prompt: '', message: ' ', appCode: 'demo-assistant' };
			const { error } = await runNode(node, { credential: scripted(), parameters });
			expect(error?.message).toMatch(/^(Prompt|Message) is empty$/);
		},
	);

	test('the form of messages sends an empty tool result', async () => {
		const parameters = toForm([
			HI[0],
			{
				role: 'assistant',
				tool_calls: [
					{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } },
				],
			},
			{ role: 'tool', content: '', tool_call_id: 'a' },
		])!;
		const { error } = await runNode('chatCompletion', { credential: emulated(), parameters });
		expect(error).toBeUndefined();
	});

	test('the chat model leaves out messages that say nothing, and sends an empty result as a text', async () => {
		await generate([
			{ role: 'system', content: [{ type: 'text', text: '' }] },
			{ role: 'assistant', content: [] },
			says('Hi'),
			{
				role: 'assistant',
				content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'look', input: '{}' }],
			},
			{
				role: 'tool',
				content: [{ type: 'tool-result', toolCallId: 'a', result: undefined }],
			},
		]);
		const { messages } = server.requests[0]!.body as { messages: readonly object[] };
		expect(messages).toMatchObject([
			{ role: 'user', content: 'Hi' },
			{ role: 'assistant' },
			{ role: 'tool', content: '' },
		]);
		expect((await emulator.chat({ messages })).status).toBe(200);
	});

	test('arguments of the model that are not JSON are sent back as a JSON text', async () => {
		const broken = {
			id: 'a',
			type: 'function',
			function: { name: 'look', arguments: '{"a":' },
		};
		const message = { role: 'assistant', content: null, tool_calls: [broken] };
		const replies = await startScriptedServer((response, _request, index) => {
			const asks = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
			json(response, 200, index === 0 ? asks : REPLY);
		});
		const tools = [{ type: 'function', function: { name: 'look' } }];
		const parameters = toParameters('functionCallingAgent', { tools });
		const { error } = await runDrawn('functionCallingAgent', parameters, replies.url);
		await replies.stop();
		expect(error).toBeUndefined();
		const { messages } = replies.requests[1]!.body as { messages: readonly object[] };
		expect(messages[1]).toMatchObject({
			tool_calls: [{ function: { arguments: JSON.stringify('{"a":') } }],
		});
		expect((await emulator.chat({ messages })).status).toBe(200);
	});
});

test('Super Assistant sends every field that an assistant takes (spec 2.1)', async () => {
	await runNode('superAssistant', {
		credential: scripted(),
		parameters: {
			appCode: 'a',
			message: 'Hi',
			session: 'new',
			streaming: 'off',
			options: {
				temperature: 0.1,
				topP: 0.9,
				frequencyPenalty: 1,
				presencePenalty: -1,
				stop: ['END'],
				thinking: 'enabled',
				reasoningEffort: { __rl: true, mode: 'list', value: 'low' },
			},
		},
	});
	expect(server.requests[0]!.body).toStrictEqual({
		app_code: 'a',
		messages: HI,
		temperature: 0.1,
		top_p: 0.9,
		frequency_penalty: 1,
		presence_penalty: -1,
		stop: ['END'],
		thinking: { type: 'enabled' },
		reasoning_effort: 'low',
		stream: false,
	});
});

describe('the token usage of a stream', () => {
	const sends = async (node: string, options: IDataObject) => {
		const parameters = {
			answeredBy: 'app',
			appCode: 'a',
			message: 'Hi',
			prompt: 'Hi',
			options,
		};
		const { error } = await (node === 'agentVideoChatModel'
			? callModel(options, true)
			: runNode(node, { credential: scripted(), parameters }));
		expect(error).toBeUndefined();
		return server.requests[0]!.body as ChatBody;
	};

	test.each(['chatCompletion', 'functionCallingAgent', 'superAssistant', 'agentVideoChatModel'])(
		'%s asks for it unless it is switched off',
		async (node) => {
			expect(await sends(node, {})).toMatchObject({
				stream: true,
				stream_options: { include_usage: true },
			});
			server.requests.length = 0;
			const without = await sends(node, { extraBody: { stream_options: null } });
			expect(without['stream']).toBe(true);
			expect(without).not.toHaveProperty('stream_options');
		},
	);
});

describe('what a super assistant ignores', () => {
	const hintsOf = async (parameters: IDataObject) => {
		const options = { credential: emulated(), parameters, items: [{}, {}] };
		const { error, run } = await runNode('chatCompletion', options);
		expect(error).toBeUndefined();
		const { hints = [] } = run.data.resultData.runData['Tested']![0]!;
		return hints.map(({ message }) => message);
	};
	const prompt = 'What is 2 + 3?';
	const ASSISTANT = { answeredBy: 'app', appCode: 'demo-assistant' };

	test.each(['auto', 'off'])(
		'is said once below the output, with Streaming %s',
		async (streaming) => {
			const options = {
				tools: '[{ "type": "function", "function": { "name": "look" } }]',
			};
			const model = { __rl: true, mode: 'id', value: 'chat-m2' };
			const texts = { systemMessage: 'Be brief', prompt, model };
			const [hint, ...more] = await hintsOf({ ...ASSISTANT, ...texts, streaming, options });
			expect(more).toStrictEqual([]);
			expect(hint).toContain(
				'It ignores: Model, the tools, all messages before the last one. ',
			);
		},
	);

	test.each([
		{ ...ASSISTANT, prompt },
		{
			answeredBy: 'app',
			appCode: 'demo-app',
			model: { __rl: true, mode: 'id', value: 'chat-m2' },
			systemMessage: 'Be brief',
			prompt,
		},
	])('is not said where nothing is ignored: %j', async (parameters) => {
		expect(await hintsOf(parameters)).toStrictEqual([]);
	});
});

test('a 400 quotes the service, and guesses nothing (spec 7.1)', async () => {
	const { error } = await runNode('chatCompletion', {
		credential: emulated(),
		parameters: { prompt: 'Hi', model: { __rl: true, mode: 'id', value: 'no-such-model' } },
	});
	expect(error?.description).toBe(
		'The service said: "model: unknown chat model no-such-model". Correct what the message of the service names. Type: invalid_request_error.',
	);
});

describe('images of the chat model, which n8n asks for once for all items', () => {
	const url = 'http://127.0.0.1/a.png';

	test.each<[string, IDataObject]>([
		['binary data', { source: 'binary', binaryProperty: 'data' }],
		['an expression', { url: '={{ $json.url }}' }],
	])('%s is refused where there are several', async (_name, image) => {
		const { error } = await callModel({}, false, image, [{ url }, { url }]);
		expect(error?.description).toContain('Images would be those of the first item');
		expect(server.requests).toHaveLength(0);
	});

	test.each<[string, IDataObject, IDataObject[]]>([
		['a fixed URL goes with every item', { url }, [{}, {}]],
		['an expression is read of a single one', { url: '={{ $json.url }}' }, [{ url }]],
	])('%s', async (_name, image, items) => {
		const { status } = await callModel({}, false, image, items);
		expect(status).toBe('success');
		expect(server.requests).toHaveLength(items.length);
		expect(JSON.stringify(server.requests)).toContain(url);
	});
});

/** Runs a node; the agent with a branch that runs its tools. */
async function runDrawn(node: string, parameters: IDataObject, baseUrl = server.url) {
	const nodes = [packageNode('Tested', node, { parameters }), stubNode('Tool', (items) => items)];
	const before = Array.from({ length: FIRST_TOOL }, (): string[] => []);
	const wires: Wires =
		node === 'functionCallingAgent'
			? { Tested: [...before, ['Tool']], Tool: [['Tested']] }
			: {};
	return await runWorkflow(nodes, wires, 'Tested', { credential: { baseUrl, apiKey: 'k' } });
}

async function callModel(
	options: IDataObject,
	stream: boolean,
	image?: IDataObject,
	items: IDataObject[] = [{}],
) {
	const images = image && { image: [image] };
	const parameters = { answeredBy: 'app', appCode: 'a', options, ...(images && { images }) };
	const nodes = [
		packageNode('Model', 'agentVideoChatModel', { parameters }),
		modelCallerNode('Chain', { stream }),
	];
	return await runWorkflow(nodes, {}, 'Chain', {
		credential: scripted(),
		model: { name: 'Model', of: 'Chain' },
		items,
	});
}

function says(text: string): SdkMessage {
	return { role: 'user', content: [{ type: 'text', text }] };
}

async function generate(messages: readonly SdkMessage[]) {
	return await chatModel(subNodeRun(), {
		sdk: {} as AiNodeSdk,
		http: axiosHttp(server.url, 'k'),
		baseUrl: server.url,
		request: {},
		images: [],
		idleTimeoutMs: 5_000,
		limitMs: 60_000,
		retry: { retries: 0, retryOutcomeUnknown: false },
	}).generate(messages);
}
