/**
 * What the drawing around Agent with Tools decides, in n8n's engine: which drawings are refused before anything is paid, how
 * questions that arrive while calls are open are told from results, and that no conversation is lost. n8n's own nodes in the
 * branches are in test/e2e/agentDrawings.test.ts.
 */
import type { INode, INodeExecutionData } from 'n8n-workflow';

import { asks, finds, modelForDrawings, type DrawnNode, type Drawing } from '../support/drawnAgent';
import type { StubWork } from '../support/engine';

// Only a complete n8n has its SDK for AI nodes.
jest.mock('../../nodes/shared/chat/aiNodeSdk', () => ({
	...jest.requireActual<object>('../../nodes/shared/chat/aiNodeSdk'),
	loadAiNodeSdk: () => ({
		getParametersJsonSchema: ({ inputSchema }: { inputSchema: unknown }) => inputSchema,
	}),
}));

const model = modelForDrawings();
const like = (pattern: RegExp) => expect.stringMatching(pattern) as string;

const BACK = 'weather > Agent';
const ALL_AT_ONCE = { options: { runCalls: 'allAtOnce' } };
const V0 = { environment: { executionOrder: 'v0' } } as const;
const ALL = { parameters: ALL_AT_ONCE };
const EVERY_WAY = [{}, V0, ALL, { ...V0, ...ALL }];
const BOTH_MODES = [{}, ALL];
const FIXED = { prompt: 'Hello', options: { retries: 0 } };
const CONTINUE = { onError: 'continueRegularOutput' } as const;
const SEPARATE = { onError: 'continueErrorOutput' } as const;
const SINGLE = { parameters: { outputMode: 'single' } };
const DISABLED = { disabled: true };

const loop = (reset?: string | boolean, typeVersion = 3) => ({
	type: 'splitInBatches',
	typeVersion,
	parameters: { options: reset === undefined ? {} : { reset } },
});
const RESET = "={{ $prevNode.name === 'weather' }}";
const EACH = 'weather > Inner > Agent; Inner:1 > Each > Inner';
const NO_RESET = /^Inner has no expression for Reset\b.*\$prevNode\.name === "weather"/;
const TWO_AGENTS = `Questions > Agent, Other`;
const SHARED = /^Tool branches lead to the agent \w+ as well, through \w+\b/;
const OUTSIDE = 'Start > Questions, Reference';
const ONCE = /^Both gets items of Reference, which no tool call brings\b.*\$\("Reference"\)/;
const DETACHED = { parameters: { options: { waitForSubWorkflow: false } } };
const other = (tools: string, prompt = '={{ $json.question }}') => ({
	agent: tools,
	parameters: { prompt },
});

/** Drawings that cannot work: their connections, the error, and what else is drawn. */
const REFUSED: readonly [string, ways: string, RegExp, Drawing?][] = [
	['a tool without a wire', 'Agent > Answers', /^Tool weather has no branch/],
	[
		'a second tool without a wire',
		`Agent > Answers; Agent:2 > weather > Agent`,
		/^Tool time has no branch/,
		{ tools: 'weather time' },
	],
	['one output for all tools without a wire', 'Agent > Answers', /no branch/, SINGLE],
	[
		'a tool straight to the input, as after its node was deleted',
		'Agent > Answers; Agent:2 > Agent',
		/^Tool weather leads straight back to the input Connect its output to the nodes that run it/,
	],
	[
		'Answer straight to the input',
		`Agent > Answers, Agent; Agent:2 > weather > Agent`,
		/^Answer leads straight back to the input/,
	],
	[
		'Stopped straight to the input',
		`Agent:1 > Agent; Agent:2 > weather > Agent`,
		/^Stopped leads straight back to the input/,
	],
	[
		'a branch that ends at its last node',
		'',
		/^Tool weather has a branch that does not lead back/,
	],
	[
		'a branch that leads to Answer instead of back',
		'weather > Answers',
		/^Tool weather has a branch that does not lead back/,
	],
	[
		'a branch that goes in a circle',
		'weather > Round > weather',
		/^Tool weather has a branch that does not lead back/,
	],
	[
		'a wire that a removed tool has left',
		'Agent > Answers; Agent:2 > weather > Agent; Agent:3 > Removed > Agent',
		/^Connections are left of an output that no longer exists/,
	],
	[
		'what the editor leaves of a removed tool: an empty slot, and its branch without an entry',
		'Agent > Answers; Agent:2 > weather > Agent; Agent:3 > ; time > Agent',
		/^Nothing leads to time, which leads back to this node/,
		{ tools: 'time' },
	],
	[
		'a tool without a branch where errors lead back',
		'Agent > Answers; Agent:3 > Again > Agent',
		/^Tool weather has no branch/,
		SEPARATE,
	],
	[
		'rows from outside at a Merge',
		`${OUTSIDE}; Reference > Both#1; weather > Both > Agent`,
		ONCE,
	],
	[
		'rows from outside through a disabled node, at the first input',
		`${OUTSIDE}; Reference > Skipped > Both; weather > Both#1 > Agent`,
		/^Both gets items of Skipped, which no tool call brings\b/,
		{ nodes: { Skipped: DISABLED } },
	],
	[
		'rows from outside at the third input',
		`${OUTSIDE}; Reference > Both#2 > Agent; weather > One, Two; One > Both; Two > Both#1`,
		ONCE,
	],
	[
		'rows from outside at the input of the calls',
		`${OUTSIDE}; Reference > Both > Agent; weather > Both, Later; Later > Both#1`,
		ONCE,
	],
	['rows from Answer', 'Answers > Reference > Both#1; weather > Both > Agent', ONCE],
	[
		'a sub-workflow that nobody waits for',
		BACK,
		/^weather does not wait for its sub-workflow\b.*Wait For Sub-Workflow Completion/,
		{ nodes: { weather: DETACHED } },
	],
	...[
		undefined,
		true,
		'={{ true }}',
		'={{ $runIndex === 0 }}',
		"={{ $prevNode.name === 'Sun' }}",
	].map((reset): (typeof REFUSED)[number] => [
		`Loop Over Items with Reset ${String(reset)}`,
		EACH,
		NO_RESET,
		{ nodes: { Inner: loop(reset) } },
	]),
	[
		'Loop Over Items of version 2',
		'weather > Inner > Each > Inner; Inner:1 > Agent',
		NO_RESET,
		{ nodes: { Inner: loop(undefined, 2) } },
	],
	[
		'Loop Over Items in the branch of the second tool',
		`${EACH}; time > Agent`,
		NO_RESET,
		{ tools: 'time weather', nodes: { Inner: loop() } },
	],
	[
		'Loop Over Items in the branch of all tools',
		EACH,
		NO_RESET,
		{ nodes: { Inner: loop() }, ...SINGLE },
	],
	[
		'Loop Over Items of two tools with a Reset that names one',
		`${EACH}; time > Inner`,
		NO_RESET,
		{ tools: 'weather time', nodes: { Inner: loop("={{ $prevNode.name === 'time' }}") } },
	],
	[
		'Loop Over Items that leads to the agent for each batch, and not back to itself',
		'weather > Inner > Agent; Inner:1 > Each > Agent',
		/^Inner leads to Agent from its output loop, and not back to itself\b.*first batch/,
		{ nodes: { Inner: loop(RESET) } },
	],
	[
		'a branch that leads to the Loop Over Items around the agent',
		'Questions > Loop > All; Loop:1 > Agent > Loop; Agent:2 > weather > Loop',
		/^Loop is in the branch of a tool, and the questions pass it\b/,
		{ nodes: { Loop: { ...loop(), work: (items) => [[], items] } } },
	],
	[
		'two agents that share one branch',
		`${TWO_AGENTS}; Other > Told; Other:2 > weather > Agent, Other`,
		SHARED,
		{ nodes: { Other: other('weather') } },
	],
	[
		'two agents that share an IF, each with one side of it',
		`${TWO_AGENTS}; Other:2 > time > weather > Agent; weather:1 > Other`,
		SHARED,
		{ nodes: { Other: { agent: 'time', parameters: { outputMode: 'single' } } } },
	],
	[
		'two agents that share a branch, with one way back',
		`${TWO_AGENTS}; Other:2 > weather > Agent`,
		SHARED,
		{ nodes: { Other: other('weather') } },
	],
	[
		'two agents, one after another, that share one branch',
		'Answers > Other; Other:2 > weather > Agent, Other',
		SHARED,
		{ nodes: { Other: other('weather') } },
	],
	[
		'a tool that leads into the branch of another agent',
		`${TWO_AGENTS}; Other > Told > Agent; Other:2 > time > Told, Other; weather > time`,
		SHARED,
		{ nodes: { Other: other('time') } },
	],
	[
		'a branch that leads to another agent as well',
		'weather > Agent, Other; Other > Told; Other:2 > time > Other',
		/^Tool branches lead to the agent Other as well /,
		{ nodes: { Other: other('time') } },
	],
	[
		'an agent behind Answer, whose tool cannot come back',
		`${BACK}; Answers > Other; Other:2 > time`,
		/^Tool time of Other has a branch that does not lead back\b.*the input of Other$/,
		{ nodes: { Other: other('time', 'Hello') } },
	],
	[
		'an agent in the branch, whose tool cannot come back',
		'weather > Agent',
		/^Tool time of weather has no branch\b/,
		{ nodes: { weather: other('time', 'Hello') } },
	],
];

test.each(REFUSED)(
	'rejects before the first request: %s',
	async (_name, ways, message, more = {}) => {
		const { failure, answers } = await model.run({ ways, ...more });
		expect([failure, answers]).toStrictEqual([like(message), []]);
		expect(model.requests).toHaveLength(0);
	},
);

test('with On Error: Continue the error of a drawing is that of each item', async () => {
	const { answers, failure } = await model.run({ questions: ['Hello', 'Rome'], ...CONTINUE });
	const message = 'Tool weather has a branch that does not lead back';
	expect([failure, answers]).toStrictEqual(['', [message, message]]);
});

test.each([
	[
		'leads straight to the input',
		'',
		'Agent:3 > Agent',
		'Error leads straight back to the input',
	],
	[
		'has become the one of a removed tool',
		'time > Agent; ',
		'Agent:3 > time; Agent:4 > ',
		'Error leads to time, the branch of a tool',
	],
])('fails each item once where the error output %s', async (_name, more, ways, message) => {
	const { run } = await model.run({
		ways: `${more}Agent > Answers; Agent:1 > Stops; Agent:2 > weather > Agent; ${ways}`,
		tools: more === '' ? 'weather' : 'time',
		questions: ['Hello', 'Rome'],
		...SEPARATE,
	});
	const [first, ...others] = run.data.resultData.runData['Agent']!;
	expect(first!.data!['main']![3]!.map(({ json }) => json['error'])).toStrictEqual([
		message,
		message,
	]);
	expect(others).toHaveLength(1);
	expect(model.requests).toHaveLength(0);
});

const RIGHT = 'Rome: {"degrees":4}';
const TOLD: StubWork = (items) =>
	items.map((_each, item) => ({ json: { degrees: 4 }, pairedItem: { item } }));

/** Drawings that look like a refused one, and work. */
const ACCEPTED: readonly [string, ways: string, Drawing?, requests?: number][] = [
	[
		'a second wire, a disabled node, an error output and an empty slot',
		'Agent > Answers; Agent:2 > weather, Log; Agent:3 > Errors; Agent:4 > ; weather > Skipped > Agent',
		{ nodes: { weather: finds, Skipped: DISABLED }, ...SEPARATE },
	],
	[
		'rows from outside in a way that does not lead back',
		`${OUTSIDE}; Reference > Both#1; weather > Agent, Both; Both > Log`,
	],
	[
		'a sub-workflow that nobody waits for, and what the model is to know',
		'weather > Told > Agent',
		{ nodes: { weather: DETACHED, Told: TOLD } },
	],
	[
		'an agent behind Answer whose errors go on',
		`${BACK}; Answers > Other; Other:2 > time`,
		{
			nodes: {
				weather: finds,
				Other: { ...other('time', 'Hello'), ...CONTINUE },
			},
		},
	],
	[
		'a disabled Loop Over Items',
		EACH,
		{ nodes: { weather: finds, Inner: { ...loop(), ...DISABLED } } },
	],
	[
		'a disabled agent at the branch',
		'weather > Agent, Other; Other > Told; Other:2 > weather',
		{ nodes: { weather: finds, Other: { agent: 'weather', ...DISABLED } } },
	],
	[
		'an agent in the branch for some of the calls',
		'weather > Told > Agent; weather:1 > Other > Agent; Other:2 > time > Other',
		{ nodes: { weather: (items) => [items, []], Told: TOLD, Other: other('time', 'Hello') } },
	],
	[
		'an agent in the branch with a branch of its own',
		'weather > Told > Agent; weather:2 > time > weather',
		{ nodes: { weather: other('time', 'Hello'), Told: TOLD } },
		3,
	],
];

test.each(ACCEPTED)('accepts %s', async (_name, ways, more = {}, requests = 2) => {
	const { failure, answers } = await model.run({ ways, nodes: { weather: finds }, ...more });
	expect([failure, answers, model.requests.length]).toStrictEqual(['', [RIGHT], requests]);
});

const TWO_SOURCES = 'Start > Questions, Second; Second > Agent';
/** Finds nothing for Nowhere. */
const findsSome: StubWork = (items) => [
	items.flatMap(({ json: { city } }, item) =>
		city === 'Nowhere'
			? []
			: [{ json: { degrees: String(city).length }, pairedItem: { item } }],
	),
];
const NO_ITEM =
	/^Tool weather returned no item for 1 call\b.*Always Output Data.*In the branch of weather ran: \w/;
const told: StubWork = (items) =>
	items.map(({ json: { city } }, item) => ({ json: { told: city! }, pairedItem: { item } }));
const sides =
	(isFirst: (item: INodeExecutionData) => boolean): StubWork =>
	(items) => {
		const linked = items.map(({ json }, item) => ({ json, pairedItem: { item } }));
		return [linked.filter(isFirst), linked.filter((each) => !isFirst(each))];
	};

/** Questions from several places and branches of several tools: their answers in any order. */
const CONVERSATIONS: readonly [
	string,
	Drawing,
	answers: readonly string[],
	variants: readonly Partial<Drawing>[],
	requests?: number,
][] = [
	[
		'two sources, each with two items and two calls in a round',
		{
			ways: `${TWO_SOURCES}; ${BACK}`,
			questions: ['Rome, Reykjavik', 'Hello one'],
			nodes: { Second: asks('Athens', 'Hello two'), weather: finds },
		},
		[
			'Rome, Reykjavik: {"degrees":4} {"degrees":9}',
			'Hello one:',
			'Athens: {"degrees":6}',
			'Hello two:',
		],
		EVERY_WAY,
	],
	[
		'both sides of an IF into the agent',
		{
			ways: `Questions > If > Agent; If:1 > Agent; ${BACK}`,
			questions: ['Athens', 'Rome', 'Reykjavik'],
			nodes: { If: sides(({ json }) => json['question'] === 'Rome'), weather: finds },
		},
		['Rome: {"degrees":4}', 'Athens: {"degrees":6}', 'Reykjavik: {"degrees":9}'],
		[{}, V0, { ...V0, ...ALL }],
	],
	[
		'sources and branch share the last node before the agent',
		{
			ways: 'Start > Questions, Second; Questions > Shared; Second > Shared; weather > Shared > Agent',
			nodes: {
				Second: asks('Athens'),
				weather: finds,
				Shared: (items) =>
					items.map(({ json }, item) => ({
						json: { ...json, seen: true },
						pairedItem: { item },
					})),
			},
		},
		['Rome: {"degrees":4,"seen":true}', 'Athens: {"degrees":6,"seen":true}'],
		[{}, V0, { ...V0, ...ALL }],
	],
	[
		'sources and branch share a Code node that loses the links',
		{
			ways: 'Start > Questions, Second; Questions > Shared; Second > Shared; weather > Shared > Agent',
			nodes: {
				Second: asks('Athens'),
				weather: finds,
				Shared: {
					type: 'code',
					work: (items) => items.flatMap(({ json }) => [{ json }, { json }]).slice(1),
				},
			},
		},
		['Rome: {"degrees":4}', 'Athens: {"degrees":6}'],
		[{}, V0],
	],
	[
		'two sources with a branch that loses the links and keeps tool_call',
		{
			ways: `${TWO_SOURCES}; ${BACK}`,
			questions: ['Rome', 'Reykjavik'],
			nodes: {
				Second: asks('Athens', 'Oslo'),
				weather: (items) =>
					[...items].reverse().flatMap(({ json: { city, tool_call } }) =>
						[1, 2].map((n) => ({
							json: { [String(city)]: n, tool_call: tool_call! },
						})),
					),
			},
		},
		['Rome', 'Reykjavik', 'Athens', 'Oslo'].map(
			(city) => `${city}: [{"${city}":1},{"${city}":2}]`,
		),
		[ALL, { ...V0, ...ALL }, V0],
	],
	[
		'an answer that leads back as a new question while another call is open',
		{
			ways: `Answers > Again > Agent; ${BACK}`,
			questions: ['Hello', 'Rome'],
			nodes: {
				weather: finds,
				Again: (items) => (items[0]!.json['output'] === 'Hello:' ? asks('Athens')([]) : []),
			},
		},
		['Hello:', 'Rome: {"degrees":4}', 'Athens: {"degrees":6}'],
		BOTH_MODES,
	],
	[
		'an item made from several answers begins a new conversation',
		{
			ways: 'Answers > All > Agent',
			questions: ['Hello one', 'Hello two'],
			nodes: {
				weather: finds,
				All: (items) =>
					items.length < 2
						? []
						: [
								{
									json: { question: 'Hello again' },
									pairedItem: items.map((_each, item) => ({ item })),
								},
							],
			},
			tools: '',
		},
		['Hello one:', 'Hello two:', 'Hello again:'],
		[{}],
	],
	[
		'a fork in the branch, of which both sides return, for two sources: the first counts',
		{
			ways: `${TWO_SOURCES}; weather > First, Late; First > Agent; Late > Agent`,
			nodes: { Second: asks('Athens'), First: told, Late: TOLD },
		},
		['Rome: {"told":"Rome"}', 'Athens: {"told":"Athens"}'],
		[{}, V0, { ...V0, ...ALL }],
	],
	[
		'two tools that share their branch',
		{
			ways: 'weather > Told > Agent; time > Told',
			tools: 'weather time',
			questions: ['Rome, time:Oslo'],
			nodes: { Told: told },
		},
		['Rome, time:Oslo: {"told":"Rome"} {"told":"Oslo"}'],
		BOTH_MODES,
	],
	[
		'a tool that the next tool takes for its input, both branches back',
		{
			ways: `${BACK}; time > weather`,
			tools: 'weather time',
			questions: ['time:Oslo', 'Rome'],
			nodes: {
				weather: finds,
				time: (items) =>
					items.map(({ json }, item) => ({
						json: { city: `${String(json['city'])}!` },
						pairedItem: { item },
					})),
			},
		},
		['time:Oslo: {"degrees":5}', 'Rome: {"degrees":4}'],
		BOTH_MODES,
	],
	[
		'an agent inside the branch of an agent, which calls it twice',
		{
			ways: 'ask > Told > Agent; ask:2 > weather > ask',
			tools: 'ask',
			questions: ['ask:Rome, ask:Athens'],
			nodes: {
				ask: other('weather', '={{ $json.city }}'),
				weather: finds,
				Told: (items) =>
					items.map(({ json }, item) => ({
						json: { told: json['output']! },
						pairedItem: { item },
					})),
			},
		},
		[
			'ask:Rome, ask:Athens: {"told":"Rome: {\\"degrees\\":4}"} {"told":"Athens: {\\"degrees\\":6}"}',
		],
		BOTH_MODES,
		6,
	],
];

/** As n8n's AI Agent does, it asks n8n to run a tool, and then goes on. */
const aiAgent = (work: StubWork = told) => ({ parameters: { tool: 'inner' }, work });

/** Loop Over Items, which links an item to where it had it from. */
function batches(): StubWork {
	let left: INodeExecutionData[] | undefined;
	return (items) => {
		left ??= items.map(({ json }, item) => ({
			json,
			pairedItem: { item, sourceOverwrite: { previousNode: 'Questions' } },
		}));
		const next = left.shift();
		return next === undefined ? [items, []] : [[], [next]];
	};
}

/** Nodes that n8n has run again after their tools: it then gives them another source than they had. */
const RESUMED: typeof CONVERSATIONS = [
	[
		'a tool node and a branch in turn',
		{
			ways: BACK,
			questions: ['Rome; calc:Oslo; Athens; calc:Paris'],
			nodes: { weather: told },
			toolNodes: { calc: 'Agent' },
		},
		[
			'Rome; calc:Oslo; Athens; calc:Paris: {"told":"Rome"} {"degrees":4} {"told":"Athens"} {"degrees":5}',
		],
		BOTH_MODES,
		5,
	],
	[
		'an AI Agent with a tool that is a branch by itself, in several rounds',
		{
			ways: 'weather > Agent; time > Agent',
			tools: 'time weather',
			questions: ['Rome; time:Bonn; Oslo; Athens'],
			nodes: { weather: aiAgent(), time: finds },
			toolNodes: { inner: 'weather' },
		},
		[
			'Rome; time:Bonn; Oslo; Athens: {"told":"Rome"} {"degrees":4} {"told":"Oslo"} {"told":"Athens"}',
		],
		BOTH_MODES,
		5,
	],
	[
		'an AI Agent with a tool behind two outputs, with several calls in a round',
		{
			ways: 'Agent > Answers; Agent:2 > Ai; Agent:3 > Ai > Agent',
			tools: 'weather time',
			questions: ['Rome, time:Oslo, Athens', 'time:Bonn'],
			nodes: { Ai: aiAgent() },
			toolNodes: { inner: 'Ai' },
		},
		[
			'Rome, time:Oslo, Athens: {"told":"Rome"} {"told":"Oslo"} {"told":"Athens"}',
			'time:Bonn: {"told":"Bonn"}',
		],
		BOTH_MODES,
	],
	[
		'an AI Agent with a tool behind an IF',
		{
			ways: 'weather > Ai > Agent; weather:1 > Other > Agent',
			questions: ['Oslo; Rome, Athens; Bonn', 'Rome'],
			nodes: {
				weather: sides(({ json }) => json['city'] === 'Rome'),
				Ai: aiAgent(),
				Other: finds,
			},
			toolNodes: { inner: 'Ai' },
		},
		[
			'Oslo; Rome, Athens; Bonn: {"degrees":4} {"told":"Rome"} {"degrees":6} {"degrees":4}',
			'Rome: {"told":"Rome"}',
		],
		BOTH_MODES,
		6,
	],
	[
		'another agent with a tool node as a branch',
		{
			ways: 'ask > Told > Agent',
			tools: 'ask',
			questions: ['ask:Rome, ask:Oslo; ask:Bonn', 'ask:Athens'],
			nodes: {
				ask: other('', '=calc:{{ $json.city }}'),
				Told: (items) =>
					items.map(({ json }, item) => ({
						json: { told: json['output']! },
						pairedItem: { item },
					})),
			},
			toolNodes: { calc: 'ask' },
		},
		[
			'ask:Rome, ask:Oslo; ask:Bonn: {"told":"calc:Rome: {\\"degrees\\":4}"} {"told":"calc:Oslo: {\\"degrees\\":4}"} {"told":"calc:Bonn: {\\"degrees\\":4}"}',
			'ask:Athens: {"told":"calc:Athens: {\\"degrees\\":6}"}',
		],
		BOTH_MODES,
		13,
	],
];

const variantsOf = [...CONVERSATIONS, ...RESUMED].flatMap(
	([name, drawing, answers, variants, requests]) =>
		variants.map(
			(variant) =>
				[
					`${name} ${JSON.stringify(variant)}`,
					{ ...drawing, ...variant },
					answers,
					requests,
				] as const,
		),
);

test.each(variantsOf)('%s', async (_name, drawing, answers, requests = 0) => {
	const seen = await model.run(drawing);
	expect([seen.failure, seen.answers.sort()]).toStrictEqual(['', [...answers].sort()]);
	const perAnswer = answers.reduce((sum, answer) => sum + (answer.endsWith(':') ? 1 : 2), 0);
	expect(model.requests).toHaveLength(requests || perAnswer);
});

describe('a branch that ends without an item for a call fails the execution', () => {
	const Second = asks('Athens');
	test.each<[string, Drawing, message?: RegExp, open?: string, requests?: number]>([
		['', { nodes: { weather: findsSome } }],
		['v0', { nodes: { weather: findsSome }, ...V0 }],
		[
			'Retry On Fail, which does not repeat the request',
			{ nodes: { weather: findsSome }, retryOnFail: true },
		],
		[
			'one call of two, all at once',
			{ questions: ['Rome, Nowhere'], nodes: { weather: findsSome }, ...ALL },
		],
		[
			'both calls of a tool, all at once',
			{ questions: ['Nowhere', 'Nowhere'], nodes: { weather: findsSome }, ...ALL },
			/^Tool weather returned no item for 2 calls\b/,
			'weather',
			2,
		],
		[
			'calls of two tools, all at once',
			{
				...{ ways: `${BACK}; time > Agent`, tools: 'weather time' },
				questions: ['Nowhere, time:Nowhere'],
				nodes: { weather: findsSome, time: findsSome },
				...ALL,
			},
			/^Tools weather, time returned no item for 2 calls\b/,
			'weather, time',
		],
		[
			'of an agent inside the branch of an agent',
			{
				...{
					ways: 'ask > Agent; ask:2 > weather > ask',
					tools: 'ask',
					questions: ['ask:Nowhere'],
				},
				nodes: { ask: other('weather', '={{ $json.city }}'), weather: findsSome },
			},
			/^Tool (weather|ask) returned no item for 1 call\b/,
			like(/^(ask|weather)/),
			2,
		],
		[
			'behind an agent inside the branch, which has answered',
			{
				...{
					ways: 'ask > Nothing > Agent; ask:2 > weather > ask',
					tools: 'ask',
					questions: ['ask:Rome'],
				},
				nodes: {
					ask: other('weather', '={{ $json.city }}'),
					weather: finds,
					Nothing: () => [],
				},
			},
			/^Tool ask returned no item for 1 call\b/,
			'ask',
			3,
		],
		[
			'where a late item belongs to the first of two calls',
			{
				...{ ways: 'weather > Agent, Later; Later > Agent', questions: ['Rome, Nowhere'] },
				nodes: { weather: findsSome, Later: TOLD },
			},
		],
		[
			'all at once, where items have no link',
			{
				...{ ways: BACK, questions: ['Rome, Athens'], ...ALL },
				nodes: {
					weather: (items) =>
						[...items, ...items].slice(1).map(() => ({ json: { n: 1 } })),
				},
			},
			/^Tool results came back without the link to their tool call \(from weather\).*One at a Time/,
		],
	])('%s', async (_name, drawing, message = NO_ITEM, open = 'weather', requests = 1) => {
		const seen = await model.run({ ways: BACK, questions: ['Nowhere'], ...drawing });
		expect(seen.answers).toStrictEqual([]);
		expect([seen.failure, seen.open]).toStrictEqual([like(message), open]);
		expect(model.requests).toHaveLength(requests);
	});

	test.each(EVERY_WAY)('where other questions go on: %j', async (variant) => {
		const seen = await model.run({
			...{ ways: `${TWO_SOURCES}; ${BACK}`, questions: ['Nowhere'] },
			nodes: { Second, weather: findsSome },
			...variant,
		});
		expect([seen.failure, seen.answers]).toStrictEqual([
			like(NO_ITEM),
			['Athens: {"degrees":6}'],
		]);
		expect(model.requests).toHaveLength(3);
	});

	test.each([CONTINUE, SEPARATE, { ...CONTINUE, retryOnFail: true }])(
		'its items only, with %j',
		async (how) => {
			const isSplit = how.onError === 'continueErrorOutput';
			const { at, failure, run } = await model.run({
				ways: `${BACK}${isSplit ? '; Agent > Answers; Agent:1 > Stops; Agent:2 > weather; Agent:3 > Errors' : ''}`,
				questions: ['Nowhere', 'Hello', 'Rome'],
				nodes: { weather: findsSome },
				...ALL,
				...how,
			});
			expect(failure).toBe('');
			const failed = 'Tool weather returned no item for 1 call';
			const answers = ['Hello:', 'Rome: {"degrees":4}'];
			expect([at('Answers'), at('Errors')]).toStrictEqual(
				isSplit ? [answers, [failed]] : [[failed, ...answers], []],
			);
			const { runData } = run.data.resultData;
			const json =
				runData[isSplit ? 'Errors' : 'Answers']!.at(-1)!.data!['main']![0]![0]!.json;
			expect(json).toMatchObject({
				message: like(/Always Output Data/),
				details: {
					rounds: 1,
					messages: [
						{ content: 'Nowhere' },
						{ role: 'assistant' },
						{ role: 'tool', tool_call_id: 'c0' },
					],
				},
			});
			expect(model.requests).toHaveLength(4);
		},
	);
});

test.each(['weather', 'Between'])(
	'Execute step on %s does not fail for want of a result',
	async (stepOf) => {
		const { failure, hints } = await model.run({
			ways: 'weather > Between > Last > Agent',
			environment: { stepOf },
		});
		expect(failure).toBe('');
		expect(hints[0]).toMatch(/Waiting for weather.*whole workflow/);
		expect(model.requests).toHaveLength(1);
	},
);

test.each(['perTool', 'single'])(
	'Execute step on an agent with tool nodes only runs those before it: outputs %s',
	async (outputMode) => {
		const parameters = { prompt: 'Hello', tools: {}, outputMode };
		const { failure } = await model.run({
			ways: `${BACK}; Answers > Other > Told`,
			nodes: { weather: finds, Other: { agent: '', parameters } },
			environment: { stepOf: 'Other' },
		});
		// None are drawn here.
		expect(failure).toMatch(/^Tools are missing/);
		expect(model.requests).toHaveLength(2);
	},
);

test.each([
	[{}, 'Waiting for weather'],
	[ALL, 'Waiting for weather, time'],
])('shows what it waits for in a hint and in the custom data: %j', async (variant, waiting) => {
	const { hints, open } = await model.run({
		...{ ways: `${BACK}; time > Agent`, tools: 'weather time', questions: ['Rome, time:Oslo'] },
		nodes: { weather: finds, time: told },
		...variant,
	});
	expect([hints[0], open]).toStrictEqual([waiting, 'none']);
});

test.each(BOTH_MODES)(
	'loses no result with Execute Once, which asks the first question: %j',
	async (variant) => {
		const { answers, failure } = await model.run({
			...{ ways: BACK, questions: ['Rome, Oslo', 'Athens'], nodes: { weather: told } },
			settings: { executeOnce: true },
			...variant,
		});
		expect([failure, answers]).toStrictEqual([
			'',
			['Rome, Oslo: {"told":"Rome"} {"told":"Oslo"}'],
		]);
	},
);

test.each(BOTH_MODES)('adds no empty answers with Always Output Data: %j', async (variant) => {
	const { answers, runsOf } = await model.run({
		...{ ways: BACK, questions: ['Rome, Oslo', 'Hello'], nodes: { weather: told } },
		settings: { alwaysOutputData: true },
		...variant,
	});
	expect(answers).toStrictEqual(['Rome, Oslo: {"told":"Rome"} {"told":"Oslo"}', 'Hello:']);
	expect(runsOf('Answers')).toBe(1);
});

test("keeps a tool's own field tool_call, and says where the result is the arguments", async () => {
	const own = { tool_call: 'call a plumber' };
	await model.run({ ways: BACK, nodes: { weather: () => [{ json: own }] } });
	expect(model.told).toStrictEqual([JSON.stringify(own)]);
	const { hints } = await model.run({ ways: BACK, nodes: { weather: DISABLED } });
	expect(hints).toContain(
		'The result is the arguments of the call: no node has changed them in the branch of weather',
	);
});

/** A node that throws and passes its input on. */
const THROWS: DrawnNode = {
	...CONTINUE,
	work: () => {
		throw new Error('Invalid wait amount');
	},
};

test.each(BOTH_MODES)(
	'tells the error of a node that has passed the call on: %j',
	async (variant) => {
		const { failure } = await model.run({
			...{
				ways: 'weather > Then > Agent',
				questions: ['Rome, Oslo'],
				nodes: { weather: THROWS },
			},
			...variant,
		});
		const error = '{"error":"Invalid wait amount"}';
		expect([failure, model.told]).toStrictEqual(['', [error, error]]);
	},
);

describe('a conversation that stops where Stopped is not connected', () => {
	const STOPPED =
		/^Stopped has no connection, and 1 conversation left through it\b.*Maximum Rounds((?!Maximum Tool).)*$/;
	const ways = `Agent > Answers; Agent:2 > weather > Agent`;
	test.each<[string, Drawing, failure?: RegExp, requests?: number]>([
		['is an error after the answers of the others have gone on', {}],
		['v0', V0],
		['is an error once, with Retry On Fail', { retryOnFail: true }],
		[
			'of a model that repeats a call',
			{ parameters: { options: { maxRounds: 9 } } },
			/^Stopped has no connection, and 1 conversation left ((?!Maximum).)*repeated_tool_call: describe ((?!Maximum).)*$/,
			6,
		],
		['is none where it is connected', { ways: BACK }, /^$/],
		['is none with On Error: Continue', CONTINUE, /^$/],
	])('%s', async (_name, drawing, failure = STOPPED, requests = 4) => {
		const seen = await model.run({
			...{
				ways,
				questions: ['Hello one', 'Endless', 'Hello two'],
				nodes: { weather: finds },
			},
			parameters: { options: { maxRounds: 2 } },
			...drawing,
		});
		expect(seen.failure).toMatch(failure);
		expect(seen.answers).toStrictEqual(['Hello one:', 'Hello two:']);
		expect(model.requests).toHaveLength(requests);
	});
});

describe('an outcome that leads back is a question', () => {
	const BOUND =
		/^Answer, Stopped or Error has led back to the input 10 times in a row\b.*Loop Over Items.*lead errors/;
	const Again = asks('Hello');
	const through = 'Answers > Again > Agent';
	const fixed = { questions: ['Hello'], tools: '', parameters: FIXED };
	const errors = 'Agent > Answers; Agent:3 > Again > Agent';

	test.each<[string, Drawing, requests?: number]>([
		['through another node', { ways: through }],
		[
			'through one that links to nothing',
			{ ways: through, nodes: { Again: () => [{ json: {}, pairedItem: [] }] } },
		],
		['v0', { ways: through, ...V0 }],
		['through a disabled node', { ways: 'Answers > Off > Agent', nodes: { Off: DISABLED } }],
		[
			'through another agent',
			{ ways: 'Answers > Other > Agent', nodes: { Other: other('', 'Hello') } },
			22,
		],
		[
			'with a tool call in each conversation',
			{
				...{ ways: `${through}; ${BACK}`, tools: 'weather', questions: ['Rome'] },
				...{ parameters: { prompt: 'Rome' }, nodes: { weather: finds } },
			},
			22,
		],
		[
			'from Stopped',
			{
				...{
					ways: `Stops > Again > Agent; ${BACK}`,
					tools: 'weather',
					questions: ['Endless'],
				},
				parameters: { prompt: 'Endless', options: { maxRounds: 1 } },
			},
		],
		[
			'from its error output',
			{ ways: errors, ...SEPARATE, parameters: { ...FIXED, prompt: 'Fail' } },
		],
		[
			'from its error output, with an empty prompt',
			{ ways: errors, ...SEPARATE, parameters: { prompt: '={{ "" }}' } },
			0,
		],
		[
			'as two of each answer',
			{
				ways: through,
				nodes: { Again: (items) => items.flatMap(() => [1, 2].map(() => ({ json: {} }))) },
			},
			7,
		],
	])('at most ten times in a row: %s', async (_name, drawing, requests = 11) => {
		const { failure } = await model.run({ ...fixed, nodes: { Again }, ...drawing });
		expect([failure, model.requests.length]).toStrictEqual([like(BOUND), requests]);
	});

	test('then comes out as an error once, with On Error: Continue, and fails when that has led back', async () => {
		const { failure, answers } = await model.run({
			...fixed,
			ways: through,
			nodes: { Again },
			...CONTINUE,
		});
		expect(failure).toMatch(BOUND);
		expect(answers.slice(11)).toStrictEqual([like(/has led back to the input 10 times/)]);
		expect(model.requests).toHaveLength(11);
	});

	test.each<
		[string, Drawing, at: string, requests: number, isDown?: (request: number) => boolean]
	>([
		[
			'through an IF with an exit after three rounds',
			{
				ways: 'Answers > If > Done; If:1 > Again > Agent',
				nodes: {
					Again,
					If: (items) => (model.requests.length === 3 ? [items, []] : [[], items]),
				},
			},
			'Done',
			3,
		],
		[
			'from its error output, until the service is back',
			{ ways: errors, nodes: { Again }, ...SEPARATE },
			'Answers',
			3,
			(request) => request < 2,
		],
		[
			'of another agent, which calls this one as its tool',
			{
				...{
					ways: 'ask > Told > Agent',
					tools: 'ask',
					nodes: { ask: other('', '={{ $json.city }}'), Told: TOLD },
				},
				questions: [Array.from({ length: 14 }, (_each, n) => `ask:Hello ${n}`).join(', ')],
				parameters: { options: { maxCallsPerRound: 14 } },
			},
			'Answers',
			16,
		],
		[
			'through Loop Over Items, behind an AI Agent with a tool',
			{
				ways: 'Questions > Loop > Done; Loop:1 > Ai > Agent > Loop',
				questions: Array.from({ length: 14 }, () => 'Hello'),
				nodes: {
					Ai: aiAgent((items) => items),
					Loop: { ...loop(), work: batches() },
				},
				toolNodes: { inner: 'Ai' },
			},
			'Done',
			14,
		],
	])('and ends by itself %s', async (_name, drawing, at, requests, isDown = () => false) => {
		model.failsIf((_question, request) => isDown(request));
		const seen = await model.run({ ...fixed, ...drawing });
		expect([seen.failure, seen.at(at).length, model.requests.length]).toStrictEqual([
			'',
			1,
			requests,
		]);
	});
});

const RETRY = { id: '2', token: 't', isRetry: true };

describe('a Retry of a branch that has failed goes on there, and calls no tool again that is under way', () => {
	const JOINED = 'weather > Then > If > One; If:1 > Two; One > Both; Two > Both#1; Both > Agent';
	const isNew = ({ json }: INodeExecutionData) => json['degrees'] !== undefined;
	test.each<[string, Drawing, found: readonly string[], failure?: RegExp]>([
		['from which a Merge leads back that one side reaches', {}, [RIGHT]],
		['v0', V0, [RIGHT]],
		[
			'in a later round, whose call comes to nothing',
			{ questions: ['Endless'], parameters: { options: { maxRounds: 3 } } },
			[],
			NO_ITEM,
		],
	])('%s', async (_name, drawing, answers, failure = /^$/) => {
		let calls = 0;
		let isBroken = true;
		const first = await model.run({
			ways: JOINED,
			nodes: {
				weather: (items) => {
					calls += 1;
					return finds(items);
				},
				Then: (items) => {
					if (isBroken) throw new Error('Broken');
					return calls > 1
						? []
						: items.map((each, item) => ({ ...each, pairedItem: { item } }));
				},
				If: sides(isNew),
			},
			...drawing,
		});
		expect(first.failure).toMatch(/^Broken/);
		isBroken = false;
		const retried = model.seen(await first.resume(RETRY));
		const times = [calls, model.requests.length];
		expect([retried.failure, retried.answers, times]).toStrictEqual([
			like(failure),
			answers,
			[answers.length === 0 ? 2 : 1, 2],
		]);
	});
});

test.each(BOTH_MODES)(
	'a Retry finds where the runs were from that n8n has run again after their tools: %j',
	async (variant) => {
		let isBroken = true;
		const first = await model.run({
			ways: 'Agent > Answers; Agent:2 > Ai; Agent:3 > Ai > Then > Agent',
			tools: 'weather time',
			questions: ['Rome, time:Oslo; Lima; Paris, time:Bonn', 'time:Bern'],
			nodes: {
				Ai: aiAgent(),
				Then: (items) => {
					if (isBroken && items.some(({ json }) => json['told'] === 'Bonn'))
						throw new Error('Broken');
					return sides(() => true)(items);
				},
			},
			toolNodes: { inner: 'Ai' },
			...variant,
		});
		expect(first.failure).toMatch(/^Broken/);
		isBroken = false;
		const { failure, answers } = model.seen(await first.resume(RETRY));
		const [told] = answers;
		expect([failure, told]).toStrictEqual([
			'',
			'Rome, time:Oslo; Lima; Paris, time:Bonn: {"told":"Rome"} {"told":"Oslo"} {"told":"Lima"} {"told":"Paris"} {"told":"Bonn"}',
		]);
	},
);

describe('a Retry with the currently saved workflow', () => {
	const corrected = (parameters: object) => (node: INode) =>
		node.name === 'Agent'
			? { ...node, parameters: { ...node.parameters, ...parameters } }
			: node;
	const toolsOf = (...names: readonly string[]) => ({
		tools: { tool: names.map((name) => ({ name, description: 'Tells' })) },
	});
	const MOVED = /^Tools have (time|weather) no longer/;
	const LEFT = /^Connections are left of an output/;

	test('takes what was corrected, before and after a call, and pays for no reply twice', async () => {
		model.failsIf((question) => question === 'Rome');
		const first = await model.run({
			...{ ways: BACK, questions: ['Athens', 'Rome'], nodes: { weather: finds } },
			parameters: { options: { retries: 0, concurrency: 1 } },
		});
		expect(first.failure).toMatch(/unavailable/);
		model.failsIf(() => false);
		const options = { temperature: 0.5, retries: 0 };
		const prompt = '={{ $json.question.replace("Rome", "Oslo") }}';
		const change = corrected({ prompt, options, model: { mode: 'id', value: 'm2' } });
		const { failure, answers } = model.seen(await first.resume(RETRY, change));
		expect([failure, answers.sort()]).toStrictEqual([
			'',
			['Athens: {"degrees":6}', 'Oslo: {"degrees":4}'],
		]);
		const sent = model.bodies.slice(2).map((body) => [body['model'], body['temperature']]);
		expect(sent).toStrictEqual([0, 1, 2].map(() => ['m2', 0.5]));
	});

	test('takes it in a later run of the node, too, and what a tool node has returned for its own round', async () => {
		model.failsIf((_question, request) => request === 5);
		const first = await model.run({
			ways: `${TWO_SOURCES}; ${BACK}`,
			nodes: { Second: asks('calc:Rome; calc:Athens', 'calc:Oslo'), weather: finds },
			toolNodes: { calc: 'Agent' },
			parameters: { options: { retries: 0, concurrency: 1 } },
		});
		expect(first.failure).toMatch(/unavailable/);
		model.failsIf(() => false);
		const change = corrected({ options: { temperature: 0.5, concurrency: 1 } });
		const { failure, answers } = model.seen(await first.resume(RETRY, change));
		expect([failure, answers.slice(1)]).toStrictEqual([
			'',
			['calc:Rome; calc:Athens: {"degrees":4} {"degrees":6}', 'calc:Oslo: {"degrees":4}'],
		]);
		const sent = model.bodies.slice(6).map((body) => body['temperature']);
		expect(sent).toStrictEqual([0.5, 0.5]);
	});

	test.each<[string, correct: (node: INode) => INode, failure?: RegExp]>([
		['the same tools', (node) => node],
		['two tools swapped', corrected(toolsOf('weather', 'time')), MOVED],
		['the tool removed', corrected(toolsOf('time')), LEFT],
		['one output for all', corrected({ outputMode: 'single' }), LEFT],
		['one output for all, as JSON', corrected({ toolSource: 'json', toolsJson: '[]' }), LEFT],
	])(
		'in a later round never enters the branch of another tool: %s',
		async (_name, correct, failure = /^$/) => {
			let isBroken = true;
			const first = await model.run({
				ways: `weather > Agent; time > Agent`,
				tools: 'time weather',
				questions: ['Rome, Oslo'],
				nodes: {
					weather: (items) => {
						if (isBroken) throw new Error('Broken');
						return finds(items);
					},
					time: TOLD,
				},
			});
			expect(first.failure).toMatch(/^Broken/);
			isBroken = false;
			const retried = model.seen(await first.resume(RETRY, correct));
			expect(retried.failure).toMatch(failure);
			expect(retried.runsOf('time')).toBe(0);
			expect(retried.answers).toStrictEqual(
				retried.failure === '' ? ['Rome, Oslo: {"degrees":4} {"degrees":4}'] : [],
			);
		},
	);
});
