/** What the chat nodes send: never what the service rejects, as the emulator tells, and all that it accepts. */
import type { IDataObject } from 'n8n-workflow';

import { FIRST_TOOL } from '../../nodes/shared/run/nodeContext';
import { startService, type TestService } from '../emulator/support/service';
import {
	ACCEPTED_BODIES,
	MISTAKEN_BODIES,
	REJECTED_BODIES,
	type ChatBody,
} from '../support/chatBodies';
import {
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunOptions,
	type Wires,
} from '../support/engine';
import { askThrough, CHAT_NODE_NAMES } from '../support/fourNodes';
import { replyWith } from '../support/chatReplies';
import { serverForEach } from '../support/scriptedServer';

const HI = [{ role: 'user', content: 'Hi' }];
const HELLO = { content: 'Hello' };

/** What the server says first, before `HELLO`. */
let first: object;
const server = serverForEach((...request) => {
	replyWith(request[2] === 0 ? first : HELLO)(...request);
});
beforeEach(() => {
	first = HELLO;
});

let emulator: TestService;
beforeAll(async () => {
	emulator = await startService();
});
afterAll(async () => {
	await emulator.stop();
});

const scripted = () => ({ baseUrl: server.url, apiKey: 'k' });
const emulated = () => ({ baseUrl: emulator.url, apiKey: 'demo-key' });
const bodies = () => server.requests.map(({ body }) => body as ChatBody);

test.each([
	...REJECTED_BODIES.map(([name, body]) => [400, name, body] as const),
	...ACCEPTED_BODIES.map(([name, body]) => [200, name, body] as const),
])('the service answers %i to %s', async (status, _name, body) => {
	expect((await emulator.chat({ messages: HI, ...body })).status).toBe(status);
});

const NODES = ['chatCompletion', 'functionCallingAgent'] as const;
const OPTIONS = [
	...['temperature', 'top_p', 'frequency_penalty', 'presence_penalty'],
	...['stop', 'tool_choice', 'reasoning_effort'],
];
const toOption = (name: string) =>
	name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

/** Runs a node with these bodies, an item each; the agent with a branch that runs its tools. */
async function send(
	node: (typeof NODES)[number],
	items: readonly ChatBody[],
	onError?: RunOptions['onError'],
) {
	const options = OPTIONS.map((name) => [toOption(name), `={{ $json.${name} }}`]);
	const isAgent = node === 'functionCallingAgent';
	const tools = '={{ JSON.stringify($json.tools ?? []) }}';
	const parameters = {
		input: 'json',
		messagesJson: '={{ JSON.stringify($json.messages) }}',
		streaming: 'off',
		...(isAgent ? { toolSource: 'json', toolsJson: tools } : {}),
		options: {
			...(Object.fromEntries(options) as IDataObject),
			...(isAgent ? {} : { tools }),
			concurrency: 1,
		},
	};
	const before = Array.from({ length: FIRST_TOOL }, (): string[] => []);
	const wires: Wires = isAgent ? { Tested: [...before, ['Tool']], Tool: [['Tested']] } : {};
	const result = await runWorkflow(
		[packageNode('Tested', node, { parameters, onError }), stubNode('Tool', (each) => each)],
		wires,
		'Tested',
		{ credential: scripted(), items: items.map((body) => ({ messages: HI, ...body })) },
	);
	return { ...result, answers: result.outputs.flat().map((item) => item.json) };
}

describe.each(NODES)('%s', (node) => {
	const isAgent = node === 'functionCallingAgent';
	/** The label of the field that holds what is wrong, where the problem does not begin with it. */
	const labelOf = (body: ChatBody) =>
		'messages' in body ? 'Messages (JSON)' : isAgent ? 'Tool Declarations' : 'Tools';

	test('sends nothing that the service rejects, nor a mistake, and names the field, the problem and the remedy', async () => {
		// Without tools, the agent sends no choice.
		const rows = [...REJECTED_BODIES, ...MISTAKEN_BODIES].filter(
			([, body]) => !isAgent || body['tool_choice'] !== 'required',
		);
		const { answers } = await send(
			node,
			rows.map(([, body]) => body),
			'continueRegularOutput',
		);
		expect(answers).toHaveLength(rows.length);
		const untold = rows.filter(([, body, problem], index) => {
			const { error, message } = answers[index] as { error?: string; message?: string };
			const isTold =
				'messages' in body || 'tools' in body
					? error?.startsWith(labelOf(body)) === true && error.includes(problem)
					: error === problem;
			return !isTold || message === error || !/^[A-Z]/.test(message ?? '');
		});
		expect(untold).toStrictEqual([]);
		expect(server.requests).toHaveLength(0);
	});

	test('sends what the service accepts, as it is', async () => {
		const { error } = await send(
			node,
			ACCEPTED_BODIES.map(([, body]) => body),
		);
		expect(error).toBeUndefined();
		expect(bodies()).toStrictEqual(
			ACCEPTED_BODIES.map(([, { tool_choice: choice, ...body }]) => ({
				messages: HI,
				stream: false,
				...body,
				...(!isAgent && choice !== undefined ? { tool_choice: choice } : {}),
			})),
		);
	});
});

describe('every field that is sent has its name in the specification (spec 2.1)', () => {
	const LOW = { __rl: true, mode: 'list', value: 'low' };
	const FIELDS = {
		temperature: 0.1,
		topP: 0.9,
		frequencyPenalty: 0.5,
		presencePenalty: -0.5,
		// A word that a person has added and left empty is none.
		stop: ['END', ''],
		thinking: 'disabled',
		reasoningEffort: LOW,
		extraBody: '{"seed": 7}',
	};
	const SENT = {
		messages: HI,
		temperature: 0.1,
		top_p: 0.9,
		frequency_penalty: 0.5,
		presence_penalty: -0.5,
		stop: ['END'],
		thinking: { type: 'disabled' },
		reasoning_effort: 'low',
		seed: 7,
		stream: false,
	};
	const TOOLS = [{ type: 'function', function: { name: 'weather' } }];

	test.each<[string, IDataObject, IDataObject, object]>([
		[
			'chatCompletion',
			{ prompt: 'Hi' },
			{ tools: JSON.stringify(TOOLS), toolChoice: 'none' },
			{ tools: TOOLS, tool_choice: 'none' },
		],
		['superAssistant', { appCode: 'a', message: 'Hi', session: 'new' }, {}, { app_code: 'a' }],
	])('%s', async (node, form, more, sent) => {
		const parameters = { ...form, streaming: 'off', options: { ...FIELDS, ...more } };
		await runNode(node, { credential: scripted(), parameters });
		expect(bodies()).toStrictEqual([{ ...SENT, ...sent }]);
	});
});

describe.each(CHAT_NODE_NAMES)('%s', (node) => {
	test('sends no more stop words than the service takes', async () => {
		const options = { stop: ['1', '2', '3', '4', '5'] };
		const { error } = await askThrough(node, false, server.url, { options });
		expect(error).toContain('Stop Words has 5 entries');
		expect(server.requests).toHaveLength(0);
	});

	test('asks for the token usage of a stream unless that is switched off', async () => {
		await askThrough(node, true, server.url);
		const options = { extraBody: { stream_options: null } };
		await askThrough(node, true, server.url, { options });
		const [usual, without] = bodies();
		expect(usual).toMatchObject({ stream: true, stream_options: { include_usage: true } });
		expect(without).toMatchObject({ stream: true });
		expect(without).not.toHaveProperty('stream_options');
	});
});

const images = { image: [{ source: 'url', url: 'https://example.com/fox.jpg' }] };

test.each([
	['chatCompletion', { prompt: '', images }],
	[
		'chatCompletion',
		{ input: 'messages', messages: { message: [{ role: 'user', content: '', images }] } },
	],
	['functionCallingAgent', { prompt: ' ', images }],
	['superAssistant', { appCode: 'demo-assistant', message: '', images }],
])('an image without text is accepted: %s %j', async (node, parameters) => {
	const { error } = await runNode(node, { credential: emulated(), parameters });
	expect(error).toBeUndefined();
});

test('arguments of the model that are not JSON are sent back as a JSON text, which the service accepts', async () => {
	const broken = { id: 'a', type: 'function', function: { name: 'look', arguments: '{"a":' } };
	first = { role: 'assistant', content: null, tool_calls: [broken] };
	const tools = [{ type: 'function', function: { name: 'look' } }];
	const { error } = await send('functionCallingAgent', [{ tools }]);
	expect(error).toBeUndefined();
	const { messages } = bodies()[1] as { messages: readonly object[] };
	expect(messages[1]).toMatchObject({
		tool_calls: [{ function: { arguments: JSON.stringify('{"a":') } }],
	});
	expect((await emulator.chat({ messages })).status).toBe(200);
});

describe('what a super assistant ignores', () => {
	const hintsOf = async (parameters: IDataObject) => {
		const options = { credential: emulated(), parameters, items: [{}, {}] };
		const { error, hints } = await runNode('chatCompletion', options);
		expect(error).toBeUndefined();
		return hints;
	};
	const prompt = 'What is 2 + 3?';
	const MORE = { systemMessage: 'Be brief', model: { __rl: true, mode: 'id', value: 'chat-m2' } };
	const ASSISTANT = { answeredBy: 'app', appCode: 'demo-assistant', prompt };

	test.each(['auto', 'off'])(
		'is said once below the output, with Streaming %s',
		async (streaming) => {
			const tools = '[{ "type": "function", "function": { "name": "look" } }]';
			const [hint, ...more] = await hintsOf({
				...ASSISTANT,
				...MORE,
				streaming,
				options: { tools },
			});
			expect(more).toStrictEqual([]);
			expect(hint).toContain(
				'It ignores: Model, the tools, all messages before the last one. ',
			);
		},
	);

	test.each([ASSISTANT, { ...ASSISTANT, ...MORE, appCode: 'demo-app' }])(
		'is not said where nothing is ignored: %j',
		async (parameters) => {
			expect(await hintsOf(parameters)).toStrictEqual([]);
		},
	);
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
