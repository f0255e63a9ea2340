// @seconds 50
/**
 * What the drawing of the loop decides: which items are results whatever their links say, which drawings are refused before
 * anything is paid, and that no conversation is lost at an output without a connection.
 */
import { failureOf, outputItems } from '../../lab/n8n/execution';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { startAgentSession, type AgentSession } from './support/agentSession';
import { node, workflow, type Wires } from './support/buildWorkflow';
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

type Row = Pick<Drawing, 'nodes' | 'wires'> & Partial<Drawing>;

const like = (pattern: RegExp) => expect.stringMatching(pattern) as string;
const BACK = { weather: [['Agent']] };
const ALL_AT_ONCE = { options: { runCalls: 'allAtOnce' } };
/** Both sides of each item are in the branch: the agent is asked in fixed words, so that nothing fails for want of a prompt. */
const FIXED = { prompt: 'Rome', options: { maxRounds: 4 } };
const RIGHT = 'Rome: {"degrees":4}';

/** A result with a link past the agent. */
const LINKED_TO_QUESTION =
	"return [{ json: { degrees: 4 }, pairedItem: { item: 0, sourceOverwrite: { previousNode: 'Questions' } } }];";
const TWO = 'Rome, Athens';
const LOST = /^Agent: Tool results came back without the link to their tool call \(from weather\)/;

/** Branches that return items whose links lead elsewhere, or nowhere. */
const RESULTS: readonly [string, Row, string | RegExp][] = [
	[
		'the first item of the agent with new JSON, fixed prompt',
		{
			nodes: [code('weather', 'return [{ ...$("Agent").first(), json: { degrees: 4 } }];')],
			wires: BACK,
			parameters: FIXED,
		},
		RIGHT,
	],
	[
		'the first item of the agent with new JSON, prompt of the item',
		{
			nodes: [code('weather', 'return [{ ...$("Agent").first(), json: { degrees: 4 } }];')],
			wires: BACK,
		},
		RIGHT,
	],
	[
		'the first item of the agent with new JSON, then Edit Fields',
		{
			nodes: [
				code('weather', 'return [{ ...$("Agent").first(), json: { city: "Rome" } }];'),
				set('Told', '={{ { "degrees": $json.city.length } }}'),
			],
			wires: { weather: [['Told']], Told: [['Agent']] },
			parameters: FIXED,
		},
		RIGHT,
	],
	[
		'a link to the run of the question, written by hand',
		{
			nodes: [code('weather', LINKED_TO_QUESTION)],
			wires: BACK,
			parameters: FIXED,
		},
		RIGHT,
	],
	[
		'a link to an item that there is not',
		{
			nodes: [code('weather', 'return [{ json: { degrees: 4 }, pairedItem: { item: 7 } }];')],
			wires: BACK,
			parameters: FIXED,
		},
		RIGHT,
	],
	[
		'the first item of the agent with new JSON, both calls of a round at once',
		{
			nodes: [
				code('weather', 'return items.map(() => ({ ...$("Agent").first(), json: {} }));'),
			],
			wires: BACK,
			questions: [TWO],
			parameters: ALL_AT_ONCE,
		},
		LOST,
	],
	[
		'an item of an earlier run of the branch',
		{
			nodes: [noOp('weather'), code('Told', 'return [$("weather").first(0, 0)];')],
			wires: { weather: [['Told']], Told: [['Agent']] },
			questions: [TWO],
		},
		'Rome, Athens: {"city":"Rome"} {"city":"Rome"}',
	],
	[
		'links to the question in a node that the questions pass, too',
		{
			nodes: [
				WEATHER,
				code(
					'Shared',
					`return $runIndex === 0 ? items
						: [{ ...$("Agent").first(), json: { degrees: 4 } }];`,
				),
			],
			wires: { Questions: [['Shared']], weather: [['Shared']], Shared: [['Agent']] },
			parameters: FIXED,
		},
		RIGHT,
	],
	[
		'a reordering Code node without links',
		{
			nodes: [
				code(
					'weather',
					'return items.map(({ json: { city } }) => ({ json: { city } })).reverse();',
				),
			],
			wires: BACK,
			questions: [TWO],
			parameters: ALL_AT_ONCE,
		},
		LOST,
	],
	[
		'a Code node in the same order, without links',
		{
			nodes: [
				code('weather', 'return items.map(({ json: { city } }) => ({ json: { city } }));'),
			],
			wires: BACK,
			questions: [TWO],
			parameters: ALL_AT_ONCE,
		},
		LOST,
	],
	[
		'a reordering Function node without links',
		{
			nodes: [
				node('weather', base('function'), 1, {
					parameters: {
						functionCode:
							'return items.map((item) => ({ json: { city: item.json.city } })).reverse();',
					},
				}),
			],
			wires: BACK,
			questions: [TWO],
			parameters: ALL_AT_ONCE,
		},
		LOST,
	],
	[
		'a sub-workflow, once for both calls',
		{
			nodes: [subWorkflow('once')],
			wires: BACK,
			questions: [TWO],
			parameters: ALL_AT_ONCE,
		},
		LOST,
	],
	[
		'a reordering Code node between two nodes that keep links',
		{
			nodes: [
				noOp('weather'),
				code(
					'Reorder',
					'return items.map(({ json: { city } }) => ({ json: { city } })).reverse();',
				),
				set('Told', '={{ $json }}'),
			],
			wires: { weather: [['Reorder']], Reorder: [['Told']], Told: [['Agent']] },
			questions: [TWO],
			parameters: ALL_AT_ONCE,
		},
		/^Agent: Tool results came back without the link to their tool call \(from Told\)/,
	],
	[
		'a reordering Code node that keeps tool_call',
		{
			nodes: [code('weather', 'return items.map(({ json }) => ({ json })).reverse();')],
			wires: BACK,
			questions: [TWO],
			parameters: ALL_AT_ONCE,
		},
		'Rome, Athens: {"city":"Rome"} {"city":"Athens"}',
	],
	[
		'a Code node without links, one call in its run',
		{
			nodes: [
				code('weather', 'return items.map(({ json: { city } }) => ({ json: { city } }));'),
			],
			wires: BACK,
			parameters: ALL_AT_ONCE,
		},
		'Rome: {"city":"Rome"}',
	],
	[
		'a reordering Code node, once for each item',
		{
			nodes: [
				node('weather', base('code'), 2, {
					parameters: {
						mode: 'runOnceForEachItem',
						jsCode: 'return { json: { city: $json.city } };',
					},
				}),
			],
			wires: BACK,
			questions: [TWO],
			parameters: ALL_AT_ONCE,
		},
		'Rome, Athens: {"city":"Rome"} {"city":"Athens"}',
	],
];

describe('an item that only a tool branch can have brought is no question', () => {
	it.each(RESULTS)(
		'%s',
		async (_name, row, expected) => {
			const { answers, execution } = await agent.run({
				tools: ['weather'],
				questions: ['Rome'],
				...row,
			});
			const isRejected = typeof expected !== 'string';
			expect({
				answers: answers.map(({ output }) => output),
				failure: failureOf(execution),
				requests: agent.model.requests.length,
			}).toStrictEqual({
				answers: isRejected ? [] : [expected],
				failure: isRejected ? like(expected) : '',
				requests: isRejected ? 1 : 2,
			});
		},
		RUN_LIMIT_MS,
	);
});

it(
	'tells questions from results where both pass the same Loop Over Items, whatever links are written by hand',
	async () => {
		const { answers, execution } = await agent.run({
			tools: ['weather'],
			questions: ['Rome'],
			nodes: [
				WEATHER,
				asks('Second', 'Athens'),
				INNER_LOOP({ reset: "={{ ['weather', 'Second'].includes($prevNode.name) }}" }),
				code('Each', LINKED_TO_QUESTION.replace('Questions', 'Second')),
			],
			wires: { Start: [['Questions', 'Second']], Second: [['Inner']], ...EACH },
			parameters: FIXED,
		});
		expect(failureOf(execution)).toBe('');
		expect(answers.map(({ output }) => output)).toStrictEqual([RIGHT, RIGHT]);
		expect(agent.model.requests).toHaveLength(4);
	},
	RUN_LIMIT_MS,
);

const merge = (parameters: object, type = 'merge', version = 3.2) =>
	node('Both', base(type), version, { parameters });
const ROWS = set('Reference', '{ "unit": "C" }');
const OUTSIDE: Wires = {
	Start: [['Questions', 'Reference']],
	Reference: [['Both#1']],
	weather: [['Both']],
	Both: [['Agent']],
};
const ONCE = /^Agent: Both gets items of Reference, which no tool call brings\b.*\$\("Reference"\)/;
const byFields = (joinMode: string) => ({
	mode: 'combine',
	combineBy: 'combineByFields',
	fieldsToMatchString: 'unit',
	joinMode,
});

const INNER_LOOP = (options: object, typeVersion = 3) =>
	node('Inner', base('splitInBatches'), typeVersion, { parameters: { batchSize: 1, options } });
const RESET = "={{ $prevNode.name === 'weather' }}";
const EACH: Wires = { weather: [['Inner']], Inner: [['Agent'], ['Each']], Each: [['Inner']] };
const NO_RESET = /^Agent: Inner has no expression for Reset\b.*\$prevNode\.name === "weather"/;
/** Each tool leads to an input of its own. */
const JOINED: Wires = { weather: [['Both']], time: [['Both#1']], Both: [['Agent']] };
const joined = (both: ReturnType<typeof merge>, more: Partial<Row> = {}) => ({
	tools: ['weather', 'time'],
	nodes: [WEATHER, set('time', '{ "noon": true }'), both],
	wires: JOINED,
	...more,
});
const position = (options: object = {}) => ({
	mode: 'combine',
	combineBy: 'combineByPosition',
	options,
});
const detached = (mode: string) => {
	const flow = subWorkflow(mode);
	return { ...flow, parameters: { ...flow.parameters, options: { waitForSubWorkflow: false } } };
};

const second = (name: string, tools: readonly string[], more: object = {}) => ({
	...agentNode({ tools, parameters: more }),
	id: name.toLowerCase(),
	name,
});
const TWO_AGENTS: Wires = { Start: [['Questions']], Questions: [['Agent', 'Other']] };
const SHARED = /^(Agent|Other): Tool branches lead to the agent \w+ as well, through \w+\b/;

const NO_ITEM =
	/^Agent: Tool weather returned no item for \d calls?\b.*In the branch of weather ran: weather(, Both)?\.$/;

/** Drawings that bring no result, which the end of the execution or the arrival shows after one request. */
const PAID_ONCE: readonly [string, Row, RegExp][] = [
	[
		'a Merge of the branch and questions of two sources',
		{
			nodes: [WEATHER, asks('Second', 'Athens'), merge({ mode: 'append' })],
			wires: {
				Start: [['Questions', 'Second']],
				Questions: [['Both']],
				Second: [['Both']],
				weather: [['Both#1']],
				Both: [['Agent']],
			},
		},
		/^Agent: Tool results came back without the link .*\(from Both\).*a connection of their own/,
	],
	...(
		[
			['Combine by position', merge(position())],
			['Combine All', merge({ mode: 'combine', combineBy: 'combineAll' })],
			['Combine, keep matches', merge(byFields('keepMatches'))],
			['Choose Branch', merge({ mode: 'chooseBranch' })],
		] as const
	).map(([name, both]): [string, Row, RegExp] => [`${name} of two tools`, joined(both), NO_ITEM]),
	[
		'Combine by position of two tools, all at once',
		joined(merge(position()), { parameters: ALL_AT_ONCE }),
		NO_ITEM,
	],
	[
		'Combine by position of two tools, v0',
		joined(merge(position()), { executionOrder: 'v0' }),
		NO_ITEM,
	],
	[
		'Combine by position with one connection',
		{ nodes: [WEATHER, merge(position())], wires: { weather: [['Both']], Both: [['Agent']] } },
		NO_ITEM,
	],
];

it.each(PAID_ONCE)(
	'fails after one request: %s',
	async (name, row, message) => {
		const drawing = { tools: ['weather'], questions: ['Rome, Oslo'], ...row };
		const execution = await agent.runWorkflow(draw(name, drawing));
		expect({
			failure: failureOf(execution),
			requests: agent.model.requests.length,
		}).toStrictEqual({ failure: like(message), requests: 1 });
	},
	RUN_LIMIT_MS,
);

/** Drawings that cannot work. No request leaves the node. */
const REFUSED: readonly [string, Row, RegExp][] = [
	...(
		[
			['Append', merge({ mode: 'append' })],
			['Combine, keep everything', merge(byFields('keepEverything'))],
			['Combine, enrich input 1', merge(byFields('enrichInput1'))],
			['Combine All', merge({ mode: 'combine', combineBy: 'combineAll' })],
			['Combine by position', merge({ mode: 'combine', combineBy: 'combineByPosition' })],
			['Choose Branch', merge({ mode: 'chooseBranch' })],
			['SQL', merge({ mode: 'combineBySql', query: 'SELECT * FROM input1' })],
			[
				'Compare Datasets',
				merge(
					{ mergeByFields: { values: [{ field1: 'a', field2: 'b' }] } },
					'compareDatasets',
					2.3,
				),
			],
		] as const
	).map(([name, both]): [string, Row, RegExp] => [
		`${name} with reference rows from outside`,
		{ nodes: [WEATHER, ROWS, both], wires: OUTSIDE },
		ONCE,
	]),
	[
		'Append with reference rows, which pass a disabled node, at its first input',
		{
			nodes: [WEATHER, ROWS, { ...noOp('Skipped'), disabled: true }, merge({})],
			wires: {
				...OUTSIDE,
				Reference: [['Skipped']],
				Skipped: [['Both']],
				weather: [['Both#1']],
			},
		},
		/^Agent: Both gets items of Skipped, which no tool call brings\b/,
	],
	[
		'Append of three inputs with reference rows at the last',
		{
			nodes: [noOp('weather'), ROWS, noOp('One'), noOp('Two'), merge({ numberInputs: 3 })],
			wires: {
				...OUTSIDE,
				Reference: [['Both#2']],
				weather: [['One', 'Two']],
				One: [['Both']],
				Two: [['Both#1']],
			},
		},
		ONCE,
	],
	[
		'Append with reference rows at the input of the calls',
		{
			nodes: [WEATHER, ROWS, noOp('Other'), merge({})],
			wires: {
				...OUTSIDE,
				Reference: [['Both']],
				weather: [['Both', 'Other']],
				Other: [['Both#1']],
			},
		},
		ONCE,
	],
	[
		'Append with reference rows from Answer',
		{
			nodes: [WEATHER, noOp('Reference'), merge({})],
			wires: { ...OUTSIDE, Start: [['Questions']], Answers: [['Reference']] },
		},
		ONCE,
	],
	...['once', 'each'].map((mode): [string, Row, RegExp] => [
		`a sub-workflow that nobody waits for, ${mode}`,
		{ nodes: [detached(mode)], wires: BACK },
		/^Agent: weather does not wait for its sub-workflow\b.*Wait For Sub-Workflow Completion/,
	]),
	[
		'Loop Over Items without Reset',
		{ nodes: [WEATHER, INNER_LOOP({}), noOp('Each')], wires: EACH },
		NO_RESET,
	],
	[
		'Loop Over Items with Reset always on, which never ends',
		{ nodes: [WEATHER, INNER_LOOP({ reset: true }), noOp('Each')], wires: EACH },
		NO_RESET,
	],
	[
		'Loop Over Items with Reset off',
		{ nodes: [WEATHER, INNER_LOOP({ reset: false }), noOp('Each')], wires: EACH },
		NO_RESET,
	],
	...['={{ true }}', '={{ false }}', '=true'].map((reset): [string, Row, RegExp] => [
		`Loop Over Items with an expression for Reset that never changes: ${reset}`,
		{ nodes: [WEATHER, INNER_LOOP({ reset }), noOp('Each')], wires: EACH },
		NO_RESET,
	]),
	[
		'Loop Over Items of version 2 without Reset',
		{
			nodes: [WEATHER, INNER_LOOP({}, 2), noOp('Each')],
			wires: { ...EACH, Inner: [['Each'], ['Agent']] },
		},
		NO_RESET,
	],
	[
		'Loop Over Items without Reset in the branch of the second tool',
		{
			tools: ['time', 'weather'],
			nodes: [WEATHER, INNER_LOOP({}), noOp('Each'), noOp('time')],
			wires: { ...EACH, time: [['Agent']] },
		},
		NO_RESET,
	],
	[
		'Loop Over Items without Reset in the branch of all tools',
		{
			nodes: [WEATHER, INNER_LOOP({}), noOp('Each')],
			wires: EACH,
			parameters: { outputMode: 'single' },
		},
		NO_RESET,
	],
	[
		'Loop Over Items with a Reset that names a node by its former name',
		{
			nodes: [
				WEATHER,
				INNER_LOOP({ reset: "={{ $prevNode.name === 'Sun' }}" }),
				noOp('Each'),
			],
			wires: EACH,
		},
		NO_RESET,
	],
	[
		'Loop Over Items of two tools with a Reset that names one',
		{
			tools: ['weather', 'time'],
			nodes: [
				WEATHER,
				noOp('time'),
				INNER_LOOP({ reset: "={{ $prevNode.name === 'time' }}" }),
				noOp('Each'),
			],
			wires: { ...EACH, time: [['Inner']] },
		},
		NO_RESET,
	],
	[
		'Loop Over Items with Reset in its first run only',
		{
			nodes: [WEATHER, INNER_LOOP({ reset: '={{ $runIndex === 0 }}' }), noOp('Each')],
			wires: EACH,
		},
		NO_RESET,
	],
	[
		'Loop Over Items that leads to the agent for each batch, and not back to itself',
		{
			nodes: [WEATHER, INNER_LOOP({ reset: RESET }), noOp('Each')],
			wires: { ...EACH, Each: [['Agent']] },
		},
		/^Agent: Inner leads to Agent from its output loop, and not back to itself\b.*first batch/,
	],
	[
		'a branch that leads to the Loop Over Items around the agent',
		{
			nodes: [WEATHER, node('Loop', base('splitInBatches'), 3), noOp('All')],
			wires: {
				Questions: [['Loop']],
				Loop: [['All'], ['Agent']],
				Agent: [['Loop'], [], ['weather']],
				weather: [['Loop']],
			},
		},
		/^Agent: Loop is in the branch of a tool, and the questions pass it\b/,
	],
	[
		'two agents that share one branch',
		{
			nodes: [second('Other', ['weather']), WEATHER, noOp('Told')],
			wires: {
				...TWO_AGENTS,
				Other: [['Told'], [], ['weather']],
				weather: [['Agent', 'Other']],
			},
		},
		SHARED,
	],
	[
		'two agents that share an IF, each with one side of it',
		{
			nodes: [
				second('Other', ['time'], { outputMode: 'single' }),
				when('weather', 'if', '={{ $json.city }}', 'Rome'),
				noOp('time'),
			],
			wires: {
				...TWO_AGENTS,
				Other: [[], [], ['time']],
				time: [['weather']],
				weather: [['Agent'], ['Other']],
			},
		},
		SHARED,
	],
	[
		'two agents that share a branch, with one way back',
		{
			nodes: [second('Other', ['weather']), WEATHER],
			wires: { ...TWO_AGENTS, Other: [[], [], ['weather']], ...BACK },
		},
		SHARED,
	],
	[
		'two agents, one after another, that share one branch',
		{
			nodes: [second('Other', ['weather'], { prompt: '={{ $json.output }}' }), WEATHER],
			wires: {
				Answers: [['Other']],
				Other: [[], [], ['weather']],
				weather: [['Agent', 'Other']],
			},
		},
		SHARED,
	],
	[
		'a tool that leads into the branch of another agent',
		{
			nodes: [second('Other', ['time']), WEATHER, noOp('time'), noOp('Told')],
			wires: {
				...TWO_AGENTS,
				Other: [['Told'], [], ['time']],
				time: [['Told', 'Other']],
				Told: [['Agent']],
				weather: [['time']],
			},
		},
		SHARED,
	],
	[
		'three agents that share the last node of their branches',
		{
			nodes: [
				second('Other', ['time']),
				second('Third', ['place']),
				WEATHER,
				noOp('time'),
				noOp('place'),
				noOp('Told'),
			],
			wires: {
				Questions: [['Agent', 'Other', 'Third']],
				Other: [[], [], ['time']],
				Third: [[], [], ['place']],
				weather: [['Told']],
				time: [['Told']],
				place: [['Told']],
				Told: [['Agent', 'Other', 'Third']],
			},
		},
		/^\w+: Tool branches lead to the agent \w+ as well, through Told\b/,
	],
	[
		'an agent behind Answer, whose tool cannot come back',
		{
			nodes: [WEATHER, second('Other', ['time'], { prompt: 'Hello' }), noOp('time')],
			wires: { ...BACK, Answers: [['Other']], Other: [[], [], ['time']] },
		},
		/^Agent: Tool time of Other has a branch that does not lead back\b.*the input of Other$/,
	],
	[
		'an agent in the branch, whose tool cannot come back',
		{
			nodes: [second('weather', ['time'], { prompt: 'Hello' })],
			wires: { weather: [['Agent'], [], []] },
		},
		/^Agent: Tool time of weather has no branch\b/,
	],
	[
		'a branch that leads to another agent as well',
		{
			nodes: [second('Other', ['time']), WEATHER, noOp('time'), noOp('Told')],
			wires: {
				Other: [['Told'], [], ['time']],
				time: [['Other']],
				weather: [['Agent', 'Other']],
			},
		},
		/^Agent: Tool branches lead to the agent Other as well – /,
	],
];

describe('drawings that are refused before the first request', () => {
	it.each(REFUSED)(
		'%s',
		async (name, row, message) => {
			const drawing = { tools: ['weather'], questions: ['Rome, Oslo'], ...row };
			const execution = await agent.runWorkflow(draw(name, drawing));
			expect({
				failure: failureOf(execution),
				requests: agent.model.requests.length,
			}).toStrictEqual({ failure: like(message), requests: 0 });
		},
		RUN_LIMIT_MS,
	);

	it(
		'names what Execute step on the agent cannot do',
		async () => {
			const row = { tools: ['weather'], questions: ['Rome'], nodes: [WEATHER], wires: BACK };
			const execution = await agent.runWorkflow(draw('Execute step', row), 'Agent');
			expect({
				failure: failureOf(execution),
				requests: agent.model.requests.length,
			}).toStrictEqual({
				failure: like(/^Agent: Execute step runs this node without the branches.*whole/),
				requests: 0,
			});
		},
		RUN_LIMIT_MS,
	);
});

/** Drawings that look like a refused one, and work. */
const ACCEPTED: readonly [string, Row & { readonly requests?: number }, string][] = [
	[
		'a Merge of the questions and the branch',
		{
			nodes: [WEATHER, merge({ mode: 'append' })],
			wires: { Questions: [['Both']], weather: [['Both#1']], Both: [['Agent']] },
		},
		RIGHT,
	],
	[
		'a Merge with reference rows in a way that does not lead back',
		{
			nodes: [WEATHER, ROWS, merge({ mode: 'append' }), noOp('Log')],
			wires: { ...OUTSIDE, weather: [['Agent', 'Both']], Both: [['Log']] },
		},
		RIGHT,
	],
	[
		'reference rows by expression',
		{
			nodes: [
				ROWS,
				set(
					'weather',
					`={{ { "degrees": $json.city.length, ...$('Reference').first().json } }}`,
				),
			],
			wires: { Start: [['Reference']], Reference: [['Questions']], ...BACK },
		},
		'Rome: {"degrees":4,"unit":"C"}',
	],
	...(
		[
			['Append', merge({ mode: 'append' })],
			[
				'Combine by position, with unpaired items',
				merge(position({ includeUnpaired: true })),
			],
			['Combine, keep everything', merge(byFields('keepEverything'))],
			['Combine, enrich input 1', merge(byFields('enrichInput1'))],
		] as const
	).map(([name, both]): [string, Row, string] => [`${name} of two tools`, joined(both), RIGHT]),
	[
		'Combine by position of two tools, which also lead back by themselves',
		joined(merge(position()), {
			wires: { ...JOINED, weather: [['Agent', 'Both']], time: [['Agent', 'Both#1']] },
		}),
		RIGHT,
	],
	...[
		"={{ $('Inner').context.done }}",
		"={{ $prevNode.name !== 'Each' }}",
		"={{ ['weather', 'time'].includes($prevNode.name) }}",
	].map((reset): [string, Row, string] => [
		`Loop Over Items with Reset ${reset}`,
		{
			nodes: [WEATHER, INNER_LOOP({ reset }), set('Each', '={{ { "n": $json.degrees } }}')],
			wires: EACH,
			questions: [TWO],
		},
		'Rome, Athens: {"n":4} {"n":6}',
	]),
	[
		'a sub-workflow that nobody waits for, and what the model is to know',
		{
			nodes: [detached('once'), set('Told', '{ "degrees": 4 }')],
			wires: { weather: [['Told']], Told: [['Agent']] },
		},
		RIGHT,
	],
	[
		'Loop Over Items with Reset in the branch of an agent in the branch',
		{
			nodes: [
				second('weather', ['time'], { prompt: 'Hello' }),
				noOp('time'),
				INNER_LOOP({ reset: "={{ $prevNode.name === 'time' }}" }),
				noOp('Each'),
				set('Told', '{ "degrees": 4 }'),
			],
			wires: {
				weather: [['Told'], [], ['time']],
				time: [['Inner']],
				Inner: [['weather'], ['Each']],
				Each: [['Inner']],
				Told: [['Agent']],
			},
			requests: 3,
		},
		RIGHT,
	],
	[
		'an agent in the loop of a Loop Over Items in the branch',
		{
			nodes: [
				noOp('weather'),
				INNER_LOOP({ reset: RESET }),
				second('Other', ['time'], { prompt: 'Hello' }),
				noOp('time'),
				set('Told', '{ "degrees": 4 }'),
			],
			wires: {
				weather: [['Inner']],
				Inner: [['Agent'], ['Other']],
				Other: [['Told'], [], ['time']],
				time: [['Other']],
				Told: [['Inner']],
			},
			requests: 3,
		},
		RIGHT,
	],
	[
		'an agent behind Answer whose errors go on',
		{
			nodes: [
				WEATHER,
				{
					...second('Other', ['time'], { prompt: 'Hello' }),
					onError: 'continueRegularOutput',
				},
				noOp('time'),
			],
			wires: { ...BACK, Answers: [['Other']], Other: [[], [], ['time']] },
		},
		RIGHT,
	],
	[
		'a disabled Loop Over Items',
		{
			nodes: [WEATHER, { ...INNER_LOOP({}), disabled: true }, noOp('Each')],
			wires: EACH,
		},
		RIGHT,
	],
	[
		'a disabled agent at the branch',
		{
			nodes: [WEATHER, { ...second('Other', ['weather']), disabled: true }, noOp('Told')],
			wires: { weather: [['Agent', 'Other']], Other: [['Told'], [], ['weather']] },
		},
		RIGHT,
	],
	[
		'an agent in the branch for some of the calls',
		{
			nodes: [
				when('weather', 'if', '={{ $json.city }}', 'Rome'),
				set('Told', '{ "degrees": 4 }'),
				second('Other', ['time'], { prompt: 'Hello' }),
				noOp('time'),
			],
			wires: {
				weather: [['Told'], ['Other']],
				Told: [['Agent']],
				Other: [['Agent'], [], ['time']],
				time: [['Other']],
			},
		},
		RIGHT,
	],
];

it.each(ACCEPTED)(
	'accepts %s',
	async (_name, { requests = 2, ...row }, expected) => {
		const { answers, execution } = await agent.run({
			tools: ['weather'],
			questions: ['Rome'],
			...row,
		});
		expect({
			answers: answers.map(({ output }) => output),
			failure: failureOf(execution),
			requests: agent.model.requests.length,
		}).toStrictEqual({ answers: [expected], failure: '', requests });
	},
	RUN_LIMIT_MS,
);

/** What a drawing without a connection at Stopped gives, when the question Endless never ends. */
interface StopRow extends Row {
	readonly answers: readonly string[];
	readonly failure: RegExp | '';
	readonly answersAt?: string;
	readonly requests: number;
}

const ONLY_ANSWER = { Agent: [['Answers'], [], ['weather']], ...BACK };
const QUESTIONS = ['Hello one', 'Endless', 'Hello two'];
const STOPPED =
	/^Agent: Stopped has no connection, and 1 conversation left through it\b.*Maximum Rounds/;
const LIMIT = { options: { maxRounds: 2 } };

const STOPS: readonly [string, StopRow][] = [
	[
		'after the answers of the others have gone on',
		{
			nodes: [WEATHER],
			wires: ONLY_ANSWER,
			answers: ['Hello one:', 'Hello two:'],
			failure: STOPPED,
			requests: 4,
		},
	],
	[
		'after the answers of the others have gone on, v0',
		{
			nodes: [WEATHER],
			wires: ONLY_ANSWER,
			executionOrder: 'v0',
			answers: ['Hello one:', 'Hello two:'],
			failure: STOPPED,
			requests: 4,
		},
	],
	[
		'in Loop Over Items, which ends there',
		{
			nodes: [WEATHER, node('Loop', base('splitInBatches'), 3), noOp('All')],
			wires: {
				Questions: [['Loop']],
				Loop: [['All'], ['Agent']],
				Agent: [['Loop', 'Answers'], [], ['weather']],
				...BACK,
			},
			answers: ['Hello one:'],
			failure: STOPPED,
			requests: 3,
		},
	],
	[
		'in Loop Over Items in batches, which goes on',
		{
			nodes: [
				WEATHER,
				node('Loop', base('splitInBatches'), 3, { parameters: { batchSize: 2 } }),
				noOp('All'),
			],
			wires: {
				Questions: [['Loop']],
				Loop: [['All'], ['Agent']],
				Agent: [['Loop'], [], ['weather']],
				...BACK,
			},
			answers: ['Hello one:', 'Hello two:'],
			answersAt: 'All',
			failure: STOPPED,
			requests: 4,
		},
	],
	[
		'once, with Retry On Fail',
		{
			nodes: [WEATHER],
			wires: ONLY_ANSWER,
			retryOnFail: true,
			answers: ['Hello one:', 'Hello two:'],
			failure: STOPPED,
			requests: 4,
		},
	],
	[
		'of a model that repeats a call',
		{
			nodes: [WEATHER],
			wires: ONLY_ANSWER,
			parameters: { options: { maxRounds: 9 } },
			answers: ['Hello one:', 'Hello two:'],
			failure:
				/^Agent: Stopped has no connection, and 1 conversation left .*repeated_tool_call/,
			requests: 6,
		},
	],
	[
		'not where Stopped is connected',
		{
			nodes: [WEATHER],
			wires: BACK,
			answers: ['Hello one:', 'Hello two:'],
			failure: '',
			requests: 4,
		},
	],
	[
		'not with On Error: Continue',
		{
			nodes: [WEATHER],
			wires: ONLY_ANSWER,
			nodeSettings: { onError: 'continueRegularOutput' },
			answers: ['Hello one:', 'Hello two:'],
			failure: '',
			requests: 4,
		},
	],
];

describe('a conversation that stops where Stopped is not connected is an error', () => {
	beforeEach(() => {
		agent.model.replyWith((messages) => {
			const question = String(messages[0]!.content);
			if (question.startsWith('Hello')) return `${question}:`;
			return [call(`c${messages.length}`, 'weather', { city: 'Rome' })];
		});
	});

	it.each(STOPS)(
		'%s',
		async (name, { answers, failure, requests, answersAt = 'Answers', ...row }) => {
			const execution = await agent.runWorkflow(
				draw(name, {
					tools: ['weather'],
					questions: QUESTIONS,
					parameters: LIMIT,
					...row,
				}),
			);
			expect({
				answers: outputItems(execution, answersAt).map(({ json }) => json['output']),
				failure: failureOf(execution),
				requests: agent.model.requests.length,
			}).toStrictEqual({ answers, failure: failure && like(failure), requests });
		},
		RUN_LIMIT_MS,
	);

	it(
		'for the caller of a webhook, whose execution fails',
		async () => {
			const asked = draw('Asked by webhook', {
				tools: ['weather'],
				questions: ['Endless'],
				nodes: [WEATHER],
				wires: ONLY_ANSWER,
				parameters: LIMIT,
			});
			const path = 'agent-stops';
			const trigger = node('Start', base('webhook'), 2.1, {
				parameters: { httpMethod: 'POST', path, responseMode: 'lastNode' },
				webhookId: path,
			});
			const ref = await agent.client.importWorkflow({
				...asked,
				nodes: asked.nodes.map((each) => (each.name === 'Start' ? trigger : each)),
			});
			await agent.client.activate(ref);
			const answer = postWebhook(`${agent.n8n.url}/webhook/${path}`, {});
			await expect(answer).rejects.toThrow(/status 500/);
			expect(failureOf(await agent.client.lastExecution(ref))).toMatch(STOPPED);
			expect(agent.model.requests).toHaveLength(2);
		},
		RUN_LIMIT_MS,
	);

	it(
		'for the workflow that has called the one of the agent',
		async () => {
			const called = draw('Called', {
				tools: ['weather'],
				questions: QUESTIONS,
				nodes: [WEATHER],
				wires: ONLY_ANSWER,
				parameters: LIMIT,
			});
			const trigger = node('Start', base('executeWorkflowTrigger'), 1.1, {
				parameters: { inputSource: 'passthrough' },
			});
			const { id } = await agent.client.importWorkflow({
				...called,
				nodes: called.nodes.map((each) => (each.name === 'Start' ? trigger : each)),
			});
			const execution = await agent.runWorkflow(
				workflow('Calls', [
					start,
					node('Call', base('executeWorkflow'), 1.2, {
						parameters: { workflowId: { __rl: true, mode: 'id', value: id } },
					}),
				]),
			);
			expect(failureOf(execution)).toMatch(/Stopped has no connection/);
		},
		RUN_LIMIT_MS,
	);
});
