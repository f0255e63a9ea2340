// @seconds 30
import type { INode } from 'n8n-workflow';

import { binaryOf, failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import { startAgentSession, type AgentSession } from './support/agentSession';
import { node, workflow } from './support/buildWorkflow';
import {
	agentNode,
	base,
	code,
	draw,
	noOp,
	set,
	WEATHER,
	when,
	type Drawing,
} from './support/drawAgent';
import { call } from './support/scriptedModel';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

let agent: AgentSession;

beforeAll(async () => {
	agent = await startAgentSession();
}, SET_UP_LIMIT_MS);

beforeEach(() => {
	agent.looksUpCities();
});

afterAll(async () => {
	await agent.stop();
}, RUN_LIMIT_MS);

const BACK = { weather: [['Agent']] };
const ALL_AT_ONCE = { options: { runCalls: 'allAtOnce' } };
type OnError = 'continueRegularOutput' | 'continueErrorOutput';
const onError = (each: INode, how: OnError): INode => ({ ...each, onError: how });
const like = (pattern: RegExp) => expect.stringMatching(pattern) as string;

/** A Filter that lets no item with the city Nowhere pass. */
const FILTER = node('weather', base('filter'), 2.2, {
	parameters: {
		conditions: {
			options: { version: 2 },
			combinator: 'and',
			conditions: [
				{
					leftValue: '={{ $json.city }}',
					rightValue: 'Nowhere',
					operator: { type: 'string', operation: 'notEquals' },
				},
			],
		},
	},
});
/** The custom data of an execution that tells which tools have calls without a result. */
const openCalls = ({ data }: Execution) => data.resultData.metadata?.['agent_video_open_calls'];
/** The hints of each run of the agent. */
const hints = ({ data }: Execution) =>
	data.resultData.runData['Agent']!.map(({ hints: all = [] }) =>
		all.map(({ message }) => message).join(),
	);

/** Branches that bring back fewer items than there are calls. */
interface SilentEnd extends Partial<Drawing> {
	readonly name: string;
	readonly nodes: Drawing['nodes'];
	/** Default: Tool weather returned no item for 1 call. */
	readonly message?: RegExp;
	/** The tools in the custom data of the execution. Default: weather. */
	readonly open?: string;
	/** Requests to the model. Default: one per question. */
	readonly requests?: number;
}

const NO_ITEM =
	/^Agent: Tool weather returned no item for 1 call\b.*Always Output Data.*In the branch of weather ran: \w/;

/** An item that came back for two calls cannot always be told from the result of the first. */
const NO_ITEM_OR_LINK =
	/^Agent: (Tool weather returned no item for 1 call|Tool results came back without the link)\b/;
/** An agent that is a tool of the agent, with a tool of its own. */
const INNER: INode = {
	...agentNode({ tools: ['weather'], parameters: { prompt: '={{ $json.city }}' } }),
	id: 'ask',
	name: 'ask',
};

/** A node that throws and passes its input on. */
const FAILING = onError(
	node('weather', base('wait'), 1.1, {
		parameters: { amount: '={{ "soon" }}', unit: 'seconds' },
	}),
	'continueRegularOutput',
);

const SILENT_ENDS: readonly SilentEnd[] = [
	{ name: 'a Filter', nodes: [FILTER] },
	{ name: 'a Filter, v0', nodes: [FILTER], executionOrder: 'v0' },
	{
		name: 'an IF with one wire',
		nodes: [when('weather', 'if', '={{ $json.city }}', 'Rome')],
	},
	{ name: 'a Code node that returns nothing', nodes: [code('weather', 'return [];')] },
	{
		name: 'a Merge that needs both sides of an IF',
		nodes: [
			when('weather', 'if', '={{ $json.city }}', 'Rome'),
			node('Both', base('merge'), 3.2, { parameters: { mode: 'chooseBranch' } }),
		],
		wires: { weather: [['Both'], ['Both#1']], Both: [['Agent']] },
	},
	{
		name: 'two Merges, each of which waits for its other input',
		questions: ['Rome'],
		nodes: [
			WEATHER,
			...['First', 'Then'].map((name) =>
				node(name, base('merge'), 3.2, {
					parameters: { mode: 'combine', combineBy: 'combineByPosition' },
				}),
			),
			when('Never', 'filter', 'a', 'b'),
		],
		wires: {
			weather: [['First', 'Then', 'Never']],
			Never: [['First#1', 'Then#1']],
			First: [['Agent']],
			Then: [['Agent']],
		},
	},
	{
		name: 'one call of two, all at once',
		questions: ['Rome, Nowhere'],
		nodes: [FILTER],
		parameters: ALL_AT_ONCE,
	},
	{
		name: 'both calls of a tool, all at once',
		questions: ['Nowhere', 'Nowhere'],
		nodes: [FILTER],
		parameters: ALL_AT_ONCE,
		message: /^Agent: Tool weather returned no item for 2 calls\b/,
	},
	{
		name: 'calls of two tools, all at once',
		tools: ['weather', 'time'],
		questions: ['Nowhere, time:Nowhere'],
		nodes: [FILTER, code('time', 'return [];')],
		wires: { ...BACK, time: [['Agent']] },
		parameters: ALL_AT_ONCE,
		message: /^Agent: Tools weather, time returned no item for 2 calls\b/,
		open: 'weather, time',
	},
	{
		name: 'Limit, all at once',
		questions: ['Rome, Oslo'],
		nodes: [node('weather', base('limit'), 1)],
		parameters: ALL_AT_ONCE,
	},
	{
		name: 'Remove Duplicates, all at once',
		questions: ['Rome, Oslo'],
		nodes: [WEATHER, node('Unique', base('removeDuplicates'), 2)],
		wires: { weather: [['Unique']], Unique: [['Agent']] },
		parameters: ALL_AT_ONCE,
	},
	{
		name: 'Execute Once, all at once',
		questions: ['Rome, Oslo'],
		nodes: [{ ...WEATHER, executeOnce: true }],
		parameters: ALL_AT_ONCE,
	},
	{
		name: 'a pinned node with one item, all at once',
		questions: ['Rome, Oslo'],
		nodes: [WEATHER],
		pinned: { weather: [{ degrees: 1 }] },
		parameters: ALL_AT_ONCE,
		message:
			/^Agent: (Tool weather returned no item for 1 call|Tool results came back without)/,
	},
	{
		name: 'in a Loop Over Items, which does not go on',
		questions: ['Nowhere', 'Rome'],
		nodes: [node('Loop', base('splitInBatches'), 3), FILTER],
		wires: {
			Questions: [['Loop']],
			Loop: [['Answers'], ['Agent']],
			Agent: [['Loop'], [], ['weather']],
			...BACK,
		},
		requests: 1,
	},
	{
		name: 'of an agent inside the branch of an agent',
		tools: ['ask'],
		questions: ['ask:Nowhere'],
		nodes: [INNER, FILTER],
		wires: { ask: [['Agent'], [], ['weather']], weather: [['ask']] },
		message: /^(ask: Tool weather|Agent: Tool ask) returned no item for 1 call\b/,
		open: like(/^(ask|weather)/),
		requests: 2,
	},
	{
		name: 'behind an agent inside the branch, which has answered',
		tools: ['ask'],
		questions: ['ask:Rome'],
		nodes: [INNER, WEATHER, code('Nothing', 'return [];')],
		wires: { ask: [['Nothing'], [], ['weather']], weather: [['ask']], Nothing: [['Agent']] },
		message: /^Agent: Tool ask returned no item for 1 call\b/,
		open: 'ask',
		requests: 3,
	},
	{
		name: 'Retry On Fail, which does not repeat the request',
		nodes: [FILTER],
		retryOnFail: true,
	},
];

describe('a branch that ends without an item for a call', () => {
	it.each(SILENT_ENDS.map((row): [string, SilentEnd] => [row.name, row]))(
		'fails the execution: %s',
		async (_name, { message = NO_ITEM, open = 'weather', requests, ...row }) => {
			const questions = row.questions ?? ['Nowhere'];
			const { answers, execution } = await agent.run({
				tools: ['weather'],
				wires: BACK,
				...row,
				questions,
			});
			expect({
				answers,
				failure: failureOf(execution),
				open: openCalls(execution),
				requests: agent.model.requests.length,
			}).toStrictEqual({
				answers: [],
				failure: like(message),
				open,
				requests: requests ?? questions.length,
			});
		},
		RUN_LIMIT_MS,
	);

	it.each([
		['On Error: Continue', 'continueRegularOutput', false],
		['On Error: Continue (using error output)', 'continueErrorOutput', false],
		['On Error: Continue and Retry On Fail', 'continueRegularOutput', true],
	] as const)(
		'fails its items only, with %s',
		async (_name, how, retryOnFail) => {
			const isSplit = how === 'continueErrorOutput';
			const { execution } = await agent.run({
				tools: ['weather'],
				questions: ['Nowhere', 'Hello', 'Rome'],
				nodes: [FILTER, noOp('Errors')],
				wires: {
					...BACK,
					Agent: [['Answers'], ['Stops'], ['weather'], ...(isSplit ? [['Errors']] : [])],
				},
				parameters: ALL_AT_ONCE,
				retryOnFail,
				nodeSettings: { onError: how },
			});
			expect(failureOf(execution)).toBe('');
			const outcomes = ['Answers', 'Errors'].map((at) =>
				outputItems(execution, at).map(({ json }) => json['error'] ?? json['output']),
			);
			const failure = 'Tool weather returned no item for 1 call';
			const answers = ['Hello:', 'Rome: {"city":"Rome"}'];
			expect(outcomes).toStrictEqual(
				isSplit ? [answers, [failure]] : [[failure, ...answers], []],
			);
			const [{ json: failed } = { json: {} }] = outputItems(
				execution,
				isSplit ? 'Errors' : 'Answers',
			);
			expect(failed).toMatchObject({
				message: like(/Always Output Data/),
				details: {
					rounds: 1,
					messages: [
						{ role: 'user', content: 'Nowhere' },
						{ role: 'assistant' },
						{ role: 'tool', tool_call_id: 'c1' },
					],
				},
			});
			expect(agent.model.requests).toHaveLength(4);
		},
		RUN_LIMIT_MS,
	);

	it(
		'fails the workflow that has called the workflow of the agent',
		async () => {
			const called = draw('Called with an agent', {
				tools: ['weather'],
				questions: ['Nowhere'],
				nodes: [FILTER],
				wires: BACK,
			});
			const trigger = node('Start', base('executeWorkflowTrigger'), 1.1, {
				parameters: { inputSource: 'passthrough' },
			});
			const { id } = await agent.client.importWorkflow({
				...called,
				nodes: called.nodes.map((each) => (each.name === 'Start' ? trigger : each)),
			});
			const execution = await agent.runWorkflow(
				workflow('Calls a workflow with an agent', [
					node('Start', base('manualTrigger'), 1),
					node('Call', base('executeWorkflow'), 1.2, {
						parameters: { workflowId: { __rl: true, mode: 'id', value: id } },
					}),
				]),
			);
			expect(failureOf(execution)).toMatch(/Tool weather returned no item for 1 call\b/);
			expect(agent.model.requests).toHaveLength(1);
		},
		RUN_LIMIT_MS,
	);
});

describe('Execute step', () => {
	it.each(['weather', 'Between'])(
		'on %s does not fail for want of a result',
		async (destination) => {
			const execution = await agent.runWorkflow(
				draw(`Execute step on ${destination}`, {
					tools: ['weather'],
					questions: ['Rome'],
					nodes: [WEATHER, noOp('Between'), noOp('Last')],
					wires: { weather: [['Between']], Between: [['Last']], Last: [['Agent']] },
				}),
				destination,
			);
			expect(failureOf(execution)).toBe('');
			expect(execution.status).toBe('success');
			expect(agent.model.requests).toHaveLength(1);
			expect(hints(execution)[0]).toMatch(/Waiting for weather.*whole workflow/);
		},
		RUN_LIMIT_MS,
	);
});

it.each([
	['oneAtATime', 'Waiting for weather'],
	['allAtOnce', 'Waiting for weather, time'],
])(
	'shows what it waits for in a hint and in the custom data, %s',
	async (runCalls, waiting) => {
		const { execution } = await agent.run({
			tools: ['weather', 'time'],
			questions: ['Rome, time:Oslo'],
			nodes: [WEATHER, set('time', '{ "noon": true }')],
			wires: { ...BACK, time: [['Agent']] },
			parameters: { options: { runCalls } },
		});
		const shown = hints(execution);
		expect(shown[0]).toBe(waiting);
		expect(shown.at(-1)).toBe('');
		expect(openCalls(execution)).toBe('none');
	},
	RUN_LIMIT_MS,
);

describe('an execution that was suspended in a branch', () => {
	it.each([
		['continues with the result', set('After', '{ "resumed": true }'), '', 'none'],
		['fails without an item', code('After', 'return [];'), NO_ITEM, 'weather'],
	])(
		'%s',
		async (name, after, failure, open) => {
			const { client } = agent;
			const ref = await client.importWorkflow(
				draw(`Suspended: ${name}`, {
					tools: ['weather'],
					questions: ['Rome'],
					nodes: [
						set('weather', '={{ { "url": $execution.resumeUrl } }}'),
						node('Pause', base('wait'), 1.1, {
							parameters: { resume: 'webhook' },
							webhookId: 'pause',
						}),
						after,
					],
					wires: { weather: [['Pause']], Pause: [['After']], After: [['Agent']] },
				}),
			);
			// The Wait node suspends the execution until its address is called.
			let isResumed = false;
			const onProgress = async (execution: Execution) => {
				if (execution.status !== 'waiting' || isResumed) return;
				isResumed = true;
				const [item] = outputItems(execution, 'weather');
				await fetch(String(item!.json['url']));
			};
			const id = await client.run(ref, 'Start');
			const execution = await client.waitForExecution(id, { onProgress });
			expect(isResumed).toBe(true);
			expect({
				answers: outputItems(execution, 'Answers').map(({ json }) => json['output']),
				failure: failureOf(execution),
				open: openCalls(execution),
			}).toStrictEqual({
				answers: failure === '' ? ['Rome: {"resumed":true}'] : [],
				failure: failure === '' ? '' : like(NO_ITEM),
				open,
			});
			expect(agent.model.requests).toHaveLength(failure === '' ? 2 : 1);
		},
		RUN_LIMIT_MS,
	);
});

/** Branches of two calls of a round, all at once: Rome and Athens. */
const KEEPS = '{ ...json, degrees: json.city.length }';
const DROPS = '{ degrees: json.city.length }';
const RIGHT = 'Rome, Athens: {"degrees":4} {"degrees":6}';
const RIGHT_WITH_CITY = 'Rome, Athens: {"city":"Rome","degrees":4} {"city":"Athens","degrees":6}';
const LOST = /^Agent: Tool results came back without the link to their tool call/;

const MATCHES: readonly (readonly [string, INode, string | RegExp])[] = [
	[
		'another order with pairedItem',
		code(
			'weather',
			`return items.map(({ json }, item) => ({ json: ${DROPS}, pairedItem: { item } })).reverse();`,
		),
		RIGHT,
	],
	[
		'another order with pairedItem and tool_call',
		code(
			'weather',
			`return items.map(({ json }, item) => ({ json: ${KEEPS}, pairedItem: { item } })).reverse();`,
		),
		RIGHT_WITH_CITY,
	],
	[
		'another order with tool_call, without pairedItem',
		code('weather', `return items.map(({ json }) => ({ json: ${KEEPS} })).reverse();`),
		RIGHT_WITH_CITY,
	],
	[
		'tool_call that contradicts pairedItem',
		code(
			'weather',
			`return items.map(({ json }, item) => ({ json: ${KEEPS}, pairedItem: { item: 1 - item } }));`,
		),
		/^Agent: Tool results came back without the link\b.*pairedItem.*One at a Time/s,
	],
	[
		'the same order without pairedItem',
		code('weather', `return items.map(({ json }) => ({ json: ${DROPS} }));`),
		LOST,
	],
	[
		'more items than calls with tool_call, without pairedItem',
		code(
			'weather',
			`return items.flatMap(({ json }) => [1, 2].map((n) => ({ json: { n, tool_call: json.tool_call } })));`,
		),
		'Rome, Athens: [{"n":1},{"n":2}] [{"n":1},{"n":2}]',
	],
	[
		'more items than calls without tool_call and pairedItem',
		code('weather', 'return [1, 2, 3].map((n) => ({ json: { n } }));'),
		LOST,
	],
	[
		'items that are linked to both calls, with tool_call',
		code(
			'weather',
			`return items.map(({ json }) => ({ json: ${KEEPS}, pairedItem: [0, 1] })).reverse();`,
		),
		RIGHT_WITH_CITY,
	],
	[
		'items that are linked to both calls, without tool_call',
		code(
			'weather',
			`return items.map(({ json }) => ({ json: ${DROPS}, pairedItem: [0, 1] }));`,
		),
		LOST,
	],
	[
		'Aggregate',
		node('weather', base('aggregate'), 1, {
			parameters: { aggregate: 'aggregateAllItemData' },
		}),
		LOST,
	],
	[
		'a Code node that fails, with On Error: Continue',
		onError(code('weather', "throw new Error('No such city');"), 'continueRegularOutput'),
		NO_ITEM_OR_LINK,
	],
];

describe('All of a Round at Once', () => {
	it.each(MATCHES)(
		'%s',
		async (_name, branch, expected) => {
			const { answers, execution } = await agent.run({
				tools: ['weather'],
				questions: ['Rome, Athens'],
				nodes: [branch],
				wires: BACK,
				parameters: ALL_AT_ONCE,
			});
			const isRejected = typeof expected !== 'string';
			expect({
				answers: answers.map(({ output }) => output),
				failure: failureOf(execution),
			}).toStrictEqual({
				answers: isRejected ? [] : [expected],
				failure: isRejected ? like(expected) : '',
			});
			expect(agent.model.requests).toHaveLength(isRejected ? 1 : 2);
		},
		RUN_LIMIT_MS,
	);

	it(
		'gives a call its own error when another one of the round succeeds',
		async () => {
			const url = `=${agent.model.url}/{{ $json.city === 'Rome' ? 'json/Rome' : 'nothing' }}`;
			await agent.run({
				tools: ['weather'],
				questions: ['Athens, Rome'],
				nodes: [
					onError(
						node('weather', base('httpRequest'), 4.2, { parameters: { url } }),
						'continueRegularOutput',
					),
				],
				wires: BACK,
				parameters: ALL_AT_ONCE,
			});
			expect(agent.toolResults()).toStrictEqual([like(/^\{"error":"/), '{"found":"Rome"}']);
		},
		RUN_LIMIT_MS,
	);

	it(
		'takes the items of a pinned node by position',
		async () => {
			await agent.run({
				tools: ['weather'],
				questions: ['Rome, Athens'],
				nodes: [WEATHER],
				wires: BACK,
				pinned: { weather: [{ pinned: 1 }, { pinned: 2 }] },
				parameters: ALL_AT_ONCE,
			});
			expect(agent.toolResults()).toStrictEqual(['{"pinned":1}', '{"pinned":2}']);
		},
		RUN_LIMIT_MS,
	);
});

describe('results', () => {
	it.each(['oneAtATime', 'allAtOnce'])(
		'names the files of a branch to the model and returns them at Answer, %s',
		async (runCalls) => {
			const { execution } = await agent.run({
				tools: ['weather'],
				questions: ['Rome, Athens', 'Hello'],
				nodes: [
					node('weather', base('convertToFile'), 1.1, {
						parameters: {
							operation: 'toText',
							sourceProperty: 'city',
							options: { fileName: '={{ $json.city }}.txt' },
						},
					}),
				],
				wires: BACK,
				parameters: { options: { runCalls } },
			});
			const requests = agent.model.requests.map(({ messages }) => messages);
			const sent = requests.find((messages) => messages.length === 4) ?? [];
			expect(
				sent.slice(2).map(({ content }) => JSON.parse(String(content)) as unknown),
			).toMatchObject(
				[
					['data', 'Rome.txt'],
					['data_2', 'Athens.txt'],
				].map(([field, name]) => ({
					binary_data: [
						{ field, name, type: 'text/plain', size: expect.anything() as unknown },
					],
				})),
			);
			const [answer, hello] = outputItems(execution, 'Answers');
			expect(Object.keys(answer?.binary ?? {}).sort()).toStrictEqual(['data', 'data_2']);
			const files = ['data', 'data_2'].map((field) => binaryOf(answer!, field));
			const texts = await Promise.all(files.map((file) => agent.client.download(file)));
			expect(texts.map(String)).toStrictEqual(['Rome', 'Athens']);
			expect(hello?.binary).toBeUndefined();
		},
		RUN_LIMIT_MS,
	);

	it(
		"keeps a tool's own field tool_call",
		async () => {
			await agent.run({
				tools: ['weather'],
				questions: ['Rome'],
				nodes: [set('weather', '{ "tool_call": "call a plumber", "degrees": 4 }')],
				wires: BACK,
			});
			expect(agent.toolResults()).toStrictEqual([
				'{"tool_call":"call a plumber","degrees":4}',
			]);
		},
		RUN_LIMIT_MS,
	);

	it.each([
		[
			'HTTP Request without a server, error output',
			onError(
				node('weather', base('httpRequest'), 4.2, {
					parameters: { url: 'http://127.0.0.1:1/' },
				}),
				'continueErrorOutput',
			),
			/refused/i,
		],
		[
			'HTTP Request without a server, On Error: Continue',
			onError(
				node('weather', base('httpRequest'), 4.2, {
					parameters: { url: 'http://127.0.0.1:1/' },
				}),
				'continueRegularOutput',
			),
			/refused/i,
		],
		[
			'Code, error output',
			onError(code('weather', "throw new Error('No such city');"), 'continueErrorOutput'),
			/No such city/,
		],
		[
			'Code, On Error: Continue',
			onError(code('weather', "throw new Error('No such city');"), 'continueRegularOutput'),
			/No such city/,
		],
		['a node that throws and passes its input on, On Error: Continue', FAILING, /wait amount/i],
		[
			'a branch that returns an error with its stack',
			code(
				'weather',
				"return [{ json: { error: { message: 'No such city', stack: new Error('No such city').stack } } }];",
			),
			/No such city/,
		],
	])(
		'tells an error in a sentence or two: %s',
		async (_name, branch, told) => {
			const { execution } = await agent.run({
				tools: ['weather'],
				questions: ['Rome'],
				nodes: [branch],
				wires: {
					weather:
						branch.onError === 'continueErrorOutput' ? [[], ['Agent']] : [['Agent']],
				},
			});
			expect(failureOf(execution)).toBe('');
			const [result] = agent.toolResults();
			const { error } = JSON.parse(String(result)) as { error?: unknown };
			expect([error, result]).toStrictEqual([like(told), expect.any(String)]);
			expect(result).not.toMatch(/\bat .*:\d+|node_modules|\.js\b|stack/);
			expect(String(result).length).toBeLessThan(300);
		},
		RUN_LIMIT_MS,
	);

	it.each([
		['one at a time', 'oneAtATime', [noOp('Then')], { Then: [['Agent']] }],
		['all at once', 'allAtOnce', [noOp('Then')], { Then: [['Agent']] }],
		[
			'on two ways into a Merge',
			'oneAtATime',
			[noOp('Then'), node('Both', base('merge'), 3.2)],
			{ weather: [['Then', 'Both']], Then: [['Both#1']], Both: [['Agent']] },
		],
	] as const)(
		'tells the error of a node that has passed the call on, %s',
		async (_name, runCalls, nodes, wires) => {
			const { execution } = await agent.run({
				tools: ['weather'],
				questions: ['Rome, Oslo'],
				nodes: [FAILING, ...nodes],
				wires: { weather: [['Then']], ...wires },
				parameters: { options: { runCalls } },
			});
			expect(failureOf(execution)).toBe('');
			const error = { error: like(/wait amount/i) };
			expect(agent.toolResults().map((text) => JSON.parse(String(text)) as unknown)).toEqual([
				error,
				error,
			]);
		},
		RUN_LIMIT_MS,
	);

	it(
		'says that the result is the arguments where the node of a tool is disabled',
		async () => {
			const { execution } = await agent.run({
				tools: ['weather'],
				questions: ['Rome'],
				nodes: [{ ...set('weather', '{ "degrees": 4 }'), disabled: true }],
				wires: BACK,
			});
			expect(hints(execution)).toContain(
				'The result is the arguments of the call: no node has changed them in the branch of weather',
			);
		},
		RUN_LIMIT_MS,
	);

	it.each([
		['oneAtATime', 'Rome, Oslo: {"city":"Rome"} {"city":"Oslo"}'],
		['allAtOnce', 'Rome, Oslo: {"city":"Rome"} {"city":"Oslo"}'],
	])(
		'loses none with Execute Once, which asks the first question, %s',
		async (runCalls, answer) => {
			const { answers, execution } = await agent.run({
				tools: ['weather'],
				questions: ['Rome, Oslo', 'Athens'],
				nodes: [noOp('weather')],
				wires: BACK,
				parameters: { options: { runCalls } },
				nodeSettings: { executeOnce: true },
			});
			expect(failureOf(execution)).toBe('');
			expect(answers.map(({ output }) => output)).toStrictEqual([answer]);
		},
		RUN_LIMIT_MS,
	);

	it.each(['oneAtATime', 'allAtOnce'])(
		'closes the open calls in the messages of Stopped, %s',
		async (runCalls) => {
			let round = 0;
			agent.model.replyWith(() => {
				round++;
				return ['Rome', 'Oslo'].map((city, n) =>
					call(`r${round}c${n}`, 'weather', { city: `${city}${round}` }),
				);
			});
			const { stops } = await agent.run({
				tools: ['weather'],
				nodes: [WEATHER],
				wires: BACK,
				parameters: { options: { runCalls, maxRounds: 2 } },
			});
			expect(stops[0]!['messages']).toMatchObject([
				{ role: 'user' },
				{ role: 'assistant' },
				{ role: 'tool', tool_call_id: 'r1c0', content: '{"degrees":5}' },
				{ role: 'tool', tool_call_id: 'r1c1', content: '{"degrees":5}' },
				{ role: 'assistant' },
				{ role: 'tool', tool_call_id: 'r2c0', content: like(/\w/) },
				{ role: 'tool', tool_call_id: 'r2c1', content: like(/\w/) },
			]);
		},
		RUN_LIMIT_MS,
	);
});

it.each(['oneAtATime', 'allAtOnce'])(
	'adds no empty answers with Always Output Data, %s',
	async (runCalls) => {
		const { answers, execution } = await agent.run({
			tools: ['weather'],
			questions: ['Rome, Athens', 'Hello'],
			nodes: [WEATHER],
			wires: BACK,
			parameters: { options: { runCalls } },
			nodeSettings: { alwaysOutputData: true },
		});
		expect(answers.map(({ output }) => output)).toStrictEqual([RIGHT, 'Hello:']);
		expect(execution.data.resultData.runData['Answers']).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);
