// @seconds 40
import { failureOf, outputItems } from '../../lab/n8n/execution';
import { startAgentSession, type AgentSession } from './support/agentSession';
import { node, type Wires } from './support/buildWorkflow';
import {
	agentNode,
	asks,
	base,
	code,
	draw,
	noOp,
	set,
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

afterAll(async () => {
	await agent.stop();
}, RUN_LIMIT_MS);

/** A drawing and what comes out of it. */
interface Row extends Partial<Omit<Drawing, 'executionOrder'>> {
	readonly name: string;
	readonly nodes: Drawing['nodes'];
	readonly wires: Wires;
	/** The texts of all answers, in any order. */
	readonly answers: readonly string[];
	/** The error that ends the execution. */
	readonly failure?: RegExp;
	/** The settings it runs with. Default: v1, One at a Time, All Together. */
	readonly variants?: readonly Variant[];
	/** The node that the answers arrive at. */
	readonly answersAt?: string;
	/** Whether its last run has all of them, as at the end of a loop. */
	readonly collects?: boolean;
	/** Requests to the model. Default: one per answer, and another one for an answer with tool results. */
	readonly requests?: number;
}

type Variant = Pick<Drawing, 'executionOrder'> & {
	readonly runCalls?: 'oneAtATime' | 'allAtOnce';
};

const v1: Variant = {};
const v0: Variant = { executionOrder: 'v0' };
const allAtOnce: Variant = { runCalls: 'allAtOnce' };
const BOTH_ORDERS = [v1, v0];
const BOTH_MODES = [v1, allAtOnce];
const ALL = [v1, v0, allAtOnce, { ...v0, ...allAtOnce }];

const BACK = { weather: [['Agent']] };
/** A tool branch that finds the weather of every city but Nowhere, for which it ends without an item. */
const FINDS = [
	when('weather', 'if', '={{ $json.city }}', 'Nowhere'),
	set('Found', '={{ { "degrees": $json.city.length } }}'),
];
const FINDS_BACK = { weather: [[], ['Found']], Found: [['Agent']] };
const NO_ITEM = /^Agent: Tool weather returned no item for 1 call\b.*Always Output Data/;

const TWO_SOURCES: Wires = { Start: [['Questions', 'Second']], Second: [['Agent']] };
const loop = (name: string, batchSize: number, reset?: string) =>
	node(name, base('splitInBatches'), 3, {
		parameters: { batchSize, options: reset === undefined ? {} : { reset } },
	});
const merge = (name: string, parameters: object = { mode: 'append' }) =>
	node(name, base('merge'), 3.2, { parameters });

const like = (pattern: RegExp) => expect.stringMatching(pattern) as string;

/** Questions from several places, which arrive while calls are open. */
const SOURCES: readonly Row[] = [
	{
		name: 'two sources of questions',
		questions: ['Rome'],
		nodes: [asks('Second', 'Athens'), WEATHER],
		wires: { ...TWO_SOURCES, ...BACK },
		answers: ['Rome: {"degrees":4}', 'Athens: {"degrees":6}'],
		variants: ALL,
	},
	{
		name: 'two sources of questions, each with two items and two calls in a round',
		questions: ['Rome, Reykjavik', 'Hello one'],
		nodes: [asks('Second', 'Athens', 'Hello two'), WEATHER],
		wires: { ...TWO_SOURCES, ...BACK },
		answers: [
			'Rome, Reykjavik: {"degrees":4} {"degrees":9}',
			'Hello one:',
			'Athens: {"degrees":6}',
			'Hello two:',
		],
		variants: [v0, { ...v0, ...allAtOnce }],
	},
	{
		name: 'two sources of questions, where the tool finds nothing for the first',
		questions: ['Nowhere'],
		nodes: [asks('Second', 'Athens'), ...FINDS],
		wires: { ...TWO_SOURCES, ...FINDS_BACK },
		answers: ['Athens: {"degrees":6}'],
		failure: NO_ITEM,
		requests: 3,
		variants: ALL,
	},
	{
		name: 'both sides of an IF into the agent',
		questions: ['Athens', 'Rome', 'Reykjavik'],
		nodes: [when('Is Rome', 'if', '={{ $json.question }}', 'Rome'), WEATHER],
		wires: { Questions: [['Is Rome']], 'Is Rome': [['Agent'], ['Agent']], ...BACK },
		answers: ['Rome: {"degrees":4}', 'Athens: {"degrees":6}', 'Reykjavik: {"degrees":9}'],
		variants: [v1, v0, { ...v0, ...allAtOnce }],
	},
	{
		name: 'both sides of an IF into the agent, where the tool finds nothing for the first',
		questions: ['Athens', 'Nowhere'],
		nodes: [
			when('Is it', 'if', '={{ $json.question }}', 'Nowhere'),
			noOp('Yes'),
			noOp('No'),
			...FINDS,
		],
		wires: {
			Questions: [['Is it']],
			'Is it': [['Yes'], ['No']],
			Yes: [['Agent']],
			No: [['Agent']],
			...FINDS_BACK,
		},
		answers: ['Athens: {"degrees":6}'],
		failure: NO_ITEM,
		requests: 3,
		variants: [v1, v0, allAtOnce],
	},
	{
		name: 'a second question that says hello while the call of the first is open',
		questions: ['Rome'],
		nodes: [asks('Second', 'Hello'), WEATHER],
		wires: { ...TWO_SOURCES, ...BACK },
		answers: ['Rome: {"degrees":4}', 'Hello:'],
		variants: BOTH_ORDERS,
	},
	{
		name: 'sources and branch share the last node before the agent',
		questions: ['Rome'],
		nodes: [
			asks('Second', 'Athens'),
			WEATHER,
			set('Shared', '={{ { ...$json, "seen": true } }}'),
		],
		wires: {
			...TWO_SOURCES,
			Questions: [['Shared']],
			Second: [['Shared']],
			weather: [['Shared']],
			Shared: [['Agent']],
		},
		answers: ['Rome: {"degrees":4,"seen":true}', 'Athens: {"degrees":6,"seen":true}'],
		variants: [v1, v0, { ...v0, ...allAtOnce }],
	},
	{
		name: 'sources and branch share a Code node that loses the links',
		questions: ['Rome'],
		nodes: [
			asks('Second', 'Athens'),
			WEATHER,
			code('Shared', 'return items.flatMap(({ json }) => [{ json }, { json }]).slice(1);'),
		],
		wires: {
			...TWO_SOURCES,
			Questions: [['Shared']],
			Second: [['Shared']],
			weather: [['Shared']],
			Shared: [['Agent']],
		},
		answers: ['Rome: {"degrees":4}', 'Athens: {"degrees":6}'],
		variants: BOTH_ORDERS,
	},
	{
		name: 'two sources with a branch that loses the links and keeps tool_call',
		questions: ['Rome', 'Reykjavik'],
		nodes: [
			asks('Second', 'Athens', 'Oslo'),
			code(
				'weather',
				`return items.reverse().flatMap(({ json: { city, tool_call } }) =>
					[1, 2].map((n) => ({ json: { [city]: n, tool_call } })));`,
			),
		],
		wires: { ...TWO_SOURCES, ...BACK },
		answers: [
			'Rome: [{"Rome":1},{"Rome":2}]',
			'Reykjavik: [{"Reykjavik":1},{"Reykjavik":2}]',
			'Athens: [{"Athens":1},{"Athens":2}]',
			'Oslo: [{"Oslo":1},{"Oslo":2}]',
		],
		variants: [allAtOnce, { ...v0, ...allAtOnce }, v0],
	},
	{
		name: 'branches with the Merge of both sides of an IF, for two sources',
		questions: ['Rome'],
		nodes: [
			asks('Second', 'Athens'),
			when('weather', 'if', '={{ $json.city }}', 'Rome'),
			set('Warm', '={{ { "warm": $json.city } }}'),
			set('Cold', '={{ { "cold": $json.city } }}'),
			merge('Both'),
		],
		wires: {
			...TWO_SOURCES,
			weather: [['Warm'], ['Cold']],
			Warm: [['Both']],
			Cold: [['Both#1']],
			Both: [['Agent']],
		},
		answers: ['Rome: {"warm":"Rome"}', 'Athens: {"cold":"Athens"}'],
		variants: BOTH_MODES,
	},
	{
		name: 'an answer that leads back as a new question while another call is open',
		questions: ['Hello', 'Rome'],
		nodes: [
			WEATHER,
			code('Again', "return $runIndex === 0 ? [{ json: { question: 'Athens' } }] : [];"),
		],
		wires: { Answers: [['Again']], Again: [['Agent']], ...BACK },
		answers: ['Hello:', 'Rome: {"degrees":4}', 'Athens: {"degrees":6}'],
		variants: BOTH_MODES,
	},
	...[2, 1, 3].map((batchSize): Row => ({
		name: `Loop Over Items around the agent, batches of ${batchSize}`,
		questions: ['Hello', 'Rome', 'Athens', 'Hello again', 'Reykjavik, Rome'],
		nodes: [loop('Loop', batchSize), noOp('All'), WEATHER],
		wires: {
			Questions: [['Loop']],
			Loop: [['All'], ['Agent']],
			Agent: [['Loop'], [], ['weather']],
			...BACK,
		},
		answersAt: 'All',
		collects: true,
		answers: [
			'Hello:',
			'Rome: {"degrees":4}',
			'Athens: {"degrees":6}',
			'Hello again:',
			'Reykjavik, Rome: {"degrees":9} {"degrees":4}',
		],
		variants: BOTH_MODES,
	})),
];

/** Branches of all kinds, for two calls in a round. */
const BRANCHES: readonly Row[] = [
	{
		name: 'a loop inside the branch',
		nodes: [
			code('weather', 'return [1, 2, 3].map((n) => ({ json: { n } }));'),
			loop('Inner', 1, "={{ $prevNode.name === 'weather' }}"),
			set('Each', '={{ { "n": $json.n * 2 } }}'),
		],
		wires: { weather: [['Inner']], Inner: [['Agent'], ['Each']], Each: [['Inner']] },
		answers: ['Rome, Oslo: [{"n":2},{"n":4},{"n":6}] [{"n":2},{"n":4},{"n":6}]'],
	},
	{
		name: 'a fork in the branch, of which one side returns',
		nodes: [noOp('weather'), noOp('Log'), set('Told', '={{ { "told": $json.city } }}')],
		wires: { weather: [['Log', 'Told']], Told: [['Agent']] },
		answers: ['Rome, Oslo: {"told":"Rome"} {"told":"Oslo"}'],
		variants: [v1, v0, allAtOnce],
	},
	{
		name: 'a fork in the branch, of which both sides return: the first counts',
		nodes: [noOp('weather'), set('First', '{ "first": true }'), set('Late', '{ "late": 1 }')],
		wires: { weather: [['First', 'Late']], First: [['Agent']], Late: [['Agent']] },
		answers: ['Rome, Oslo: {"first":true} {"first":true}'],
		variants: BOTH_MODES,
	},
	{
		name: 'a fork in the branch, of which both sides return, for two sources',
		questions: ['Rome'],
		nodes: [
			asks('Second', 'Athens'),
			noOp('weather'),
			set('First', '={{ { "first": $json.city } }}'),
			set('Late', '={{ { "late": $json.city } }}'),
		],
		wires: {
			...TWO_SOURCES,
			weather: [['First', 'Late']],
			First: [['Agent']],
			Late: [['Agent']],
		},
		answers: ['Rome: {"first":"Rome"}', 'Athens: {"first":"Athens"}'],
		variants: [v1, v0, { ...v0, ...allAtOnce }],
	},
	{
		name: 'a Wait in the branch',
		nodes: [
			node('weather', base('wait'), 1.1, { parameters: { amount: 0.1, unit: 'seconds' } }),
			set('Told', '={{ { "told": $json.city } }}'),
		],
		wires: { weather: [['Told']], Told: [['Agent']] },
		answers: ['Rome, Oslo: {"told":"Rome"} {"told":"Oslo"}'],
		variants: BOTH_MODES,
	},
	{
		name: 'a sub-workflow, once for all items',
		nodes: [subWorkflow('once')],
		wires: BACK,
		answers: ['Rome, Oslo: {"degrees":4} {"degrees":4}'],
	},
	{
		name: 'a sub-workflow, once for each item',
		nodes: [subWorkflow('each')],
		wires: BACK,
		answers: ['Rome, Oslo: {"degrees":4} {"degrees":4}'],
		variants: BOTH_MODES,
	},
	{
		name: 'two tools that share their branch',
		tools: ['weather', 'time'],
		questions: ['Rome, time:Oslo'],
		nodes: [noOp('weather'), noOp('time'), set('Told', '={{ { "told": $json.city } }}')],
		wires: { weather: [['Told']], time: [['Told']], Told: [['Agent']] },
		answers: ['Rome, time:Oslo: {"told":"Rome"} {"told":"Oslo"}'],
		variants: BOTH_MODES,
	},
	{
		name: 'a tool that the next tool takes for its input, both branches back',
		tools: ['weather', 'time'],
		questions: ['time:Oslo', 'Rome'],
		nodes: [WEATHER, set('time', '={{ { "city": $json.city + "!" } }}')],
		wires: { ...BACK, time: [['weather']] },
		answers: ['time:Oslo: {"degrees":5}', 'Rome: {"degrees":4}'],
		variants: BOTH_MODES,
	},
	{
		name: 'two agents one after another',
		questions: ['Rome'],
		nodes: [
			{
				...agentNode({
					tools: ['time'],
					parameters: { prompt: '={{ "time:" + $json.output.slice(0, 4) }}' },
				}),
				id: 'after',
				name: 'After',
			},
			WEATHER,
			set('time', '={{ { "noon": $json.city } }}'),
			noOp('Last'),
		],
		wires: {
			...BACK,
			Answers: [['After']],
			After: [['Last'], [], ['time']],
			time: [['After']],
		},
		answersAt: 'Last',
		answers: ['time:Rome: {"noon":"Rome"}'],
		requests: 4,
		variants: [v1, v0, allAtOnce],
	},
	{
		name: 'an agent inside the branch of an agent',
		tools: ['ask'],
		questions: ['ask:Rome, ask:Athens'],
		nodes: [
			{
				...agentNode({ tools: ['weather'], parameters: { prompt: '={{ $json.city }}' } }),
				id: 'ask',
				name: 'ask',
			},
			WEATHER,
			set('Told', '={{ { "told": $json.output } }}'),
		],
		wires: { ask: [['Told'], [], ['weather']], weather: [['ask']], Told: [['Agent']] },
		answers: [
			'ask:Rome, ask:Athens: {"told":"Rome: {\\"degrees\\":4}"} {"told":"Athens: {\\"degrees\\":6}"}',
		],
		requests: 6,
		variants: BOTH_MODES,
	},
];

const variantsOf = (rows: readonly Row[]) =>
	rows.flatMap((row) =>
		(row.variants ?? [v1]).map((variant): [string, Row, Variant] => {
			const { executionOrder, runCalls } = variant;
			const parts = [row.name, executionOrder, runCalls];
			return [parts.filter(Boolean).join(', '), row, variant];
		}),
	);

describe.each([
	['questions', SOURCES],
	['branches', BRANCHES],
])('%s', (_kind, rows) => {
	it.each(variantsOf(rows))(
		'%s',
		async (name, row, { executionOrder = 'v1', runCalls }) => {
			agent.looksUpCities();
			const { tools = ['weather'], questions = ['Rome, Oslo'], answersAt = 'Answers' } = row;
			const parameters = { options: { runCalls } };
			const execution = await agent.runWorkflow(
				draw(name, { ...row, tools, questions, executionOrder, parameters }),
			);
			const runs = execution.data.resultData.runData[answersAt] ?? [];
			const answers = row.collects
				? (runs.at(-1)?.data?.['main']?.[0] ?? [])
				: outputItems(execution, answersAt);
			expect({
				answers: answers.map(({ json }) => json['output']).sort(),
				failure: failureOf(execution),
			}).toStrictEqual({
				answers: [...row.answers].sort(),
				failure: row.failure ? like(row.failure) : '',
			});
			const perAnswer = row.answers.map((answer) => (answer.endsWith(':') ? 1 : 2));
			expect(agent.model.requests).toHaveLength(
				row.requests ?? perAnswer.reduce((sum, each) => sum + each, 0),
			);
		},
		RUN_LIMIT_MS,
	);
});

/** Drawings that cannot work. No request leaves the node. */
const REJECTED: readonly [string, Pick<Drawing, 'nodes' | 'wires'> & Partial<Drawing>, RegExp][] = [
	[
		'the output of a tool without a wire',
		{ nodes: [], wires: { Agent: [['Answers'], ['Stops'], []] } },
		/^(Agent: )?Tool weather has no branch/,
	],
	[
		'a tool output straight to the input, as after its node was deleted',
		{ nodes: [], wires: { Agent: [['Answers'], ['Stops'], ['Agent']] } },
		/^(Agent: )?Tool weather leads straight back to the input/,
	],
	[
		'the output of the second tool without a wire',
		{
			tools: ['weather', 'time'],
			nodes: [WEATHER],
			wires: { ...BACK, Agent: [['Answers'], ['Stops'], ['weather']] },
		},
		/^(Agent: )?Tool time has no branch/,
	],
	[
		'one output for all tools without a wire',
		{
			nodes: [],
			wires: { Agent: [['Answers'], ['Stops'], []] },
			parameters: { outputMode: 'single' },
		},
		/no branch/,
	],
	[
		'a branch that ends at its last node',
		{ nodes: [WEATHER], wires: {} },
		/^(Agent: )?Tool weather has a branch that does not lead back/,
	],
	[
		'a branch that leads to Answer instead of back',
		{ nodes: [WEATHER], wires: { weather: [['Answers']] } },
		/^(Agent: )?Tool weather has a branch that does not lead back/,
	],
	[
		'a branch that goes in a circle and never back',
		{ nodes: [WEATHER, noOp('Round')], wires: { weather: [['Round']], Round: [['weather']] } },
		/^(Agent: )?Tool weather has a branch that does not lead back/,
	],
	[
		'a wire that a removed tool has left',
		{
			nodes: [WEATHER, noOp('Removed')],
			wires: {
				...BACK,
				Agent: [['Answers'], ['Stops'], ['weather'], ['Removed']],
				Removed: [['Agent']],
			},
		},
		/^(Agent: )?Connections are left of an output that no longer exists/,
	],
	[
		'what the editor leaves of a removed tool: an empty slot, and its branch without an entry',
		{
			tools: ['time'],
			nodes: [WEATHER, set('time', '{ "time": "noon" }')],
			wires: {
				Agent: [['Answers'], ['Stops'], ['weather'], []],
				weather: [['Agent']],
				time: [['Agent']],
			},
		},
		/^(Agent: )?Nothing leads to time, which leads back to this node/,
	],
	[
		'Answer straight to the input',
		{
			nodes: [WEATHER],
			wires: { ...BACK, Agent: [['Answers', 'Agent'], ['Stops'], ['weather']] },
		},
		/^(Agent: )?Answer leads straight back to the input/,
	],
	[
		'Stopped straight to the input',
		{
			nodes: [WEATHER],
			wires: { ...BACK, Agent: [['Answers'], ['Agent'], ['weather']] },
		},
		/^(Agent: )?Stopped leads straight back to the input/,
	],
];

describe('drawings that are rejected before the first request', () => {
	it.each(REJECTED)(
		'%s',
		async (name, drawing, message) => {
			agent.looksUpCities();
			const row = { tools: ['weather'], questions: ['Hello', 'Rome'], ...drawing };
			const { execution } = await agent.run(row);
			const requests = agent.model.requests.length;
			expect({ failure: failureOf(execution), requests }).toStrictEqual({
				failure: like(message),
				requests: 0,
			});

			const onError = 'continueRegularOutput';
			const going = await agent.runWorkflow(
				draw(`${name}, On Error: Continue`, { ...row, nodeSettings: { onError } }),
			);
			const failed = outputItems(going, 'Answers').map(({ json }) => json['error']);
			expect(failed).toStrictEqual(row.questions.map(() => like(message)));
			expect(agent.model.requests).toHaveLength(0);
		},
		RUN_LIMIT_MS,
	);

	it(
		'fails each item once where the error output leads straight to the input',
		async () => {
			agent.looksUpCities();
			const { execution } = await agent.run({
				tools: ['weather'],
				questions: ['Hello', 'Rome'],
				nodes: [WEATHER],
				wires: { ...BACK, Agent: [['Answers'], ['Stops'], ['weather'], ['Agent']] },
				nodeSettings: { onError: 'continueErrorOutput' },
			});
			const [first, ...others] = execution.data.resultData.runData['Agent']!;
			expect(first!.data!['main']![3]!.map(({ json }) => json['error'])).toStrictEqual(
				Array(2).fill('Error leads straight back to the input'),
			);
			expect(others).toHaveLength(1);
			expect(agent.model.requests).toHaveLength(0);
		},
		RUN_LIMIT_MS,
	);

	it(
		'fails each item once where the error output has become the one of a removed tool',
		async () => {
			agent.looksUpCities();
			const { execution } = await agent.run({
				tools: ['time'],
				questions: ['Hello', 'Rome'],
				nodes: [WEATHER, noOp('time')],
				wires: {
					Agent: [['Answers'], ['Stops'], ['weather'], ['time'], []],
					weather: [['Agent']],
					time: [['Agent']],
				},
				nodeSettings: { onError: 'continueErrorOutput' },
			});
			expect(outputItems(execution, 'time').map(({ json }) => json['error'])).toStrictEqual(
				Array(2).fill('Error leads to time, the branch of a tool'),
			);
			expect(agent.model.requests).toHaveLength(0);
		},
		RUN_LIMIT_MS,
	);

	it(
		'accepts a second wire, a disabled node, an error output or an empty slot',
		async () => {
			agent.looksUpCities();
			const { answers, execution } = await agent.run({
				tools: ['weather'],
				questions: ['Rome'],
				nodes: [
					WEATHER,
					{ ...noOp('Skipped'), disabled: true },
					noOp('Errors'),
					noOp('Log'),
				],
				wires: {
					Agent: [['Answers'], ['Stops'], ['weather', 'Log'], ['Errors'], []],
					weather: [['Skipped']],
					Skipped: [['Agent']],
				},
				nodeSettings: { onError: 'continueErrorOutput' },
			});
			expect(failureOf(execution)).toBe('');
			expect(answers).toMatchObject([{ output: 'Rome: {"degrees":4}' }]);
		},
		RUN_LIMIT_MS,
	);
});
