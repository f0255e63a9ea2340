import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { ChatMessage, ContentPart, ToolCall } from '../../nodes/client/chat/types';
import { addTriggers, chatTrigger, formTrigger, webhook } from '../support/chatTrigger';
import {
	allItems,
	packageNode,
	runWorkflow,
	stubNode,
	toolNode,
	type RunOptions,
	type StubWork,
	type Wires,
} from '../support/engine';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { FAILURE } from '../support/failureTexts';
import { sampleFile } from '../support/sampleFiles';

const AGENT = 'Agent';
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** The scripted reply of the model to the messages so far: a text, or tool calls. */
type Model = (messages: readonly ChatMessage[]) => string | ToolCall[];

let server: ScriptedServer;
let model: Model;

beforeEach(async () => {
	server = await startScriptedServer((response, { body }) => {
		const said = model((body as { messages: ChatMessage[] }).messages);
		if (said === 'BROKEN') {
			json(response, 503, { error: { message: 'down', type: 'service_error' } });
			return;
		}
		const isText = typeof said === 'string';
		const message = isText
			? { role: 'assistant', content: said }
			: { role: 'assistant', content: null, reasoning_content: 'hm', tool_calls: said };
		const choice = { index: 0, message, finish_reason: isText ? 'stop' : 'tool_calls' };
		json(response, 200, { choices: [choice], usage: USAGE, model: 'chat-m1' });
	});
});
afterEach(async () => {
	await server.stop();
});

const call = (id: string, name: string, args: object | string): ToolCall => ({
	id,
	type: 'function',
	function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
});

const tool = (name: string, ...fields: string[]) => ({
	name,
	description: `Tells the ${name}`,
	define: 'fields',
	parameters: {
		parameter: fields.map((field) => ({ name: field, type: 'string', required: true })),
	},
});

const requests = () => server.requests.map(({ body }) => body as { messages: ChatMessage[] });
const toolMessages = (messages: readonly ChatMessage[]) =>
	messages.filter(({ role }) => role === 'tool');
const isFirstRound = (messages: readonly ChatMessage[]) => toolMessages(messages).length === 0;

const weather: StubWork = (items) =>
	items.map(({ json: { city } }, item) => ({
		json: { temperature: `${String(city).length} degrees` },
		pairedItem: { item },
	}));

interface Drawn extends Partial<RunOptions> {
	/** The work of each tool's branch; its end is connected back to the agent. */
	readonly branches: Readonly<Record<string, StubWork>>;
}

/** A workflow of the agent with one branch per tool, each connected back to it, and nodes after Answer and Stopped. */
async function run({ branches, parameters = {}, ...more }: Drawn) {
	const names = Object.keys(branches);
	const wires: Wires = {
		Start: [[AGENT]],
		[AGENT]: [['Answers'], ['Stops'], ...names.map((name) => [name])],
		...Object.fromEntries(names.map((name) => [name, [[AGENT]]])),
	};
	const nodes = [
		stubNode('Start', (items) => items),
		packageNode(AGENT, 'functionCallingAgent', {
			...more,
			parameters: {
				prompt: '={{ $json.question }}',
				tools: { tool: names.map((name) => tool(name, 'city')) },
				streaming: 'off',
				output: 'detailed',
				...parameters,
			},
		}),
		// n8n runs the upper branches first.
		{ ...stubNode('Answers', (items) => items), position: [200, -200] as [number, number] },
		stubNode('Stops', (items) => items),
		...names.map((name) => stubNode(name, branches[name]!)),
	];
	const result = await runWorkflow(nodes, wires, 'Start', {
		items: [{ question: 'Weather in Rome?' }],
		credential: { baseUrl: server.url, apiKey: 'k' },
		...more,
	});
	return {
		...result,
		answers: allItems(result, 'Answers')[0] ?? [],
		stops: allItems(result, 'Stops')[0] ?? [],
		calls: (name: string) => (result.run.data.resultData.runData[name] ?? []).length,
	};
}

test('a call leaves through the output of its tool, its result goes to the model, the answer comes out', async () => {
	model = (messages) =>
		isFirstRound(messages) ? [call('c1', 'weather', { city: 'Rome' })] : 'It is mild.';
	const received: INodeExecutionData[] = [];
	const { answers } = await run({
		branches: {
			weather: (items) => {
				received.push(...items);
				return weather(items);
			},
		},
	});

	expect(received.map(({ json: fields }) => fields)).toStrictEqual([
		{ city: 'Rome', tool_call: { id: 'c1', tool: 'weather', round: 1, conversation: 0 } },
	]);
	const [first, second] = requests();
	expect(first).toStrictEqual({
		messages: [{ role: 'user', content: 'Weather in Rome?' }],
		tools: [
			{
				type: 'function',
				function: {
					name: 'weather',
					description: 'Tells the weather',
					parameters: {
						type: 'object',
						properties: { city: { type: 'string' } },
						required: ['city'],
						additionalProperties: false,
					},
				},
			},
		],
		stream: false,
	});
	expect(second!.messages).toStrictEqual([
		{ role: 'user', content: 'Weather in Rome?' },
		{
			role: 'assistant',
			content: null,
			reasoning_content: 'hm',
			tool_calls: [call('c1', 'weather', { city: 'Rome' })],
		},
		{ role: 'tool', tool_call_id: 'c1', content: '{"temperature":"4 degrees"}' },
	]);
	expect(answers).toHaveLength(1);
	expect(answers[0]!.json).toStrictEqual({
		output: 'It is mild.',
		finish_reason: 'stop',
		usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
		model: 'chat-m1',
		rounds: 2,
		tool_calls: [
			{
				id: 'c1',
				name: 'weather',
				arguments: { city: 'Rome' },
				result: { temperature: '4 degrees' },
				failed: false,
				round: 1,
				duration: expect.any(Number) as number,
			},
		],
		messages: [...second!.messages, { role: 'assistant', content: 'It is mild.' }],
	});
});

describe.each(['oneAtATime', 'allAtOnce'])('tool calls run %s', (runCalls) => {
	test('two tools in one round: each result is sent for its call, in the order of the calls', async () => {
		model = (messages) =>
			isFirstRound(messages)
				? [call('c1', 'time', { city: 'Rome' }), call('c2', 'weather', { city: 'Oslo' })]
				: 'Done.';
		const { answers } = await run({
			parameters: { options: { runCalls } },
			branches: {
				weather,
				time: (items) =>
					items.map(({ json: { city } }, item) => ({
						json: { time: `noon in ${String(city)}` },
						pairedItem: { item },
					})),
			},
		});
		expect(toolMessages(requests()[1]!.messages)).toStrictEqual([
			{ role: 'tool', tool_call_id: 'c1', content: '{"time":"noon in Rome"}' },
			{ role: 'tool', tool_call_id: 'c2', content: '{"temperature":"4 degrees"}' },
		]);
		expect(answers).toHaveLength(1);
		expect(server.requests).toHaveLength(2);
	});

	test('one tool three times in one round', async () => {
		const cities = ['Rome', 'Paris', 'Reykjavik'];
		model = (messages) =>
			isFirstRound(messages)
				? cities.map((city, index) => call(`c${index}`, 'weather', { city }))
				: 'Done.';
		await run({ parameters: { options: { runCalls } }, branches: { weather } });
		expect(toolMessages(requests()[1]!.messages).map(({ content }) => content)).toStrictEqual([
			'{"temperature":"4 degrees"}',
			'{"temperature":"5 degrees"}',
			'{"temperature":"9 degrees"}',
		]);
	});

	test('three conversations with different numbers of rounds, answers in the order of the items', async () => {
		model = (messages) => {
			const wanted = Number(String(messages[0]!.content).at(-1));
			const done = toolMessages(messages).length;
			return done < wanted
				? [call('same-id', 'weather', { city: `${wanted}-${done}` })]
				: `after ${done}`;
		};
		const items = [2, 0, 1].map((rounds) => ({ question: `Rounds: ${rounds}` }));
		const { answers } = await run({
			parameters: { options: { runCalls } },
			branches: { weather },
			items,
		});
		expect(answers.map(({ json: { output, rounds } }) => [output, rounds])).toStrictEqual([
			['after 2', 3],
			['after 0', 1],
			['after 1', 2],
		]);
		expect(server.requests).toHaveLength(6);
	});
});

test('an invalid option whose error is led back from Answer fails, and asks nothing', async () => {
	let answers = 0;
	const result = await runWorkflow(
		[
			packageNode(AGENT, 'functionCallingAgent', {
				onError: 'continueRegularOutput',
				parameters: {
					prompt: 'x',
					tools: { tool: [tool('weather', 'city')] },
					options: { maxRounds: -1 },
				},
			}),
			stubNode('weather', weather),
			stubNode('Again', (items) => {
				answers += items.length;
				return answers > 5
					? []
					: items.map((each, item) => ({ ...each, pairedItem: { item } }));
			}),
		],
		{ [AGENT]: [['Again'], [], ['weather']], weather: [[AGENT]], Again: [[AGENT]] },
		AGENT,
		{ credential: { baseUrl: server.url, apiKey: 'k' } },
	);
	expect(result.error).toMatchObject({
		message: expect.stringContaining('Maximum Rounds') as string,
	});
	expect(server.requests).toHaveLength(0);
	const [failed = []] = allItems(result, AGENT);
	expect(failed.map(({ json: { error } }) => error)).toStrictEqual([
		expect.stringContaining('Maximum Rounds'),
	]);
	expect(answers).toBe(1);
});

const ANSWERED = () => ({ data: { approved: false } });
const WAIT = { operation: 'sendAndWait' };

test.each([
	['Send and Wait that leads back with a new item: a person has answered', ANSWERED, WAIT, 15],
	[
		'Send and Wait that leads back with what it got: its time limit is over',
		({ json: got }: INodeExecutionData) => got,
		WAIT,
		11,
	],
	['the first version of the node Chat', ANSWERED, { waitUserReply: true }, 15],
	['the same without a reply', ANSWERED, { waitUserReply: false }, 11],
])('%s', async (_name, toJson, parameters, wanted) => {
	model = () => 'Hello';
	let answers = 0;
	const result = await runWorkflow(
		[
			packageNode(AGENT, 'functionCallingAgent', {
				parameters: { prompt: 'x', streaming: 'off' },
			}),
			stubNode('Enough', (items) => {
				answers += 1;
				return answers === 15 ? [] : items;
			}),
			{
				...stubNode('Ask', (items) => items.map((each) => ({ json: toJson(each) }))),
				parameters,
			},
		],
		{ [AGENT]: [['Enough']], Enough: [['Ask']], Ask: [[AGENT]] },
		AGENT,
		{ credential: { baseUrl: server.url, apiKey: 'k' } },
	);
	expect(server.requests).toHaveLength(wanted);
	expect(result.status).toBe(wanted === 15 ? 'success' : 'error');
});

test('a failure that leaves through an error output without a connection is told in a hint', async () => {
	model = () => 'BROKEN';
	const { status, run: execution } = await run({
		branches: {},
		onError: 'continueErrorOutput',
		parameters: { options: { retries: 0 } },
	});
	expect(status).toBe('success');
	expect(execution.data.resultData.runData[AGENT]![0]!.hints).toMatchObject([
		{ message: 'Conversations left through Error, which has no connection' },
	]);
});

test.each([
	['Start', stubNode('Start', (items) => items), 'Execute the whole workflow instead'],
	[
		'a chat, which has no button for it',
		chatTrigger('Start'),
		'Click Open chat below and send a message, which runs the whole workflow',
	],
])('Execute step on the agent behind %s says what to do', async (_name, start, remedy) => {
	addTriggers();
	const { error } = await runWorkflow(
		[
			start,
			packageNode(AGENT, 'functionCallingAgent', {
				parameters: { prompt: 'x', tools: { tool: [tool('weather', 'city')] } },
			}),
			stubNode('weather', weather),
		],
		{ Start: [[AGENT]], [AGENT]: [[], [], ['weather']], weather: [[AGENT]] },
		'Start',
		{ credential: { baseUrl: server.url, apiKey: 'k' }, stepOf: AGENT },
	);
	expect(error).toMatchObject({
		message: 'Execute step runs this node without the branches of its tools',
		description: remedy,
	});
	expect(server.requests).toHaveLength(0);
});

describe('what a branch may return, one call at a time', () => {
	const cases: [string, StubWork, string][] = [
		[
			'gives five items',
			() => [1, 2, 3, 4, 5].map((n) => ({ json: { n } })),
			'[{"n":1},{"n":2},{"n":3},{"n":4},{"n":5}]',
		],
		['loses the links', () => [{ json: { ok: true } }], '{"ok":true}'],
		['returns an empty item', () => [{ json: {} }], '{}'],
		['returns the call unchanged', (items) => items, '{"city":"Rome"}'],
		[
			'reports an error',
			() => [{ json: { error: 'no such city' } }],
			'{"error":"no such city"}',
		],
	];
	test.each(cases)('a branch that %s', async (_name, branch, content) => {
		model = (messages) =>
			isFirstRound(messages) ? [call('c1', 'weather', { city: 'Rome' })] : 'Done.';
		const { answers } = await run({ branches: { weather: branch } });
		expect(toolMessages(requests()[1]!.messages)).toStrictEqual([
			{ role: 'tool', tool_call_id: 'c1', content },
		]);
		expect(answers).toHaveLength(1);
	});
});

test.each([
	['', false],
	[0, false],
	[[], false],
	[{}, false],
	['no such city', true],
	[7, true],
])('an API that answers with "error": %j has failed: %s', async (error, failed) => {
	model = (messages) =>
		isFirstRound(messages) ? [call('c1', 'weather', { city: 'Rome' })] : 'Done.';
	const { answers } = await run({ branches: { weather: () => [{ json: { error } }] } });
	expect(answers[0]!.json['tool_calls']).toMatchObject([{ result: { error }, failed }]);
});

describe('invalid tool calls', () => {
	test.each([
		[
			'an unknown tool',
			call('c1', 'wether', { city: 'Rome' }),
			/Unknown tool \\"wether\\". Available tools: weather/,
		],
		['invalid JSON', call('c1', 'weather', '{"city": '), /The arguments are not a JSON object/],
		[
			'broken schema',
			call('c1', 'weather', { town: 'Rome' }),
			/do not match the schema of the tool/,
		],
	])('%s is answered to the model, no branch runs', async (_name, bad, told) => {
		model = (messages) => (isFirstRound(messages) ? [bad] : 'Done.');
		const { answers, calls } = await run({ branches: { weather } });
		expect(toolMessages(requests()[1]!.messages)[0]!.content).toMatch(told);
		expect(calls('weather')).toBe(0);
		expect(answers[0]!.json['tool_calls']).toMatchObject([{ failed: true }]);
	});
});

describe('limits', () => {
	test.each([
		['max_rounds', { maxRounds: 3 }, (n: number) => ({ city: `c${n}` }), 2],
		['max_tool_calls', { maxCalls: 4 }, (n: number) => ({ city: `c${n}` }), 4],
		['repeated_tool_call', {}, () => ({ city: 'Rome' }), 3],
	])('%s: the conversation leaves through Stopped', async (reason, options, args, ran) => {
		model = (messages) => {
			const done = toolMessages(messages).length;
			return [call(`c${done}`, 'weather', args(done))];
		};
		const { answers, stops, calls } = await run({
			branches: { weather },
			parameters: { options },
		});
		expect(answers).toHaveLength(0);
		expect(stops.map(({ json: { reason: why, rounds } }) => [why, rounds])).toStrictEqual([
			[reason, ran + 1],
		]);
		expect(stops[0]!.json['messages']).toHaveLength(3 + 2 * ran);
		expect(calls('weather')).toBe(ran);
	});
});

test.each([
	['8 by default', {}, 8],
	['as many as the option says', { maxCallsPerRound: 20 }, 20],
])('of 20 calls in a reply run %s', async (_name, options, ran) => {
	model = (messages) =>
		isFirstRound(messages)
			? Array.from({ length: 20 }, (_each, n) => call(`c${n}`, 'weather', { city: `c${n}` }))
			: 'Done.';
	const { answers, calls } = await run({ branches: { weather }, parameters: { options } });
	expect(calls('weather')).toBe(ran);
	expect(answers.map(({ json: { output } }) => output)).toStrictEqual(['Done.']);
	const told = toolMessages(requests()[1]!.messages).map(({ content }) => String(content));
	expect(told.filter((text) => text.includes('Not executed'))).toHaveLength(20 - ran);
});

test('a tool is required in the first round only', async () => {
	model = (messages) =>
		isFirstRound(messages) ? [call('c1', 'weather', { city: 'Rome' })] : 'Done.';
	await run({ branches: { weather }, parameters: { options: { toolChoice: 'required' } } });
	expect(requests()).toMatchObject([{ tool_choice: 'required' }, { tool_choice: 'auto' }]);
});

test('a tool that Extra Body Fields name as the choice is required in the first round only', async () => {
	const tool_choice = { type: 'function', function: { name: 'weather' } };
	model = (messages) =>
		isFirstRound(messages) ? [call('c1', 'weather', { city: 'Rome' })] : 'Done.';
	const options = { extraBody: JSON.stringify({ tool_choice }) };
	await run({ branches: { weather }, parameters: { options } });
	expect(requests()).toMatchObject([{ tool_choice }, { tool_choice: 'auto' }]);
});

describe('failures of the service', () => {
	test('Retry On Fail continues where the run failed: no request or tool call is repeated', async () => {
		let broken = 2;
		model = (messages) => {
			if (isFirstRound(messages)) return [call('c1', 'weather', { city: 'Rome' })];
			return broken-- > 0 ? 'BROKEN' : 'Done.';
		};
		const { status, answers, calls } = await run({ branches: { weather }, retryOnFail: true });
		expect(status).toBe('success');
		expect(answers.map(({ json: { output } }) => output)).toStrictEqual(['Done.']);
		expect(calls('weather')).toBe(1);
		expect(requests().filter(({ messages }) => isFirstRound(messages))).toHaveLength(1);
	});

	describe('Retry On Fail where the node goes on', () => {
		const options = {
			branches: { weather },
			retryOnFail: true,
			onError: 'continueRegularOutput' as const,
			parameters: { options: { concurrency: 1 } },
		};
		const said = (answers: readonly INodeExecutionData[]) =>
			answers.map(({ json: { output, error } }) => output ?? error);

		test.each([
			[1, 'Done.'],
			[5, FAILURE.unavailable],
		])('%i failures: only what failed is asked again, three times at most', async (n, last) => {
			let broken = n;
			model = (messages) => {
				const isFirst = isFirstRound(messages);
				if (messages[0]!.content === 'quick') return 'Quick.';
				if (isFirst) return [call('c1', 'weather', { city: 'Rome' })];
				return broken-- > 0 ? 'BROKEN' : 'Done.';
			};
			const { answers, calls } = await run({
				...options,
				items: [{ question: 'slow' }, { question: 'quick' }],
			});
			expect(said(answers).sort()).toStrictEqual([last, 'Quick.'].sort());
			expect(calls('weather')).toBe(1);
			expect(requests()).toHaveLength(n === 1 ? 4 : 5);
		});

		test('a failure beside open calls does not repeat them, or pass the question to their tools', async () => {
			let broken = 1;
			model = (messages) => {
				if (messages[0]!.content === 'bad') return broken-- > 0 ? 'BROKEN' : 'Good.';
				return isFirstRound(messages) ? [call('c1', 'weather', { city: 'Rome' })] : 'Done.';
			};
			const { answers, calls } = await run({
				...options,
				items: [{ question: 'bad' }, { question: 'slow' }],
			});
			expect(said(answers)).toStrictEqual(['Good.', 'Done.']);
			expect(calls('weather')).toBe(1);
			expect(toolMessages(requests()[2]!.messages)).toStrictEqual([
				{ role: 'tool', tool_call_id: 'c1', content: '{"temperature":"4 degrees"}' },
			]);
		});
	});

	test('a failure keeps the conversation before it', async () => {
		model = (messages) =>
			isFirstRound(messages) ? [call('c1', 'weather', { city: 'Rome' })] : 'BROKEN';
		const { answers } = await run({ branches: { weather }, onError: 'continueRegularOutput' });
		expect(answers[0]!.json['details']).toMatchObject({
			status: 503,
			rounds: 1,
			messages: requests()[1]!.messages,
		});
	});

	test('with Continue On Fail a failure does not affect other conversations', async () => {
		model = (messages) => {
			if (messages[0]!.content === 'bad') return 'BROKEN';
			return isFirstRound(messages) ? [call('c1', 'weather', { city: 'Rome' })] : 'Done.';
		};
		const { answers } = await run({
			branches: { weather },
			items: [
				{ question: 'never', rounds: -1 },
				{ question: 'good' },
				{ question: 'bad' },
				{ question: '' },
			],
			parameters: { options: { maxRounds: '={{ $json.rounds ?? 5 }}' } },
			onError: 'continueRegularOutput',
		});
		expect(answers.map(({ json: { output, error } }) => output ?? error)).toStrictEqual([
			expect.stringMatching(/^Maximum Rounds\b/),
			'Done.',
			FAILURE.unavailable,
			'Prompt is empty',
		]);
	});
});

describe('declaring tools', () => {
	test('by example, by schema, as JSON through one output', async () => {
		model = () => 'Done.';
		await run({
			branches: { a: weather, b: weather },
			parameters: {
				tools: {
					tool: [
						{
							name: 'a',
							description: '',
							define: 'example',
							example: '{"n": 1, "tags": ["x"]}',
						},
						{
							name: 'b',
							description: '',
							define: 'schema',
							schema: '{"type": "object"}',
						},
					],
				},
			},
		});
		await run({
			branches: { calls: weather },
			parameters: {
				toolSource: 'json',
				toolsJson: '={{ [{ type: "function", function: { name: "c" } }] }}',
			},
		});
		expect(requests().map((body) => (body as { tools?: unknown }).tools)).toStrictEqual([
			[
				{
					type: 'function',
					function: {
						name: 'a',
						description: '',
						parameters: {
							type: 'object',
							properties: {
								n: { type: 'number' },
								tags: { type: 'array', items: { type: 'string' } },
							},
							required: ['n', 'tags'],
							additionalProperties: false,
						},
					},
				},
				{
					type: 'function',
					function: { name: 'b', description: '', parameters: { type: 'object' } },
				},
			],
			[{ type: 'function', function: { name: 'c' } }],
		]);
	});
});

test('late items have no effect, also without their link, and the run has a hint', async () => {
	model = (messages) =>
		isFirstRound(messages)
			? [call('c1', 'weather', { city: 'Rome' }), call('c2', 'weather', { city: 'Oslo' })]
			: 'Done.';
	const result = await runWorkflow(
		[
			packageNode(AGENT, 'functionCallingAgent', {
				parameters: {
					prompt: 'x',
					tools: { tool: [tool('weather', 'city')] },
					streaming: 'off',
					options: { runCalls: 'allAtOnce' },
				},
			}),
			stubNode('weather', (items) =>
				items.map((item) => ({ ...item, json: { ...item.json, degrees: 4 } })),
			),
			// n8n runs the upper branches first.
			{
				...stubNode('first', (items) => items.slice(0, 1)),
				position: [200, -200] as [number, number],
			},
			// Two items for each one: n8n cannot link them, but they still have `tool_call`.
			stubNode('twice', (items) =>
				[...items, ...items].map(({ json: each }) => ({ json: each })),
			),
		],
		{
			[AGENT]: [[], [], ['weather']],
			weather: [['first', 'twice']],
			first: [[AGENT]],
			twice: [[AGENT]],
		},
		AGENT,
		{ credential: { baseUrl: server.url, apiKey: 'k' } },
	);
	expect(result.error).toBeUndefined();
	expect(toolMessages(requests()[1]!.messages).map(({ content }) => content)).toStrictEqual([
		'{"city":"Rome","degrees":4}',
		'[{"city":"Oslo","degrees":4},{"city":"Oslo","degrees":4}]',
	]);
	const hints = result.run.data.resultData.runData[AGENT]!.map(({ hints: each = [] }) =>
		each.map(({ message }) => message),
	);
	expect(hints).toStrictEqual([
		['Waiting for weather'],
		[],
		[expect.stringMatching(/^2 items came after the result of the tool call/)],
	]);
});

test('the output Tool Calls needs no branch if there are no tools', async () => {
	model = () => 'Done.';
	const none = { toolSource: 'json', toolsJson: '={{ [] }}' };
	const { error, answers } = await run({ branches: {}, parameters: none });
	expect(error).toBeUndefined();
	expect(answers).toHaveLength(1);
});

test('data with the key of the check for open calls is data', async () => {
	model = (messages) =>
		isFirstRound(messages) ? [call('c1', 'weather', { city: 'Rome' })] : 'Done.';
	const open = { agent_video_open_calls: ['x'] };
	const { error, answers } = await run({
		items: [{ question: 'Weather?', ...open }],
		branches: { weather: () => [{ json: open }] },
	});
	expect(error).toBeUndefined();
	expect(answers).toHaveLength(1);
	expect(toolMessages(requests()[1]!.messages)[0]!.content).toBe(JSON.stringify(open));
});

test('a tool may have the name of a method of objects', async () => {
	model = (messages) =>
		isFirstRound(messages) ? [call('c1', 'constructor', { city: 'Rome' })] : 'Done.';
	const { error, calls } = await run({ branches: { constructor: weather } });
	expect(error).toBeUndefined();
	expect(calls('constructor')).toBe(1);
});

describe('what the model is told of an error', () => {
	const trace =
		'\n    at run (/home/node/app/index.js:1:2)\n    at main (/home/node/app/main.js:3:4)';
	test.each<[string, object, object]>([
		['a text', { error: `It broke.${trace}` }, { error: 'It broke.' }],
		[
			'a path of the server',
			{ error: "ENOENT: no such file, open '/home/node/.n8n/config'" },
			{ error: "ENOENT: no such file, open '(path)'" },
		],
		[
			'a path of a URL',
			{ error: 'Cannot GET /api/users/12' },
			{ error: 'Cannot GET /api/users/12' },
		],
		[
			'an error of n8n',
			{
				error: {
					message: 'Not found',
					description: '404. Try later. Or never.',
					stack: trace,
				},
			},
			{ error: 'Not found 404.' },
		],
		[
			'an error in an error',
			{ error: { error: { message: 'Deep', stack: trace } } },
			{ error: 'Deep' },
		],
		[
			'an error without a message',
			{ error: { code: 7, config: { headers: { authorization: 'Bearer secret' } } } },
			{ error: { code: 7 } },
		],
		[
			'more fields',
			{ error: 'No city', stack: trace, hint: 'Rome' },
			{ hint: 'Rome', error: 'No city' },
		],
		['no error', { stack: ['node', 'redis'] }, { stack: ['node', 'redis'] }],
	])('%s', async (_name, result, told) => {
		model = (messages) =>
			isFirstRound(messages) ? [call('c1', 'weather', { city: 'Rome' })] : 'Done.';
		await run({ branches: { weather: () => [{ json: result as IDataObject }] } });
		const [{ content }] = toolMessages(requests()[1]!.messages) as [ChatMessage];
		expect(JSON.parse(String(content))).toStrictEqual(told);
	});
});

describe('a reply with neither an answer nor a call is an error that keeps the reply', () => {
	test.each([
		['calls that are no list', { content: null, tool_calls: 'weather' }, 'tool_calls'],
		['no text', { content: ' ' }, 'stop'],
	])('%s', async (_name, message, finish_reason) => {
		await server.stop();
		server = await startScriptedServer((response) => {
			json(response, 200, { choices: [{ index: 0, message, finish_reason }] });
		});
		const { answers } = await run({
			branches: { weather },
			onError: 'continueRegularOutput',
		});
		expect(answers).toMatchObject([
			{
				json: {
					error: 'The model replied with neither an answer nor a tool call',
					details: { partial: { choices: [{ finish_reason }] } },
				},
			},
		]);
	});
});

test('an answer in parts is their text', async () => {
	await server.stop();
	server = await startScriptedServer((response) => {
		const content = [
			{ type: 'text', text: 'Mild ' },
			{ type: 'text', text: 'and dry.' },
		];
		json(response, 200, {
			choices: [{ index: 0, message: { content }, finish_reason: 'stop', usage: null }],
		});
	});
	const { answers } = await run({ branches: { weather } });
	expect(answers[0]!.json['output']).toBe('Mild and dry.');
});

test('a file of a tool and one of the answer come out side by side where they have one field', async () => {
	const image = `![x](data:image/png;base64,${sampleFile('image/png').toString('base64')})`;
	model = (messages) =>
		isFirstRound(messages) ? [call('c1', 'weather', { city: 'Rome' })] : image;
	const file = { data: 'dG9vbA==', mimeType: 'text/plain' };
	const { answers } = await run({
		parameters: { options: { downloadMedia: true } },
		branches: {
			weather: (items) =>
				items.map((_each, item) => ({
					json: {},
					binary: { media_0: file },
					pairedItem: { item },
				})),
		},
	});
	const [answer] = answers;
	expect(answer!.json['media']).toMatchObject([{ binary: 'media_0_2' }]);
	expect(answer!.binary).toMatchObject({ media_0: file, media_0_2: { mimeType: 'image/png' } });
});

test('each request has the URL of a file signed again, and no other URL', async () => {
	let signed = 0;
	const sign = jest.spyOn(Container.get(BinaryDataService), 'createSignedToken');
	sign.mockImplementation(({ id }) => `${id}.${(signed += 1)}`);
	model = (messages) =>
		toolMessages(messages).length < 2 ? [call('c1', 'weather', { city: 'Rome' })] : 'Done.';
	const others = [
		'https://example.com/a.png',
		'https://example.com/rest/binary-data/signed?token=x',
	];
	const { error } = await run({
		branches: { weather },
		binaries: [{ data: { data: '', mimeType: 'image/png', id: 'file-1' } }],
		credential: { baseUrl: server.url, apiKey: 'k' },
		parameters: {
			images: {
				image: [
					{ source: 'binary', binaryProperty: 'data' },
					...others.map((url) => ({ url })),
				],
			},
		},
	});
	expect(error).toBeUndefined();
	const urls = requests().map(({ messages }) =>
		[messages[0]!.content as ContentPart[]]
			.flat()
			.flatMap((part) =>
				part.type === 'image_url'
					? [part.image_url.url.replace(/^.*token=file-1./, '')]
					: [],
			),
	);
	expect(urls.map(([, ...rest]) => rest)).toStrictEqual([others, others, others]);
	expect(new Set(urls.map(([first]) => first)).size).toBe(3);
	sign.mockRestore();
});

test('a parameter named tool_call is rejected before the first request', async () => {
	const { error } = await run({
		branches: { weather },
		parameters: { tools: { tool: [tool('weather', 'tool_call')] } },
	});
	expect(error).toMatchObject({
		message:
			'Tools: weather has a parameter tool_call, which the node adds to each call itself',
	});
	expect(server.requests).toHaveLength(0);
});

test('a conversation that reaches a limit is told in the chat, and in a hint where Stopped is not connected', async () => {
	model = () => [call('c1', 'weather', { city: 'Rome' })];
	const { chunks, run: execution } = await runWorkflow(
		[
			packageNode(AGENT, 'functionCallingAgent', {
				parameters: {
					prompt: 'x',
					tools: { tool: [tool('weather', 'city')] },
					streaming: 'off',
					options: { maxRounds: 1 },
				},
			}),
			stubNode('weather', weather),
		],
		{ [AGENT]: [[], [], ['weather']], weather: [[AGENT]] },
		AGENT,
		{ credential: { baseUrl: server.url, apiKey: 'k' }, streaming: true },
	);
	expect(chunks.map(({ content = '' }) => content).join('')).toBe(
		'\n\n> I stopped without an answer: it took too many steps. Ask for less at once\n\n',
	);
	const [{ hints = [] } = {}] = execution.data.resultData.runData[AGENT]!;
	expect(hints).toMatchObject([
		{ message: expect.stringContaining('through Stopped') as string },
	]);
});

test.each([
	['with Streaming: Off nothing', 'off', 'Done.', /^$/],
	[
		'with Streaming: Off an error that nobody else shows',
		'off',
		'BROKEN',
		/^> The service is temporarily unavailable\b[^>]*$/,
	],
	['calls and answer', 'auto', 'Done.', /^> Running weather\s+> Finished weather\s+Done\.$/],
])('a chat that streams shows %s', async (_name, streaming, said, text) => {
	model = (messages) =>
		isFirstRound(messages) ? [call('c1', 'weather', { city: 'Rome' })] : said;
	const { chunks } = await run({
		branches: { weather },
		onError: 'continueRegularOutput',
		parameters: { streaming, options: { retries: 0 } },
		...{ credential: { baseUrl: server.url, apiKey: 'k' }, streaming: true },
	});
	expect(
		chunks
			.map(({ content = '' }) => content)
			.join('')
			.trim(),
	).toMatch(text);
});

const UNSEEN =
	'Stopped has no connection, and 1 conversation left through it. With Stopped connected, a Retry with the currently saved workflow sends them out again, free of charge';

test.each([
	['the visitor of a chat, who is told', chatTrigger('Start'), undefined],
	['nobody, as a webhook returns what leaves through Answer only', webhook('Start'), UNSEEN],
	['nobody, as a form shows no items', formTrigger('Start'), UNSEEN],
	['nobody, as a schedule has started it', stubNode('Start', (items) => items), UNSEEN],
])('a conversation that reaches a limit is seen by %s', async (_name, trigger, failure) => {
	addTriggers();
	model = () => [call('c1', 'weather', { city: 'Rome' })];
	const parameters = {
		prompt: 'x',
		tools: { tool: [tool('weather', 'city')] },
		options: { maxRounds: 1 },
	};
	const { run: execution } = await runWorkflow(
		[
			packageNode(AGENT, 'functionCallingAgent', { parameters }),
			stubNode('weather', weather),
			trigger,
		],
		{ Start: [[AGENT]], [AGENT]: [[], [], ['weather']], weather: [[AGENT]] },
		'Start',
		{ credential: { baseUrl: server.url, apiKey: 'k' } },
	);
	expect(execution.data.resultData.error?.message).toBe(failure);
});

test.each([
	['chatCompletion', ''],
	['functionCallingAgent', ''],
	['chatCompletion', 'Calculator'],
])(
	'a chat does not show what %s in a tool branch tells the model, behind a node with the tool "%s"',
	async (type, its) => {
		model = (messages) => {
			if (messages[0]!.content === 'Rome') return 'Mild';
			return isFirstRound(messages)
				? [call('c1', 'weather', { city: 'Rome' })]
				: 'It is mild';
		};
		const tools = { tool: [tool('weather', 'city')] };
		const { chunks } = await runWorkflow(
			[
				packageNode(AGENT, 'functionCallingAgent', { parameters: { prompt: 'x', tools } }),
				{ ...stubNode('Before', (items) => items), parameters: { tool: its } },
				packageNode('weather', type, { parameters: { prompt: '={{ $json.city }}' } }),
				stubNode('Answers', (items) => items),
				toolNode('Calculator', (items) => items),
			],
			{ [AGENT]: [['Answers'], [], ['Before']], Before: [['weather']], weather: [[AGENT]] },
			AGENT,
			{
				credential: { baseUrl: server.url, apiKey: 'k' },
				streaming: true,
				tools: { Calculator: 'Before' },
			},
		);
		expect(requests()).toHaveLength(3);
		const text = chunks.map(({ content = '' }) => content).join('');
		expect(text.trim()).toMatch(/^> Running weather\s+> Finished weather\s+It is mild$/);
	},
);

test('a conversation keeps the credential that it has begun with; a question that comes meanwhile has its own', async () => {
	model = (messages) => {
		const results = toolMessages(messages).length;
		return results < 3 ? [call(`c${results}`, 'weather', { city: 'Rome' })] : 'It is mild';
	};
	let reads = 0;
	const credential = {
		baseUrl: server.url,
		get apiKey() {
			reads += 1;
			return `key-${reads}`;
		},
	};
	const rounds = { tools: { tool: [tool('weather', 'city')] }, prompt: '={{ $json.question }}' };
	const wires: Wires = {
		Start: [[AGENT, 'Later']],
		Later: [[AGENT]],
		[AGENT]: [['Answers'], [], ['weather']],
		weather: [[AGENT]],
	};
	await runWorkflow(
		[
			stubNode('Start', () => [{ json: { question: 'First?' }, pairedItem: 0 }]),
			stubNode('Later', () => [{ json: { question: 'Second?' }, pairedItem: 0 }]),
			packageNode(AGENT, 'functionCallingAgent', {
				parameters: { ...rounds, streaming: 'off' },
			}),
			stubNode('weather', weather),
			stubNode('Answers', (items) => items),
		],
		wires,
		'Start',
		// The second question reaches the agent before the first result.
		{ credential, executionOrder: 'v0' },
	);
	const sent = server.requests.map(({ body, headers }) => [
		(body as { messages: ChatMessage[] }).messages[0]!.content,
		headers.authorization,
	]);
	const keys = (question: string) =>
		sent.filter(([asked]) => asked === question).map(([, key]) => key);
	expect(keys('First?')).toStrictEqual(Array(4).fill('Bearer key-1'));
	const [own, ...others] = keys('Second?');
	expect(own).not.toBe('Bearer key-1');
	expect(others).toStrictEqual(Array(3).fill(own));
});
