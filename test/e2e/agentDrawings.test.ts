// @seconds 30
/**
 * The loop of the agent through n8n's own nodes: those that join, split, loop, wait, lose links or fail, and how n8n ends such
 * an execution. What needs no node of n8n is in test/nodes/agentDrawings.test.ts.
 */
import type { INode } from 'n8n-workflow';

import { binaryOf, failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { readWays } from '../support/readWays';
import { startAgentSession, type AgentSession } from './support/agentSession';
import { node, workflow } from './support/buildWorkflow';
import {
	agentNode,
	asks,
	base,
	code,
	draw,
	noOp,
	set,
	start,
	subWorkflow,
	WEATHER,
	when,
	type Drawing,
} from './support/drawAgent';
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

/** A drawing by its connections, see readWays, and the nodes behind the outputs of the agent. */
interface Row extends Partial<Omit<Drawing, 'wires'>> {
	readonly ways?: string;
	/** The node that the answers arrive at; of the last run only, where that has all of them. */
	readonly answersAt?: string;
}

const drawing = ({ ways = 'weather > Agent', answersAt: _at, ...row }: Row): Drawing => ({
	...{ tools: ['weather'], questions: ['Rome'], nodes: [] },
	...row,
	wires: readWays(ways),
});
const like = (pattern: RegExp) => expect.stringMatching(pattern) as string;

const V0 = { executionOrder: 'v0' } as const;
const ALL = { parameters: { options: { runCalls: 'allAtOnce' } } };
const FIXED = { prompt: 'Hello', options: { retries: 0 } };
const ROME = 'Rome: {"degrees":4}';
const TWO = ['Rome, Athens'];
const LOST = /^Agent: Tool results came back without the link to their tool call \(from \w+\)/;
const NO_ITEM = /^Agent: Tool weather returned no item for \d calls?\b.*Always Output Data/;
const BOUND = /^Agent: Answer, Stopped or Error has led back to the input 10 times in a row/;
const NOWHERE = when('weather', 'filter', '={{ $json.city }}', 'Rome');

const onError = (each: INode, how: 'continueRegularOutput' | 'continueErrorOutput'): INode => ({
	...each,
	onError: how,
});
const merge = (parameters: object = {}) => node('Both', base('merge'), 3.2, { parameters });
const position = (options: object = {}) =>
	merge({ mode: 'combine', combineBy: 'combineByPosition', options });
const loop = (name: string, reset?: string | boolean, batchSize = 1) =>
	node(name, base('splitInBatches'), 3, {
		parameters: { batchSize, options: reset === undefined ? {} : { reset } },
	});
const other = (name: string, tools: readonly string[], prompt: string): INode => ({
	...agentNode({ tools, parameters: { prompt } }),
	...{ id: name.toLowerCase(), name },
});
const AGGREGATE = node('weather', base('aggregate'), 1, {
	parameters: { aggregate: 'aggregateAllItemData' },
});
const NEW_ITEMS = 'return items.map(({ json: { city } }) => ({ json: { city } }))';
const EACH = 'weather > Inner > Agent; Inner:1 > Each > Inner';
const JOINED = 'weather > Both > Agent; time > Both#1';
const TWO_TOOLS = { tools: ['weather', 'time'], nodes: [WEATHER, set('time', '{ "noon": true }')] };
const joined = (both: INode, more: Row = {}): Row => ({
	...{ ...TWO_TOOLS, ways: JOINED, ...more },
	nodes: [...TWO_TOOLS.nodes, both],
});
const TOLD = set('Told', '{ "degrees": 4 }');
const AROUND = 'Questions > Loop > All; Loop:1 > Agent > Loop; Agent:2 > weather > Agent';

/** What comes out: the answers, or the error that ends the execution. Requests: two for each answer, and one for each error. */
const ROWS: readonly [string, Row, readonly string[] | RegExp, requests?: number][] = [
	[
		'a Merge of both sides of an IF, for two sources of questions',
		{
			ways: 'Start > Questions, Second; Second > Agent; weather > Warm > Both > Agent; weather:1 > Cold > Both#1',
			nodes: [
				asks('Second', 'Athens'),
				when('weather', 'if', '={{ $json.city }}', 'Rome'),
				set('Warm', '={{ { "warm": $json.city } }}'),
				set('Cold', '={{ { "cold": $json.city } }}'),
				merge(),
			],
		},
		['Rome: {"warm":"Rome"}', 'Athens: {"cold":"Athens"}'],
	],
	[
		'Loop Over Items around the agent, in batches',
		{
			ways: AROUND,
			questions: ['Hello', 'Rome', 'Hello again', 'Reykjavik, Rome'],
			nodes: [loop('Loop', undefined, 3), noOp('All'), WEATHER],
			answersAt: 'All',
		},
		['Hello:', ROME, 'Hello again:', 'Reykjavik, Rome: {"degrees":9} {"degrees":4}'],
		6,
	],
	...["={{ $prevNode.name !== 'Each' }}", "={{ $('Inner').context.done }}"].map(
		(reset): (typeof ROWS)[number] => [
			`Loop Over Items in the branch with Reset ${reset}`,
			{
				ways: EACH,
				questions: TWO,
				nodes: [
					code('weather', 'return [1, 2].map((n) => ({ json: { n } }));'),
					loop('Inner', reset),
					set('Each', '={{ { "n": $json.n * 2 } }}'),
				],
			},
			['Rome, Athens: [{"n":2},{"n":4}] [{"n":2},{"n":4}]'],
		],
	),
	[
		'a Wait in the branch',
		{
			ways: 'weather > Told > Agent',
			nodes: [
				node('weather', base('wait'), 1.1, {
					parameters: { amount: 0.1, unit: 'seconds' },
				}),
				TOLD,
			],
		},
		[ROME],
	],
	[
		'two agents, one after another',
		{
			ways: 'weather > Agent; Answers > After > Last; After:2 > time > After',
			nodes: [
				other('After', ['time'], '={{ "time:" + $json.output.slice(0, 4) }}'),
				WEATHER,
				set('time', '={{ { "noon": $json.city } }}'),
				noOp('Last'),
			],
			answersAt: 'Last',
		},
		['time:Rome: {"noon":"Rome"}'],
		4,
	],
	[
		'a Merge of the questions and the branch',
		{
			ways: 'Questions > Both > Agent; weather > Both#1',
			nodes: [WEATHER, merge()],
		},
		[ROME],
	],
	[
		'Combine by position of two tools, with unpaired items',
		joined(position({ includeUnpaired: true })),
		[ROME],
	],
	[
		'Combine by position of two tools, which also lead back by themselves',
		joined(position(), { ways: 'weather > Agent, Both; time > Agent, Both#1; Both > Agent' }),
		[ROME],
	],
	['Combine by position of two tools', joined(position()), NO_ITEM],
	['Combine by position of two tools, v0', joined(position(), V0), NO_ITEM],
	[
		'Loop Over Items in the branch of an agent in the branch',
		{
			ways: 'weather > Told > Agent; weather:2 > time > Inner > weather; Inner:1 > Each > Inner',
			nodes: [
				other('weather', ['time'], 'Hello'),
				noOp('time'),
				loop('Inner', "={{ $prevNode.name === 'time' }}"),
				noOp('Each'),
				TOLD,
			],
		},
		[ROME],
		3,
	],
	[
		'an agent in the loop of a Loop Over Items in the branch',
		{
			ways: 'weather > Inner > Agent; Inner:1 > Other > Told > Inner; Other:2 > time > Other',
			nodes: [
				noOp('weather'),
				loop('Inner', "={{ $prevNode.name === 'weather' }}"),
				other('Other', ['time'], 'Hello'),
				noOp('time'),
				TOLD,
			],
		},
		[ROME],
		3,
	],
	[
		'questions and results through the same Loop Over Items, with a link past the agent',
		{
			ways: `Start > Questions, Second; Second > Inner; ${EACH}`,
			nodes: [
				WEATHER,
				asks('Second', 'Athens'),
				loop('Inner', "={{ ['weather', 'Second'].includes($prevNode.name) }}"),
				code(
					'Each',
					"return [{ json: { degrees: 4 }, pairedItem: { item: 0, sourceOverwrite: { previousNode: 'Second' } } }];",
				),
			],
			parameters: { prompt: 'Rome', options: { maxRounds: 4 } },
		},
		[ROME, ROME],
	],
	[
		'an item of an earlier run of the branch',
		{
			ways: 'weather > Told > Agent',
			questions: TWO,
			nodes: [noOp('weather'), code('Told', 'return [$("weather").first(0, 0)];')],
		},
		['Rome, Athens: {"city":"Rome"} {"city":"Rome"}'],
	],
	...(
		[
			['a Code node that reorders', code('weather', `${NEW_ITEMS}.reverse();`), LOST],
			[
				'a Function node',
				node('weather', base('function'), 1, {
					parameters: { functionCode: `${NEW_ITEMS};` },
				}),
				LOST,
			],
			['a sub-workflow, once for both calls', subWorkflow('once'), LOST],
			['Aggregate', AGGREGATE, LOST],
			[
				'the first item of the agent',
				code('weather', 'return items.map(() => ({ ...$("Agent").first(), json: {} }));'),
				LOST,
			],
			[
				'a Code node that fails, with On Error: Continue',
				onError(
					code('weather', "throw new Error('No such city');"),
					'continueRegularOutput',
				),
				/^Agent: Tool (weather returned no item for 1 call|results came back without the link)/,
			],
			['Limit', node('weather', base('limit'), 1), NO_ITEM],
			[
				'a Code node with links',
				code(
					'weather',
					`${NEW_ITEMS}.map((each, item) => ({ ...each, pairedItem: item })).reverse();`,
				),
				['Rome, Athens: {"city":"Rome"} {"city":"Athens"}'],
			],
			[
				'a Code node once for each item',
				node('weather', base('code'), 2, {
					parameters: {
						mode: 'runOnceForEachItem',
						jsCode: 'return { json: { city: $json.city } };',
					},
				}),
				['Rome, Athens: {"city":"Rome"} {"city":"Athens"}'],
			],
		] as const
	).map(([name, branch, expected]): (typeof ROWS)[number] => [
		`both calls of a round at once: ${name}`,
		{ nodes: [branch], questions: TWO, ...ALL },
		expected,
	]),
	[
		'both calls of a round at once: a pinned node',
		{
			...{ nodes: [WEATHER], questions: TWO, ...ALL },
			pinned: { weather: [{ pinned: 1 }, { pinned: 2 }] },
		},
		['Rome, Athens: {"pinned":1} {"pinned":2}'],
	],
	[
		'a Merge that needs both sides of an IF',
		{
			ways: 'weather > Both > Agent; weather:1 > Both#1',
			nodes: [
				when('weather', 'if', '={{ $json.city }}', 'Oslo'),
				merge({ mode: 'chooseBranch' }),
			],
		},
		NO_ITEM,
	],
	[
		'two Merges, each of which waits for its other input',
		{
			ways: 'weather > Both, Then, Never; Never > Both#1, Then#1; Both > Agent; Then > Agent',
			nodes: [
				WEATHER,
				position(),
				{ ...position(), id: 'then', name: 'Then' },
				when('Never', 'filter', 'a', 'b'),
			],
		},
		NO_ITEM,
	],
	[
		'a Filter in a Loop Over Items, which does not go on',
		{
			ways: AROUND,
			questions: ['Oslo', 'Rome'],
			nodes: [loop('Loop'), noOp('All'), NOWHERE],
		},
		NO_ITEM,
	],
	[
		'a Merge of the branch and questions of two sources',
		{
			ways: 'Start > Questions, Second; Questions > Both > Agent; Second > Both; weather > Both#1',
			nodes: [WEATHER, asks('Second', 'Athens'), merge()],
		},
		/^Agent: Tool results came back without the link .*\(from Both\).*a connection of their own/,
	],
	[
		'Append with rows from outside',
		{
			ways: 'Start > Questions, Rows; Rows > Both#1; weather > Both > Agent',
			nodes: [WEATHER, set('Rows', '{ "unit": "C" }'), merge()],
		},
		/^Agent: Both gets items of Rows, which no tool call brings\b/,
		0,
	],
	[
		'Loop Over Items without Reset',
		{ ways: EACH, nodes: [WEATHER, loop('Inner'), noOp('Each')] },
		/^Agent: Inner has no expression for Reset\b/,
		0,
	],
	[
		'answers through a Merge with the questions, without an end',
		{
			ways: 'Questions > Both > Agent; Answers > Both#1',
			...{ nodes: [merge()], tools: [], parameters: FIXED },
		},
		BOUND,
		11,
	],
	[
		'answers through the done output of Loop Over Items',
		{
			ways: 'Answers > Inner > Agent; Inner:1 > Each > Inner',
			...{ nodes: [loop('Inner'), noOp('Each')], tools: [], parameters: FIXED },
		},
		BOUND,
		// n8n gives all items of earlier rounds again.
		8,
	],
	[
		'answers through a Loop Over Items that always begins again',
		{
			ways: 'Answers > Inner > All; Inner:1 > Agent',
			...{ nodes: [loop('Inner', true), noOp('All')], tools: [], parameters: FIXED },
		},
		BOUND,
		11,
	],
	[
		'answers through an IF, with Loop Over Items in the branch of the tool',
		{
			ways: `Answers > Bad > Agent; ${EACH}`,
			nodes: [
				WEATHER,
				loop('Inner', "={{ $prevNode.name === 'weather' }}"),
				noOp('Each'),
				when('Bad', 'if', 'a', 'a'),
			],
			parameters: { prompt: 'Rome' },
		},
		BOUND,
		22,
	],
	[
		'Loop Over Items with 30 questions',
		{
			ways: 'Questions > Loop > All; Loop:1 > Agent; Answers > Loop',
			questions: Array.from({ length: 30 }, (_each, index) => `Hello ${index}`),
			...{ nodes: [loop('Loop'), noOp('All')], tools: [] },
			answersAt: 'All',
		},
		Array.from({ length: 30 }, (_each, index) => `Hello ${index}:`),
		30,
	],
	[
		'Loop Over Items in another one, with Reset by an expression',
		{
			ways: 'Questions > Loop > All; Loop:1 > More > Inner > Loop; Inner:1 > Agent; Answers > Inner',
			questions: ['Hello 1', 'Hello 2', 'Hello 3'],
			nodes: [
				loop('Loop'),
				asks('More', 'a', 'b', 'c', 'd'),
				loop('Inner', "={{ $prevNode.name === 'More' }}"),
				noOp('All'),
			],
			...{ tools: [], parameters: FIXED },
		},
		Array<string>(12).fill('Hello:'),
		12,
	],
	[
		'Loop Over Items with 12 questions, each of which is asked twice',
		{
			ways: 'Questions > Loop > All; Loop:1 > Agent; Answers > Second > Loop; Second:1 > Again > Agent',
			questions: Array<string>(12).fill('Hello'),
			nodes: [
				loop('Loop'),
				noOp('All'),
				when('Second', 'if', '={{ $runIndex % 2 + "" }}', '1'),
				set('Again', '={{ { "question": "Hello" } }}'),
			],
			...{ tools: [], answersAt: 'All' },
		},
		Array<string>(12).fill('Hello:'),
		24,
	],
];

it.each(ROWS)(
	'%s',
	async (name, row, expected, requests = -1) => {
		const execution = await agent.runWorkflow(draw(name.slice(0, 100), drawing(row)));
		const runs = execution.data.resultData.runData[row.answersAt ?? ''] ?? [];
		const answers = row.answersAt
			? (runs.at(-1)?.data?.['main']?.[0] ?? [])
			: outputItems(execution, 'Answers');
		const isFailing = expected instanceof RegExp;
		const failure = failureOf(execution);
		if (isFailing) expect(failure).toMatch(expected);
		else
			expect([failure, answers.map(({ json }) => json['output']).sort()]).toStrictEqual([
				'',
				[...expected].sort(),
			]);
		const usual = isFailing ? 1 : 2 * expected.length;
		expect(agent.model.requests).toHaveLength(requests < 0 ? usual : requests);
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
		'Code, On Error: Continue',
		onError(code('weather', "throw new Error('No such city');"), 'continueRegularOutput'),
		/No such city/,
	],
	[
		'a node that throws and passes its input on, On Error: Continue',
		onError(
			node('weather', base('wait'), 1.1, {
				parameters: { amount: '={{ "soon" }}', unit: 'seconds' },
			}),
			'continueRegularOutput',
		),
		/wait amount/i,
	],
])(
	'tells the model an error in a sentence or two: %s',
	async (_name, branch, told) => {
		const output = branch.onError === 'continueErrorOutput' ? 'weather:1' : 'weather';
		const { execution } = await agent.run(
			drawing({ ways: `${output} > Agent`, nodes: [branch] }),
		);
		expect(failureOf(execution)).toBe('');
		const [result] = agent.toolResults();
		expect(JSON.parse(String(result))).toMatchObject({ error: like(told) });
		expect(result).not.toMatch(/\bat .*:\d+|node_modules|\.js\b|stack/);
		expect(String(result).length).toBeLessThan(300);
	},
	RUN_LIMIT_MS,
);

it(
	'names the files of a branch to the model and returns them at Answer',
	async () => {
		const file = node('weather', base('convertToFile'), 1.1, {
			parameters: {
				operation: 'toText',
				sourceProperty: 'city',
				options: { fileName: '={{ $json.city }}.txt' },
			},
		});
		const { execution } = await agent.run(
			drawing({ nodes: [file], questions: [...TWO, 'Hello'], ...ALL }),
		);
		const requests = agent.model.requests.map(({ messages }) => messages);
		const sent = requests.find((messages) => messages.length === 4)!.slice(2);
		const fields = [
			['data', 'Rome.txt'],
			['data_2', 'Athens.txt'],
		];
		expect(sent.map(({ content }) => JSON.parse(String(content)) as unknown)).toMatchObject(
			fields.map(([field, name]) => ({ binary_data: [{ field, name, type: 'text/plain' }] })),
		);
		const [answer, hello] = outputItems(execution, 'Answers');
		const files = fields.map(([field]) => binaryOf(answer!, field!));
		const texts = await Promise.all(files.map((each) => agent.client.download(each)));
		expect(texts.map(String)).toStrictEqual(['Rome', 'Athens']);
		expect(hello?.binary).toBeUndefined();
	},
	RUN_LIMIT_MS,
);

it.each([
	['continues with the result', set('After', '{ "resumed": true }'), ''],
	['fails without an item', code('After', 'return [];'), NO_ITEM],
])(
	'an execution that was suspended in a branch %s',
	async (name, after, failure) => {
		const { client } = agent;
		const nodes = [
			set('weather', '={{ { "url": $execution.resumeUrl } }}'),
			node('Pause', base('wait'), 1.1, {
				parameters: { resume: 'webhook' },
				webhookId: 'pause',
			}),
			after,
		];
		const ways = 'weather > Pause > After > Agent';
		const ref = await client.importWorkflow(
			draw(`Suspended: ${name}`, drawing({ ways, nodes })),
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
		expect(failureOf(execution)).toMatch(failure || /^$/);
		expect(execution.data.resultData.metadata?.['agent_video_open_calls']).toBe(
			failure ? 'weather' : 'none',
		);
		expect(outputItems(execution, 'Answers').map(({ json }) => json['output'])).toStrictEqual(
			failure ? [] : ['Rome: {"resumed":true}'],
		);
		expect(agent.model.requests).toHaveLength(failure ? 1 : 2);
	},
	RUN_LIMIT_MS,
);

describe('an execution that fails at its end', () => {
	/** The drawing with another node at its start. */
	const startedBy = (name: string, trigger: INode, row: Row) => {
		const drawn = draw(name, drawing(row));
		const nodes = drawn.nodes.map((each) => (each.name === 'Start' ? trigger : each));
		return { ...drawn, nodes };
	};

	it(
		'for a conversation that stops where Stopped is not connected fails for the caller of its webhook',
		async () => {
			const path = 'agent-stops';
			const trigger = node('Start', base('webhook'), 2.1, {
				parameters: { httpMethod: 'POST', path, responseMode: 'lastNode' },
				webhookId: path,
			});
			const ways = 'Agent > Answers; Agent:2 > weather > Agent';
			const parameters = { options: { maxRounds: 1 } };
			const ref = await agent.client.importWorkflow(
				startedBy('Asked by webhook', trigger, { ways, nodes: [WEATHER], parameters }),
			);
			await agent.client.activate(ref);
			const answer = postWebhook(`${agent.n8n.url}/webhook/${path}`, {});
			await expect(answer).rejects.toThrow(/status 500/);
			expect(failureOf(await agent.client.lastExecution(ref))).toMatch(
				/^Agent: Stopped has no connection, and 1 conversation left through it\b/,
			);
		},
		RUN_LIMIT_MS,
	);

	it(
		'for a branch without an item fails for the workflow that has called it',
		async () => {
			const trigger = node('Start', base('executeWorkflowTrigger'), 1.1, {
				parameters: { inputSource: 'passthrough' },
			});
			const { id } = await agent.client.importWorkflow(
				startedBy('Called', trigger, { nodes: [NOWHERE], questions: ['Oslo'] }),
			);
			const execution = await agent.runWorkflow(
				workflow('Calls', [
					start,
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
