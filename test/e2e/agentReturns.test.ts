// @seconds 45
/** Outcomes of the agent that lead back to its input as questions: what would never end is bounded, what ends by itself is not. */
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
import { call, results } from './support/scriptedModel';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

let agent: AgentSession;

/** Requests after which the model fails, which ends a loop that would never end. */
const MAX_REQUESTS = 40;

beforeAll(async () => {
	agent = await startAgentSession();
}, SET_UP_LIMIT_MS);

/**
 * Calls weather for Rome, ask for several cities, and weather again and again for Endless. Fails for Fail, and twice for Third; else
 * it answers with the question.
 */
beforeEach(() => {
	agent.model.replyWith((messages) => {
		if (agent.model.requests.length > MAX_REQUESTS) return undefined;
		const question = String(messages[0]!.content);
		const found = results(messages).length;
		if (question === 'Fail') return undefined;
		if (question === 'Third' && agent.model.requests.length < 3) return undefined;
		if (question.startsWith('Endless')) return [call(`c${found}`, 'weather', { city: 'Rome' })];
		if (found > 0) return `${question}:`;
		if (question === 'Rome') return [call('c1', 'weather', { city: 'Rome' })];
		if (!question.startsWith('All')) return `${question}:`;
		return CITIES.map((city) => call(city, 'ask', { city }));
	});
});

afterAll(async () => {
	await agent.stop();
}, RUN_LIMIT_MS);

type Row = Pick<Drawing, 'nodes' | 'wires'> & Partial<Drawing>;

const CITIES = Array.from({ length: 14 }, (_each, index) => `Hello ${index}`);
const AGAIN = set('Again', '={{ { "question": "Hello" } }}');
const FIXED = { prompt: 'Hello', options: { retries: 0 } };
const loop = (name: string, options: object = {}) =>
	node(name, base('splitInBatches'), 3, { parameters: { batchSize: 1, options } });
const other = (name: string, parameters: object, tools: readonly string[] = []) => ({
	...agentNode({ tools, parameters }),
	id: name.toLowerCase(),
	name,
});
/** Answers come back through these nodes, one after another. */
const through = (...names: readonly string[]): Wires =>
	Object.fromEntries(
		['Answers', ...names].map((name, index) => [name, [[names[index] ?? 'Agent']]]),
	);

const run = async (name: string, row: Row) =>
	await agent.runWorkflow(
		draw(name, { tools: [], questions: ['Hello'], parameters: FIXED, ...row }),
	);

const SEPARATE = { onError: 'continueErrorOutput' } as const;
/** Errors come back. */
const ERRORS: Wires = { Agent: [['Answers'], ['Stops'], [], ['Again']], Again: [['Agent']] };

const TOO_OFTEN = 'Answer, Stopped or Error has led back to the input 10 times in a row';
const BOUND = new RegExp(`^(Agent|Other): ${TOO_OFTEN}\\b.*Loop Over Items.*lead errors`);

it(
	'reports a drawing that cannot work also where errors lead back',
	async () => {
		const execution = await run('Shared', {
			tools: ['weather'],
			nodeSettings: SEPARATE,
			nodes: [AGAIN],
			wires: { Agent: [['Answers'], ['Stops'], [], ['Again']], Again: [['Agent']] },
		});
		expect(failureOf(execution)).toMatch(/^Agent: Tool weather has no branch/);
		expect(agent.model.requests).toHaveLength(0);
	},
	RUN_LIMIT_MS,
);

/** Ways back without an end, or with one that is never reached. One conversation has the first question, ten have an outcome. */
const BOUNDED: readonly [string, Row, number][] = [
	['Edit Fields', { nodes: [AGAIN], wires: through('Again') }, 11],
	[
		'Edit Fields, beside another way',
		{
			nodes: [AGAIN, noOp('Log')],
			wires: { Answers: [['Log', 'Again']], Again: [['Agent']] },
		},
		11,
	],
	[
		'Wait and a disabled IF',
		{
			nodes: [
				node('Pause', base('wait'), 1.1, { parameters: { amount: 0, unit: 'seconds' } }),
				{ ...when('Skipped', 'if', 'a', 'b'), disabled: true },
			],
			wires: through('Pause', 'Skipped'),
		},
		11,
	],
	[
		'a Merge with the questions',
		{
			nodes: [node('Both', base('merge'), 3.2)],
			wires: { Questions: [['Both']], Answers: [['Both#1']], Both: [['Agent']] },
		},
		11,
	],
	[
		'another agent, whose answers lead back',
		{
			nodes: [other('Other', FIXED)],
			wires: { Answers: [['Other']], Other: [['Agent']] },
		},
		22,
	],
	[
		'Edit Fields, beside the branch of a tool',
		{
			tools: ['weather'],
			nodes: [AGAIN, WEATHER],
			wires: { ...through('Again'), weather: [['Agent']] },
		},
		11,
	],
	[
		'an IF that is always true',
		{ nodes: [when('Bad', 'if', 'a', 'a'), AGAIN], wires: through('Bad', 'Again') },
		11,
	],
	[
		'an IF that is always true, v0',
		{
			nodes: [when('Bad', 'if', 'a', 'a'), AGAIN],
			wires: through('Bad', 'Again'),
			executionOrder: 'v0',
		},
		11,
	],
	[
		'a Filter, with a tool call in each conversation',
		{
			tools: ['weather'],
			questions: ['Rome'],
			parameters: { prompt: 'Rome' },
			nodes: [when('Bad', 'filter', 'a', 'a'), WEATHER],
			wires: { ...through('Bad'), weather: [['Agent']] },
		},
		22,
	],
	[
		'a Code node that drops links',
		{
			nodes: [code('Again', 'return [{ json: {}, pairedItem: [] }];')],
			wires: through('Again'),
		},
		11,
	],
	[
		'a Code node that links to the question',
		{
			nodes: [code('Again', 'return [$("Questions").first()];')],
			wires: through('Again'),
		},
		11,
	],
	[
		'a sub-workflow',
		{
			nodes: [set('City', '{ "city": "Rome" }'), subWorkflow('once')],
			wires: through('City', 'weather'),
		},
		11,
	],
	[
		'Stopped',
		{
			tools: ['weather'],
			questions: ['Endless'],
			parameters: { prompt: 'Endless', options: { maxRounds: 1 } },
			nodes: [WEATHER, AGAIN],
			wires: { Stops: [['Again']], Again: [['Agent']], weather: [['Agent']] },
		},
		11,
	],
	[
		'the second output of Respond to Webhook',
		{
			nodes: [
				node('Hook', base('webhook'), 2.1, {
					parameters: { path: 'ring', responseMode: 'responseNode' },
				}),
				node('Respond', base('respondToWebhook'), 1.5, {
					parameters: { respondWith: 'allIncomingItems', enableResponseOutput: true },
				}),
			],
			wires: { Hook: [['Agent']], Answers: [['Respond']], Respond: [[], ['Agent']] },
		},
		11,
	],
	[
		'Remove Duplicates and Limit',
		{
			nodes: [node('Unique', base('removeDuplicates'), 2), node('One', base('limit'), 1)],
			wires: through('Unique', 'One'),
		},
		11,
	],
	[
		'the error output of HTTP Request, v0',
		{
			executionOrder: 'v0',
			nodes: [
				node('Get', base('httpRequest'), 4.2, {
					parameters: { url: 'http://127.0.0.1:9/' },
					onError: 'continueErrorOutput',
				}),
			],
			wires: { Answers: [['Get']], Get: [[], ['Agent']] },
		},
		11,
	],
	[
		'Stopped of another agent',
		{
			nodes: [
				other('Other', { prompt: 'Endless', options: { maxRounds: 1 } }, ['weather']),
				WEATHER,
				AGAIN,
			],
			wires: {
				Answers: [['Other']],
				Other: [[], ['Again'], ['weather']],
				weather: [['Other']],
				Again: [['Agent']],
			},
		},
		22,
	],
	[
		'its error output',
		{
			parameters: { ...FIXED, prompt: 'Fail' },
			nodeSettings: SEPARATE,
			nodes: [AGAIN],
			wires: ERRORS,
		},
		11,
	],
	[
		'its error output, with an empty prompt',
		{
			parameters: { prompt: '={{ "" }}' },
			nodeSettings: SEPARATE,
			nodes: [AGAIN],
			wires: ERRORS,
		},
		0,
	],
	[
		'an IF in Loop Over Items, for one item of several, with On Error: Continue',
		{
			questions: ['Hello', 'Fail', 'Hello'],
			parameters: { ...FIXED, prompt: '={{ $json.question }}' },
			nodeSettings: { onError: 'continueRegularOutput' },
			nodes: [
				loop('Outer'),
				noOp('All'),
				when('Good', 'if', "={{ $json.output ?? '' }}", 'Hello:'),
				set('Again', '{ "question": "Fail" }'),
			],
			wires: {
				Questions: [['Outer']],
				Outer: [['All'], ['Agent']],
				Answers: [['Good']],
				Good: [['Outer'], ['Again']],
				Again: [['Agent']],
			},
		},
		12,
	],
	[
		'a ring of two agents with an IF',
		{
			nodes: [other('Other', FIXED), when('Bad', 'if', 'a', 'a')],
			wires: { Answers: [['Bad']], Bad: [['Other']], Other: [['Agent']] },
		},
		22,
	],
	[
		'the done output of Loop Over Items',
		{
			nodes: [loop('Inner'), noOp('Each')],
			wires: { Answers: [['Inner']], Inner: [['Agent'], ['Each']], Each: [['Inner']] },
		},
		// n8n gives all items of earlier rounds again.
		8,
	],
	[
		'a Code node that makes two questions of each answer',
		{
			nodes: [code('Two', 'return items.flatMap(() => [1, 2].map(() => ({ json: {} })));')],
			wires: through('Two'),
		},
		7,
	],
	[
		'Loop Over Items that always begins again',
		{
			nodes: [loop('Inner', { reset: true }), noOp('All')],
			wires: { Answers: [['Inner']], Inner: [['All'], ['Agent']] },
		},
		11,
	],
	[
		'Loop Over Items in the branch of the tool, and an IF',
		{
			tools: ['weather'],
			questions: ['Rome'],
			parameters: { prompt: 'Rome' },
			nodes: [
				WEATHER,
				loop('Inner', { reset: "={{ $prevNode.name === 'weather' }}" }),
				noOp('Each'),
				when('Bad', 'if', 'a', 'a'),
			],
			wires: {
				...through('Bad'),
				weather: [['Inner']],
				Inner: [['Agent'], ['Each']],
				Each: [['Inner']],
			},
		},
		22,
	],
];

describe('an outcome that leads back is a question at most ten times in a row', () => {
	it.each(BOUNDED)(
		'through %s',
		async (name, row, requests) => {
			const execution = await run(name, row);
			expect({
				failure: failureOf(execution),
				requests: agent.model.requests.length,
			}).toStrictEqual({
				failure: expect.stringMatching(BOUND) as string,
				requests,
			});
		},
		RUN_LIMIT_MS,
	);

	it(
		'then comes out as an error once, with On Error: Continue, and fails when that has led back',
		async () => {
			const execution = await run('Continue', {
				nodes: [when('Bad', 'if', 'a', 'a'), AGAIN],
				wires: through('Bad', 'Again'),
				nodeSettings: { onError: 'continueRegularOutput' },
			});
			const answers = outputItems(execution, 'Answers').map(({ json }) => json['error']);
			expect(failureOf(execution)).toMatch(BOUND);
			expect(answers).toStrictEqual([
				...Array<undefined>(11).fill(undefined),
				expect.stringMatching('has led back to the input 10 times'),
			]);
			expect(agent.model.requests).toHaveLength(11);
		},
		RUN_LIMIT_MS,
	);
});

/** Ways back that end by themselves. */
const ENDING: readonly [string, Row, requests: number, answersAt: string, answers: number][] = [
	[
		'an IF with an exit after three rounds',
		{
			nodes: [when('Good', 'if', '={{ $runIndex + "" }}', '2'), noOp('Done'), AGAIN],
			wires: { Answers: [['Good']], Good: [['Done'], ['Again']], Again: [['Agent']] },
		},
		3,
		'Done',
		1,
	],
	[
		'Loop Over Items with 30 questions',
		{
			questions: CITIES.concat(CITIES, 'Hello', 'Hello again'),
			nodes: [loop('Inner'), noOp('All')],
			wires: {
				Questions: [['Inner']],
				Inner: [['All'], ['Agent']],
				Answers: [['Inner']],
			},
		},
		30,
		'All',
		30,
	],
	[
		'Loop Over Items in another one, with Reset by an expression',
		{
			questions: ['Hello 1', 'Hello 2', 'Hello 3'],
			nodes: [
				loop('Outer'),
				asks('More', 'a', 'b', 'c', 'd', 'e', 'f'),
				loop('Inner', { reset: "={{ $prevNode.name === 'More' }}" }),
				noOp('All'),
			],
			wires: {
				Questions: [['Outer']],
				Outer: [['All'], ['More']],
				More: [['Inner']],
				Inner: [['Outer'], ['Agent']],
				Answers: [['Inner']],
			},
		},
		18,
		'Answers',
		18,
	],
	[
		'Loop Over Items with 12 questions, each of which is asked twice',
		{
			questions: CITIES.slice(0, 12),
			nodes: [
				loop('Outer'),
				noOp('All'),
				when('Second', 'if', '={{ $runIndex % 2 + "" }}', '1'),
				AGAIN,
			],
			wires: {
				Questions: [['Outer']],
				Outer: [['All'], ['Agent']],
				Answers: [['Second']],
				Second: [['Outer'], ['Again']],
				Again: [['Agent']],
			},
		},
		24,
		'All',
		12,
	],
	[
		'the error output of Edit Fields',
		{
			nodes: [{ ...AGAIN, ...SEPARATE }, noOp('Done')],
			wires: { Answers: [['Again']], Again: [['Done'], ['Agent']] },
		},
		1,
		'Done',
		1,
	],
	[
		'its error output, until the service is back',
		{
			parameters: { ...FIXED, prompt: 'Third' },
			nodeSettings: SEPARATE,
			nodes: [AGAIN],
			wires: ERRORS,
		},
		3,
		'Answers',
		1,
	],
	[
		'another agent, which calls this one as its tool',
		{
			tools: ['ask'],
			questions: ['All'],
			parameters: { prompt: '={{ $json.question }}', options: { maxCallsPerRound: 14 } },
			nodes: [other('ask', { prompt: '={{ $json.city }}' }), set('Told', '{ "told": 1 }')],
			wires: { ask: [['Told']], Told: [['Agent']] },
		},
		16,
		'Answers',
		1,
	],
];

it.each(ENDING)(
	'follows answers that lead back through %s',
	async (name, row, requests, answersAt, answers) => {
		const execution = await run(name, row);
		expect({
			failure: failureOf(execution),
			requests: agent.model.requests.length,
			answers: (answersAt === 'Answers'
				? outputItems(execution, answersAt)
				: (execution.data.resultData.runData[answersAt]?.at(-1)?.data?.['main']?.[0] ?? [])
			).length,
		}).toStrictEqual({ failure: '', requests, answers });
	},
	RUN_LIMIT_MS,
);
