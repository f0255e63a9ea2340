// @seconds 30
/**
 * The loop of the agent through n8n's own nodes: those that join, split, loop, wait, lose links or fail, and how n8n ends such
 * an execution. What needs no node of n8n is in test/nodes/agentDrawings.test.ts.
 */
import type { INode } from 'n8n-workflow';

import { binaryOf, failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { readWays } from '../support/readWays';
import { answersOf, useAgentSession } from './support/agentSession';
import { calledTrigger, calls, node, webhook, workflow } from './support/buildWorkflow';
import {
	agentNode,
	asks,
	base,
	code,
	draw,
	items,
	noOp,
	set,
	start,
	subWorkflow,
	WEATHER,
	when,
	type Drawing,
} from './support/drawAgent';
import { RUN_LIMIT_MS } from './support/session';

const agent = useAgentSession();

beforeEach(() => {
	agent.looksUpCities();
});

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
const BOUND = /^Agent: Answer, Stopped or Error has led back to the input too often in a row/;
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
					items('weather', { n: 1 }, { n: 2 }),
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
			['a sub-workflow, once for both calls', subWorkflow('once'), LOST],
			['Aggregate', AGGREGATE, LOST],
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
					'return items.map(({ json: { city } }, item) => ({ json: { city }, pairedItem: item })).reverse();',
				),
				['Rome, Athens: {"city":"Rome"} {"city":"Athens"}'],
			],
		] as const
	).map(([name, branch, expected]): (typeof ROWS)[number] => [
		`both calls of a round at once: ${name}`,
		{ nodes: [branch], questions: TWO, ...ALL },
		expected,
	]),
	[
		'both calls of a round one at a time: Aggregate',
		{
			ways: 'weather > All > Agent',
			questions: TWO,
			nodes: [items('weather', { n: 1 }, { n: 2 }), { ...AGGREGATE, id: 'all', name: 'All' }],
		},
		['Rome, Athens: {"data":[{"n":1},{"n":2}]} {"data":[{"n":1},{"n":2}]}'],
	],
	...(
		[
			['a sub-workflow', subWorkflow('once'), '{"degrees":4} {"degrees":6}'],
			[
				'no item, with Always Output Data',
				{ ...code('weather', 'return [];'), alwaysOutputData: true },
				'{} {}',
			],
		] as const
	).map(([name, branch, results]): (typeof ROWS)[number] => [
		`both calls of a round one at a time: ${name}`,
		{ nodes: [branch], questions: TWO },
		[`Rome, Athens: ${results}`],
	]),
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
		const execution = await agent.execute(draw(name.slice(0, 100), drawing(row)));
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

it(
	'tells the model an error of HTTP Request, led back by the error output, in a sentence or two',
	async () => {
		const weather = onError(
			node('weather', base('httpRequest'), 4.2, {
				parameters: { url: 'http://127.0.0.1:1/' },
			}),
			'continueErrorOutput',
		);
		const execution = await agent.run(drawing({ ways: 'weather:1 > Agent', nodes: [weather] }));
		expect(failureOf(execution)).toBe('');
		const [result] = agent.toolResults();
		expect(JSON.parse(String(result))).toMatchObject({ error: like(/refused/i) });
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
		const execution = await agent.run(
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
		expect(answersOf(execution)).toStrictEqual(failure ? [] : ['Rome: {"resumed":true}']);
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
			const trigger = webhook(path, 'lastNode');
			const ways = 'Agent > Answers; Agent:2 > weather > Agent';
			const parameters = { options: { maxRounds: 1 } };
			const ref = await agent.publish(
				startedBy('Asked by webhook', trigger, { ways, nodes: [WEATHER], parameters }),
			);
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
			const called = await agent.client.importWorkflow(
				startedBy('Called', calledTrigger(), { nodes: [NOWHERE], questions: ['Oslo'] }),
			);
			const execution = await agent.execute(workflow('Calls', [start, calls(called)]));
			expect(failureOf(execution)).toMatch(/Tool weather returned no item for 1 call\b/);
			expect(agent.model.requests).toHaveLength(1);
		},
		RUN_LIMIT_MS,
	);
});
