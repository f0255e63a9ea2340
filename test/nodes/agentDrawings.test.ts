/**
 * What the drawing around Agent with Tools decides, in n8n's engine: which drawings are rejected before anything is paid, how
 * questions that arrive while calls are open are told from results, and that no conversation is lost. n8n's own nodes in the
 * branches are in test/e2e/agentDrawings.test.ts.
 */
import type { INode, INodeExecutionData } from 'n8n-workflow';

import { addTriggers, chatTrigger } from '../support/chatTrigger';
import { agent, asks, finds, maps, modelForDrawings } from '../support/drawnAgent';
import type { Drawing } from '../support/drawnAgent';
import type { StubWork } from '../support/engine';

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
const DISABLED = { disabled: true };

const loop = (reset?: string | boolean, typeVersion = 3) => ({
	type: 'splitInBatches',
	typeVersion,
	parameters: { options: reset === undefined ? {} : { reset } },
});
const RESET = "={{ $prevNode.name === 'weather' }}";
const EACH = 'weather > Inner > Agent; Inner:1 > Each > Inner';
const QUESTION = "={{ $('Questions').item.json.question }}";
const NO_RESET = /^Inner has no expression for Reset\b.*\$prevNode\.name === "weather"/;
const TWO_AGENTS = `Questions > Agent, Other`;
const SHARED = /^Tool branches lead to the agent \w+ as well, through \w+\b/;
const NOT_BACK = /^Tool weather has a branch that does not lead back/;
const OUTSIDE = 'Start > Questions, Reference';
const ONCE = /^Both gets items of Reference, which no tool call brings\b.*\$\("Reference"\)/;
const DETACHED = { parameters: { options: { waitForSubWorkflow: false } } };

/** Drawings that cannot work: what differs from the usual one, and the error. */
const REJECTED: Readonly<Record<string, Drawing & { readonly error: RegExp }>> = {
	'a second tool without a wire': {
		ways: 'Agent > Answers; Agent:2 > weather > Agent',
		tools: 'weather time',
		error: /^Tool time has no branch/,
	},
	'one output for all tools without a wire': {
		ways: 'Agent > Answers',
		parameters: { outputMode: 'single' },
		error: /^Tool Calls has no branch/,
	},
	'a tool straight to the input, as after its node was deleted': {
		ways: 'Agent > Answers; Agent:2 > Agent',
		error: /^Tool weather leads straight back to the input Connect its output to the nodes that run it/,
	},
	'Answer straight to the input': {
		ways: 'Agent > Answers, Agent; Agent:2 > weather > Agent',
		error: /^Answer leads straight back to the input/,
	},
	'a branch that leads to Answer instead of back': { ways: 'weather > Answers', error: NOT_BACK },
	'a branch that goes in a circle': { ways: 'weather > Round > weather', error: NOT_BACK },
	'a wire that a removed tool has left': {
		ways: 'Agent > Answers; Agent:2 > weather > Agent; Agent:3 > Removed > Agent',
		error: /^Connections are left of an output that no longer exists/,
	},
	'what the editor leaves of a removed tool: an empty slot, and its branch without an entry': {
		ways: 'Agent > Answers; Agent:2 > weather > Agent; Agent:3 > ; time > Agent',
		tools: 'time',
		error: /^Nothing leads to time, which leads back to this node/,
	},
	'a tool without a branch where errors lead back': {
		ways: 'Agent > Answers; Agent:3 > Again > Agent',
		...SEPARATE,
		error: /^Tool weather has no branch/,
	},
	'rows from outside through a disabled node, at the first input': {
		ways: `${OUTSIDE}; Reference > Skipped > Both; weather > Both#1 > Agent`,
		nodes: { Skipped: DISABLED },
		error: /^Both gets items of Skipped, which no tool call brings\b/,
	},
	'rows from outside at the input of the calls': {
		ways: `${OUTSIDE}; Reference > Both > Agent; weather > Both, Later; Later > Both#1`,
		error: ONCE,
	},
	'rows from Answer': {
		ways: 'Answers > Reference > Both#1; weather > Both > Agent',
		error: ONCE,
	},
	'a sub-workflow that nobody waits for': {
		...{ ways: BACK, nodes: { weather: DETACHED } },
		error: /^weather does not wait for its sub-workflow\b.*Wait For Sub-Workflow Completion/,
	},
	...Object.fromEntries(
		[
			undefined,
			true,
			'={{ true }}',
			'={{ $runIndex === 0 }}',
			"={{ $prevNode.name === 'Sun' }}",
		].map((reset) => [
			`Loop Over Items with Reset ${String(reset)}`,
			{ ways: EACH, nodes: { Inner: loop(reset) }, error: NO_RESET },
		]),
	),
	'Loop Over Items of version 2, in the branch of the second tool': {
		ways: 'weather > Inner > Each > Inner; Inner:1 > Agent; time > Agent',
		...{ tools: 'time weather', nodes: { Inner: loop(undefined, 2) } },
		error: NO_RESET,
	},
	'Loop Over Items of two tools with a Reset that names one': {
		...{ ways: `${EACH}; time > Inner`, tools: 'weather time' },
		nodes: { Inner: loop("={{ $prevNode.name === 'time' }}") },
		error: NO_RESET,
	},
	'Loop Over Items that leads to the agent for each batch, and not back to itself': {
		ways: 'weather > Inner > Agent; Inner:1 > Each > Agent',
		nodes: { Inner: loop(RESET) },
		error: /^Inner leads to Agent from its output loop, and not back to itself\b.*first batch/,
	},
	'a branch that leads to the Loop Over Items around the agent': {
		ways: 'Questions > Loop > All; Loop:1 > Agent > Loop; Agent:2 > weather > Loop',
		nodes: { Loop: { ...loop(), work: (items) => [[], items] } },
		error: /^Loop is in the branch of a tool, and the questions pass it\b/,
	},
	'two agents that share an IF, each with one side of it': {
		ways: `${TWO_AGENTS}; Other:2 > time > weather > Agent; weather:1 > Other`,
		nodes: { Other: { agent: 'time', parameters: { outputMode: 'single' } } },
		error: SHARED,
	},
	'two agents, one after another, that share one branch': {
		ways: 'Answers > Other; Other:2 > weather > Agent, Other',
		...{ nodes: { Other: agent('weather') }, error: SHARED },
	},
	'a tool that leads into the branch of another agent': {
		ways: `${TWO_AGENTS}; Other > Told > Agent; Other:2 > time > Told, Other; weather > time`,
		...{ nodes: { Other: agent('time') }, error: SHARED },
	},
	'a branch that leads to another agent as well': {
		ways: 'weather > Agent, Other; Other > Told; Other:2 > time > Other',
		nodes: { Other: agent('time') },
		error: /^Tool branches lead to the agent Other as well /,
	},
	...Object.fromEntries(
		[
			...[QUESTION, `={{ $node["Questions"].json.question }}`],
			QUESTION.replace('=', "={{ $('Questions').first().json.question }} "),
		].map((reads) => [
			`a tool node that reads by ${reads} where several items come`,
			{
				...{ ways: BACK, questions: ['Rome', 'Oslo'], toolNodes: { calc: 'Agent' }, reads },
				error: /^calc reads the item of Questions, of which n8n gives it the first one\b.*\$json/,
			},
		]),
	),
	'an agent behind Answer, whose tool cannot come back': {
		ways: `${BACK}; Answers > Other; Other:2 > time`,
		nodes: { Other: agent('time', 'Hello') },
		error: /^Tool time of Other has a branch that does not lead back\b.*the input of Other$/,
	},
	'an agent in the branch, whose tool cannot come back': {
		...{ ways: BACK, nodes: { weather: agent('time', 'Hello') } },
		error: /^Tool time of weather has no branch\b/,
	},
};

test.each(Object.entries(REJECTED))(
	'rejects before the first request: %s',
	async (_name, { error, ...drawing }) => {
		const { failure, answers } = await model.run(drawing);
		expect([failure, answers]).toStrictEqual([like(error), []]);
		expect(model.requests).toHaveLength(0);
	},
);

test('with On Error: Continue the error of a drawing is that of each item', async () => {
	const { answers, failure } = await model.run({ questions: ['Hello', 'Rome'], ...CONTINUE });
	const message = 'Tool weather has a branch that does not lead back';
	expect([failure, answers]).toStrictEqual(['', [message, message]]);
});

test('an invalid option whose error is led back from Answer fails, and asks nothing', async () => {
	const { answers, failure } = await model.run({
		...{ ways: `Answers > Again > Agent; ${BACK}`, ...CONTINUE },
		parameters: { options: { maxRounds: -1 } },
	});
	expect([failure, answers]).toStrictEqual([like(/Maximum Rounds/), [like(/^Maximum Rounds/)]]);
	expect(model.requests).toHaveLength(0);
});

test.each([
	['leads straight to the input', 'Agent', 'Error leads straight back to the input'],
	[
		'has become the one of a removed tool',
		'time > Agent; Agent:4 > ',
		'Error leads to time, the branch of a tool',
	],
])('fails each item once where the error output %s', async (_name, way, message) => {
	const { run, runsOf } = await model.run({
		ways: `Agent > Answers; Agent:2 > weather > Agent; Agent:3 > ${way}`,
		...{ questions: ['Hello', 'Rome'], ...SEPARATE },
	});
	const errors = run.data.resultData.runData['Agent']![0]!.data!['main']![3]!;
	expect(errors.map(({ json }) => json['error'])).toStrictEqual([message, message]);
	// The second one throws, as the errors have led back, and as the error of no item.
	expect(runsOf('Agent')).toBe(2);
	expect(run.data.resultData.error).toHaveProperty('context.itemIndex', undefined);
	expect(model.requests).toHaveLength(0);
});

test('names the error output where a new tool has got its connection', async () => {
	const ways = 'Agent > Answers; Agent:2 > weather > Agent; Agent:3 > Log';
	const { run } = await model.run({ ways, tools: 'weather time', ...SEPARATE });
	const [failed] = run.data.resultData.runData['Agent']![0]!.data!['main']![4]!;
	const advice = like(
		/^Connect the last node of the branch to the input of Agent\. .* to Error\b/,
	);
	expect(failed!.json).toMatchObject({ error: like(/^Tool time has a branch/), message: advice });
});

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

const RIGHT = 'Rome: {"degrees":4}';
const TOLD = maps(() => ({ degrees: 4 }));
const told = maps(({ city }) => ({ told: city! }));
const says = maps(({ output }) => ({ told: output! }));

/** Drawings that look like a rejected one, and work. */
const ACCEPTED: Readonly<Record<string, Drawing & { readonly requests?: number }>> = {
	'a second wire, a disabled node, an error output and an empty slot': {
		ways: 'Agent > Answers; Agent:2 > weather, Log; Agent:3 > Errors; Agent:4 > ; weather > Skipped > Agent',
		nodes: { weather: finds, Skipped: DISABLED },
		...SEPARATE,
	},
	'rows from outside in a way that does not lead back': {
		ways: `${OUTSIDE}; Reference > Both#1; weather > Agent, Both; Both > Log`,
	},
	'a sub-workflow that nobody waits for, and what the model is to know': {
		ways: 'weather > Told > Agent',
		nodes: { weather: DETACHED, Told: TOLD },
	},
	'an agent behind Answer whose errors go on': {
		ways: `${BACK}; Answers > Other; Other:2 > time`,
		nodes: { weather: finds, Other: agent('time', 'Hello', CONTINUE) },
	},
	'an agent behind Answer with a branch of its own': {
		ways: `${BACK}; Answers > Other; Other:2 > time > Other`,
		nodes: { weather: finds, Other: agent('time', 'time:Rome'), time: finds },
		requests: 4,
	},
	'a disabled Loop Over Items': {
		ways: EACH,
		nodes: { weather: finds, Inner: { ...loop(), ...DISABLED } },
	},
	'a disabled agent at the branch': {
		ways: 'weather > Agent, Other; Other > Told; Other:2 > weather',
		nodes: { weather: finds, Other: { agent: 'weather', ...DISABLED } },
	},
	'an agent in the branch for some of the calls': {
		ways: 'weather > Told > Agent; weather:1 > Other > Agent; Other:2 > time > Other',
		nodes: { weather: (items) => [items, []], Told: TOLD, Other: agent('time', 'Hello') },
	},
	'an agent in the branch with a branch of its own': {
		ways: 'weather > Told > Agent; weather:2 > time > weather',
		nodes: { weather: agent('time', 'Hello'), Told: TOLD },
		requests: 3,
	},
};

test.each(Object.entries(ACCEPTED))('accepts %s', async (_name, { requests = 2, ...drawing }) => {
	const { failure, answers } = await model.run({ nodes: { weather: finds }, ...drawing });
	expect([failure, answers, model.requests.length]).toStrictEqual(['', [RIGHT], requests]);
});

const TWO_SOURCES = 'Start > Questions, Second; Second > Agent';
const SAME_END =
	'Start > Questions, Second; Questions > Shared; Second > Shared; weather > Shared > Agent';
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
const sides =
	(isFirst: (item: INodeExecutionData) => boolean): StubWork =>
	(items) => {
		const linked = items.map(({ json }, item) => ({ json, pairedItem: { item } }));
		return [linked.filter(isFirst), linked.filter((each) => !isFirst(each))];
	};

/** As n8n's AI Agent does, it asks n8n to run a tool, and then goes on: n8n gives it another source than it had. */
const aiAgent = (work: StubWork = told) => ({ parameters: { tool: 'inner' }, work });

interface Conversations extends Drawing {
	readonly answers: readonly string[];
	/** In what it is run: once by default. */
	readonly variants?: readonly Partial<Drawing>[];
	/** One for an answer that ends with a colon, and two for the others, by default. */
	readonly requests?: number;
}

/** Questions from several places and branches of several tools: their answers in any order. */
const CONVERSATIONS: Readonly<Record<string, Conversations>> = {
	'two sources, each with two items and two calls in a round': {
		ways: `${TWO_SOURCES}; ${BACK}`,
		questions: ['Rome, Reykjavik', 'Hello one'],
		nodes: { Second: asks('Athens', 'Hello two'), weather: finds },
		answers: [
			'Rome, Reykjavik: {"degrees":4} {"degrees":9}',
			'Hello one:',
			'Athens: {"degrees":6}',
			'Hello two:',
		],
		variants: EVERY_WAY,
	},
	'sources and branch share the last node before the agent': {
		ways: SAME_END,
		nodes: {
			Second: asks('Athens'),
			weather: finds,
			Shared: maps((json) => ({ ...json, seen: true })),
		},
		answers: ['Rome: {"degrees":4,"seen":true}', 'Athens: {"degrees":6,"seen":true}'],
		variants: [{ ...V0, ...ALL }],
	},
	'sources and branch share a Code node that loses the links': {
		ways: SAME_END,
		nodes: {
			Second: asks('Athens'),
			weather: finds,
			Shared: {
				type: 'code',
				work: (items) => items.flatMap(({ json }) => [{ json }, { json }]).slice(1),
			},
		},
		answers: ['Rome: {"degrees":4}', 'Athens: {"degrees":6}'],
		variants: [{}, V0],
	},
	'two sources with a branch that loses the links and keeps tool_call': {
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
		answers: ['Rome', 'Reykjavik', 'Athens', 'Oslo'].map(
			(city) => `${city}: [{"${city}":1},{"${city}":2}]`,
		),
		variants: [ALL, V0],
	},
	'an answer that leads back as a new question while another call is open': {
		ways: `Answers > Again > Agent; ${BACK}`,
		questions: ['Hello', 'Rome'],
		nodes: {
			weather: finds,
			Again: (items) => (items[0]!.json['output'] === 'Hello:' ? asks('Athens')([]) : []),
		},
		answers: ['Hello:', 'Rome: {"degrees":4}', 'Athens: {"degrees":6}'],
		variants: BOTH_MODES,
	},
	'two tools that share their branch': {
		...{ ways: 'weather > Told > Agent; time > Told', tools: 'weather time' },
		questions: ['Rome, time:Oslo'],
		nodes: { Told: told },
		answers: ['Rome, time:Oslo: {"told":"Rome"} {"told":"Oslo"}'],
		variants: BOTH_MODES,
	},
	'an agent inside the branch of an agent, which calls it twice': {
		...{ ways: 'ask > Told > Agent; ask:2 > weather > ask', tools: 'ask' },
		questions: ['ask:Rome, ask:Athens'],
		nodes: { ask: agent('weather', '={{ $json.city }}'), weather: finds, Told: says },
		answers: [
			'ask:Rome, ask:Athens: {"told":"Rome: {\\"degrees\\":4}"} {"told":"Athens: {\\"degrees\\":6}"}',
		],
		variants: BOTH_MODES,
		requests: 6,
	},
	'a tool node and a branch in one round, and then in turn': {
		...{ ways: BACK, nodes: { weather: told }, toolNodes: { calc: 'Agent' } },
		questions: ['Rome, calc:Oslo; Athens; calc:Paris'],
		answers: [
			'Rome, calc:Oslo; Athens; calc:Paris: {"told":"Rome"} {"degrees":4} {"told":"Athens"} {"degrees":5}',
		],
		requests: 4,
	},
	'a tool node that reads by links, in each round of a loop, and after a branch': {
		ways: `Questions > Loop > Done; Loop:1 > Agent; Answers > Loop; ${BACK}`,
		questions: ['calc:Rome; Oslo; calc:Bonn', 'calc:Athens; Rome, calc:Oslo'],
		nodes: { Loop: { ...loop(), work: batches() }, weather: finds },
		...{ toolNodes: { calc: 'Agent' }, reads: QUESTION, requests: 7 },
		answers: [
			'calc:Rome; Oslo; calc:Bonn: {"told":"calc:Rome; Oslo; calc:Bonn"} {"degrees":4} {"told":"calc:Rome; Oslo; calc:Bonn"}',
			'calc:Athens; Rome, calc:Oslo: {"told":"calc:Athens; Rome, calc:Oslo"} {"degrees":4} {"told":"calc:Athens; Rome, calc:Oslo"}',
		],
	},
	'a tool node that reads by links what all items are made from': {
		...{ ways: BACK, questions: ['calc:Rome', 'calc:Oslo'], toolNodes: { calc: 'Agent' } },
		nodes: { Start: { type: 'manualTrigger', work: asks('Hi') } },
		reads: "={{ $('Start').item.json.question }}",
		answers: ['calc:Rome: {"told":"Hi"}', 'calc:Oslo: {"told":"Hi"}'],
	},
	'an AI Agent with a tool behind two outputs, with several calls in a round': {
		ways: 'Agent > Answers; Agent:2 > Ai; Agent:3 > Ai > Agent',
		tools: 'weather time',
		questions: ['Rome, time:Oslo, Athens', 'time:Bonn'],
		nodes: { Ai: aiAgent() },
		toolNodes: { inner: 'Ai' },
		answers: [
			'Rome, time:Oslo, Athens: {"told":"Rome"} {"told":"Oslo"} {"told":"Athens"}',
			'time:Bonn: {"told":"Bonn"}',
		],
		variants: BOTH_MODES,
	},
	'an AI Agent with a tool behind an IF': {
		ways: 'weather > Ai > Agent; weather:1 > Other > Agent',
		questions: ['Oslo; Rome, Athens; Bonn', 'Rome'],
		nodes: {
			weather: sides(({ json }) => json['city'] === 'Rome'),
			...{ Ai: aiAgent(), Other: finds },
		},
		toolNodes: { inner: 'Ai' },
		answers: [
			'Oslo; Rome, Athens; Bonn: {"degrees":4} {"told":"Rome"} {"degrees":6} {"degrees":4}',
			'Rome: {"told":"Rome"}',
		],
		variants: [ALL],
		requests: 6,
	},
	'another agent with a tool node as a branch': {
		...{ ways: 'ask > Told > Agent', tools: 'ask' },
		questions: ['ask:Rome, ask:Oslo; ask:Bonn', 'ask:Athens'],
		nodes: { ask: agent('', '=calc:{{ $json.city }}'), Told: says },
		toolNodes: { calc: 'ask' },
		answers: [
			'ask:Rome, ask:Oslo; ask:Bonn: {"told":"calc:Rome: {\\"degrees\\":4}"} {"told":"calc:Oslo: {\\"degrees\\":4}"} {"told":"calc:Bonn: {\\"degrees\\":4}"}',
			'ask:Athens: {"told":"calc:Athens: {\\"degrees\\":6}"}',
		],
		variants: [ALL],
		requests: 13,
	},
};

describe.each(Object.entries(CONVERSATIONS))('%s', (_name, { answers, ...drawing }) => {
	test.each(drawing.variants ?? [{}])('%j', async (variant) => {
		const seen = await model.run({ ...drawing, ...variant });
		expect([seen.failure, seen.answers.sort()]).toStrictEqual(['', [...answers].sort()]);
		const each = answers.reduce((sum, answer) => sum + (answer.endsWith(':') ? 1 : 2), 0);
		expect(model.requests).toHaveLength(drawing.requests ?? each);
		// What is saved with the execution keeps no conversation that has ended.
		const { contextData } = seen.run.data.executionData!;
		expect(JSON.stringify(contextData['node:Agent'] ?? {})).toBe('{}');
	});
});

test.each(BOTH_MODES)(
	'conversations with different numbers of rounds are answered in the order of the items: %j',
	async (mode) => {
		const questions = ['Rome; Oslo, Athens', 'Hello', 'Bern'];
		const { items } = await model.run({
			ways: BACK,
			nodes: { weather: told },
			questions,
			...mode,
		});
		expect(
			items('Answers').map(({ json: { output, rounds } }) => [output, rounds]),
		).toStrictEqual([
			['Rome; Oslo, Athens: {"told":"Rome"} {"told":"Oslo"} {"told":"Athens"}', 3],
			['Hello:', 1],
			['Bern: {"told":"Bern"}', 2],
		]);
	},
);

test('late items have no effect, also without their link, and the run has a hint', async () => {
	const { failure, run } = await model.run({
		...{ ways: 'weather > First, Twice; First > Agent; Twice > Agent', ...ALL },
		questions: ['Rome, Oslo'],
		nodes: {
			weather: maps((json) => ({ ...json, degrees: 4 })),
			First: (items) => items.slice(0, 1),
			// n8n cannot link two items for each one, but they still have `tool_call`.
			Twice: (items) => [...items, ...items].map(({ json }) => ({ json })),
		},
	});
	const twice = '[{"city":"Oslo","degrees":4},{"city":"Oslo","degrees":4}]';
	expect([failure, ...model.told]).toStrictEqual(['', '{"city":"Rome","degrees":4}', twice]);
	const hints = run.data.resultData.runData['Agent']!.map(({ hints: each = [] }) =>
		each.map(({ message }) => message),
	);
	const late = like(/^2 items came after the result of the tool call/);
	expect(hints).toStrictEqual([['Waiting for weather'], [], [late]]);
});

interface Ends extends Drawing {
	readonly error?: RegExp;
	/** The tools whose results are missing. */
	readonly open?: string;
	readonly requests?: number;
}

describe('a branch that ends without an item for a call fails the execution', () => {
	const ENDS: Readonly<Record<string, Ends>> = {
		'by default': {},
		'with Retry On Fail, which does not repeat the request': { retryOnFail: true },
		'one call of two, all at once': { questions: ['Rome, Nowhere'], ...ALL },
		'calls of two tools, all at once': {
			...{ ways: `${BACK}; time > Agent`, tools: 'weather time', ...ALL },
			questions: ['Nowhere, time:Nowhere', 'Nowhere'],
			nodes: { weather: findsSome, time: findsSome },
			error: /^Tools weather, time returned no item for 3 calls\b/,
			...{ open: 'weather, time', requests: 2 },
		},
		'of an agent inside the branch of an agent': {
			...{ ways: 'ask > Agent; ask:2 > weather > ask', tools: 'ask' },
			questions: ['ask:Nowhere'],
			nodes: { ask: agent('weather', '={{ $json.city }}'), weather: findsSome },
			error: /^Tool (weather|ask) returned no item for 1 call\b/,
			...{ open: like(/^(ask|weather)/), requests: 2 },
		},
		'behind an agent inside the branch, which has answered': {
			...{ ways: 'ask > Nothing > Agent', tools: 'ask', questions: ['ask:Rome'] },
			nodes: { ask: agent('', '=calc:{{ $json.city }}'), Nothing: () => [] },
			toolNodes: { calc: 'ask' },
			error: /^Tool ask returned no item for 1 call\b/,
			...{ open: 'ask', requests: 3 },
		},
		'where a late item belongs to the first of two calls': {
			...{ ways: 'weather > Agent, Later; Later > Agent', questions: ['Rome, Nowhere'] },
			nodes: { weather: findsSome, Later: TOLD },
		},
		'all at once, where items have no link': {
			...{ questions: ['Rome, Athens'], ...ALL },
			nodes: {
				weather: (items) => [...items, ...items].slice(1).map(() => ({ json: { n: 1 } })),
			},
			error: /^Tool results came back without the link to their tool call \(from weather\).*One at a Time/,
		},
	};

	test.each(Object.entries(ENDS))('%s', async (_name, { error = NO_ITEM, ...ends }) => {
		const { open = 'weather', requests = 1, ...drawing } = ends;
		const usual = { ways: BACK, questions: ['Nowhere'], nodes: { weather: findsSome } };
		const seen = await model.run({ ...usual, ...drawing });
		expect(seen.answers).toStrictEqual([]);
		expect([seen.failure, seen.open]).toStrictEqual([like(error), open]);
		expect(model.requests).toHaveLength(requests);
	});

	test.each([{}, V0, ALL])('where other questions go on: %j', async (variant) => {
		const { failure, answers } = await model.run({
			...{ ways: `${TWO_SOURCES}; ${BACK}`, questions: ['Nowhere'] },
			nodes: { Second: asks('Athens'), weather: findsSome },
			...variant,
		});
		expect([failure, answers]).toStrictEqual([like(NO_ITEM), ['Athens: {"degrees":6}']]);
		expect(model.requests).toHaveLength(3);
	});

	test.each([CONTINUE, SEPARATE, { ...CONTINUE, retryOnFail: true }])(
		'its items only, with %j',
		async (how) => {
			const isSplit = how.onError === 'continueErrorOutput';
			const { at, failure, items } = await model.run({
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
			const [{ json }] = items(isSplit ? 'Errors' : 'Answers') as [INodeExecutionData];
			const closed = { role: 'tool', tool_call_id: 'c0' };
			const messages = [{ content: 'Nowhere' }, { role: 'assistant' }, closed];
			const details = { rounds: 1, messages };
			expect(json).toMatchObject({ message: like(/Always Output Data/), details });
			expect(model.requests).toHaveLength(4);
		},
	);
});

describe('Execute step', () => {
	test.each([
		['a trigger', {}, 'Execute the whole workflow instead'],
		[
			'a chat, which has no button for it',
			{ Start: chatTrigger('Start') },
			'Click Open chat below and send a message, which runs the whole workflow',
		],
	])('on the agent behind %s says what to do', async (_name, nodes, remedy) => {
		addTriggers();
		const environment = { stepOf: 'Agent' };
		const { failure } = await model.run({ ways: BACK, nodes, environment });
		const problem = 'Execute step runs this node without the branches of its tools';
		expect(failure).toBe(`${problem} ${remedy}`);
		expect(model.requests).toHaveLength(0);
	});

	test.each(['weather', 'Between'])(
		'on %s does not fail for want of a result',
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
		'on an agent with tool nodes only runs those before it: outputs %s',
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
});

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

describe.each(BOTH_MODES)('%j', (mode) => {
	const drawing = { ways: BACK, nodes: { weather: told }, ...mode };
	const BOTH = 'Rome, Oslo: {"told":"Rome"} {"told":"Oslo"}';

	test('loses no result with Execute Once, which asks the first question', async () => {
		const { answers, failure } = await model.run({
			...{ ...drawing, questions: ['Rome, Oslo', 'Athens'] },
			settings: { executeOnce: true },
		});
		expect([failure, answers]).toStrictEqual(['', [BOTH]]);
	});

	test('adds no empty answers with Always Output Data', async () => {
		const { answers, runsOf } = await model.run({
			...{ ...drawing, questions: ['Rome, Oslo', 'Hello'] },
			settings: { alwaysOutputData: true },
		});
		expect(answers).toStrictEqual([BOTH, 'Hello:']);
		expect(runsOf('Answers')).toBe(1);
	});

	test('tells the error of a node that has passed the call on', async () => {
		const work = () => {
			throw new Error('Invalid wait amount');
		};
		const { failure } = await model.run({
			...{ ...mode, ways: 'weather > Then > Agent', questions: ['Rome, Oslo'] },
			nodes: { weather: { ...CONTINUE, work } },
		});
		const error = '{"error":"Invalid wait amount"}';
		expect([failure, model.told]).toStrictEqual(['', [error, error]]);
	});
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
		['leads to input 2 of a disabled node', { ways: `${ways}; Agent:1 > Off#1 > Log` }],
		['is none where it is connected', { ways: BACK }, /^$/],
		['is none with On Error: Continue', CONTINUE, /^$/],
	])('%s', async (_name, drawing, failure = STOPPED, requests = 4) => {
		const seen = await model.run({
			...{ ways, questions: ['Hello one', 'Endless', 'Hello two'] },
			nodes: { weather: finds, Off: DISABLED },
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
		/^Answer, Stopped or Error has led back to the input too often in a row\b.*Loop Over Items.*lead errors/;
	const Again = asks('Hello');
	const twice: StubWork = (items) => items.flatMap(() => [1, 2].map(() => ({ json: {} })));
	const through = 'Answers > Again > Agent';
	const fixed = { questions: ['Hello'], tools: '', parameters: FIXED };
	const errors = 'Agent > Answers; Agent:3 > Again > Agent';

	const ENDLESS: Readonly<Record<string, Drawing & { readonly requests?: number }>> = {
		'through a node that links to nothing': {
			ways: through,
			nodes: { Again: () => [{ json: {}, pairedItem: [] }] },
		},
		'through a disabled node, in the order v0': {
			...{ ways: 'Answers > Off > Agent', nodes: { Off: DISABLED } },
			...V0,
		},
		'through another agent': {
			ways: 'Answers > Other > Agent',
			nodes: { Other: agent('', 'Hello') },
			requests: 22,
		},
		'with a tool call in each conversation': {
			...{ ways: `${through}; ${BACK}`, tools: 'weather', questions: ['Rome'] },
			...{ parameters: { prompt: 'Rome' }, nodes: { Again, weather: finds } },
			requests: 22,
		},
		'from Stopped': {
			...{ ways: `Stops > Again > Agent; ${BACK}`, tools: 'weather' },
			parameters: { prompt: 'Endless', options: { maxRounds: 1 } },
		},
		'from its error output': {
			...{ ways: errors, ...SEPARATE, parameters: { ...FIXED, prompt: 'Fail' } },
		},
		'from its error output, with an empty prompt': {
			...{ ways: errors, ...SEPARATE, parameters: { prompt: '={{ "" }}' } },
			requests: 0,
		},
		'as two of each answer': {
			...{ ways: through, nodes: { Again: twice } },
			requests: 7,
		},
	};

	test.each(Object.entries(ENDLESS))(
		'at most ten times in a row: %s',
		async (_name, { requests = 11, ...drawing }) => {
			const { failure } = await model.run({ ...fixed, nodes: { Again }, ...drawing });
			expect([failure, model.requests.length]).toStrictEqual([like(BOUND), requests]);
		},
	);

	test.each([
		[1, Again, 11],
		[8, twice, 7],
	])('with On Error: Continue %i come out as errors once', async (count, work, sent) => {
		const drawing = { ...fixed, ways: through, nodes: { Again: work }, ...CONTINUE };
		const { failure, answers } = await model.run(drawing);
		expect(failure).toMatch(BOUND);
		const errors = new Array<string>(count).fill(like(/has led back to the input too often/));
		expect(answers.slice(sent)).toStrictEqual(errors);
		expect(model.requests).toHaveLength(sent);
	});

	const WAIT = { operation: 'sendAndWait' };
	const goesOn: StubWork = (items) => items.map(({ json }) => ({ json }));

	test.each<[string, INode['parameters'], StubWork, requests: number]>([
		['Send and Wait with a new item: a person has answered', WAIT, Again, 12],
		['Send and Wait with what it got: its time limit is over', WAIT, goesOn, 11],
		['the first version of the node Chat', { waitUserReply: true }, Again, 12],
		['the same without a reply', { waitUserReply: false }, Again, 11],
	])('is counted up to a person: %s', async (_name, parameters, work, requests) => {
		const { failure } = await model.run({
			...{ ...fixed, ways: 'Answers > Enough > Ask > Agent' },
			nodes: {
				Enough: (items) => (model.requests.length === 12 ? [] : items),
				Ask: { parameters, work },
			},
		});
		expect(model.requests).toHaveLength(requests);
		expect(failure).toMatch(requests === 12 ? /^$/ : BOUND);
	});

	interface Ended extends Drawing {
		/** The node that one item comes to. */
		readonly at: string;
		readonly requests: number;
	}
	const ENDED: Readonly<Record<string, Ended>> = {
		'through an IF with an exit after three rounds': {
			ways: 'Answers > If > Done; If:1 > Again > Agent',
			nodes: {
				Again,
				If: (items) => (model.requests.length === 3 ? [items, []] : [[], items]),
			},
			...{ at: 'Done', requests: 3 },
		},
		'from its error output, until the service is back': {
			...{ ways: errors, nodes: { Again }, ...SEPARATE },
			...{ at: 'Answers', requests: 3 },
		},
		'of another agent, which calls this one as its tool': {
			...{ ways: 'ask > Told > Agent', tools: 'ask' },
			nodes: { ask: agent('', '={{ $json.city }}'), Told: TOLD },
			questions: [Array.from({ length: 12 }, (_each, n) => `ask:Hello ${n}`).join(', ')],
			parameters: { options: { maxCallsPerRound: 12 } },
			...{ at: 'Answers', requests: 14 },
		},
		'through Loop Over Items, behind an AI Agent with a tool': {
			ways: 'Questions > Loop > Done; Loop:1 > Ai > Agent > Loop',
			questions: Array.from({ length: 12 }, () => 'Hello'),
			nodes: { Ai: aiAgent((items) => items), Loop: { ...loop(), work: batches() } },
			toolNodes: { inner: 'Ai' },
			...{ at: 'Done', requests: 12 },
		},
	};

	test.each(Object.entries(ENDED))(
		'and ends by itself %s',
		async (_name, { at, requests, ...drawing }) => {
			model.failsIf((_question, request) => drawing.ways === errors && request < 2);
			const seen = await model.run({ ...fixed, ...drawing });
			const { length } = seen.at(at);
			expect([seen.failure, length]).toStrictEqual(['', 1]);
			expect(model.requests).toHaveLength(requests);
		},
	);
});

const RETRY = { id: '2', token: 't', isRetry: true };

/** Runs a drawing in which a node breaks until the Retry, and retries it. */
async function retried(drawing: (breaks: () => void) => Drawing, correct?: (node: INode) => INode) {
	let isBroken = true;
	const first = await model.run(
		drawing(() => {
			if (isBroken) throw new Error('Broken');
		}),
	);
	expect(first.failure).toMatch(/^Broken/);
	isBroken = false;
	return model.seen(await first.resume(RETRY, correct));
}

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
		const { failure: said, answers: given } = await retried((breaks) => ({
			ways: JOINED,
			nodes: {
				weather: (items) => {
					calls += 1;
					return finds(items);
				},
				Then: (items) => {
					breaks();
					return calls > 1
						? []
						: items.map((each, item) => ({ ...each, pairedItem: { item } }));
				},
				If: sides(isNew),
			},
			...drawing,
		}));
		const ran = [calls, model.requests.length];
		const times = [answers.length === 0 ? 2 : 1, 2];
		expect([said, given, ran]).toStrictEqual([like(failure), answers, times]);
	});
});

test.each(BOTH_MODES)(
	'a Retry finds where the runs were from that n8n has run again after their tools: %j',
	async (variant) => {
		const { failure, answers } = await retried((breaks) => ({
			ways: 'Agent > Answers; Agent:2 > Ai; Agent:3 > Ai > Then > Agent',
			tools: 'weather time',
			questions: ['Rome, time:Oslo; Lima; Paris, time:Bonn', 'time:Bern'],
			nodes: {
				Ai: aiAgent(),
				Then: (items) => {
					if (items.some(({ json }) => json['told'] === 'Bonn')) breaks();
					return sides(() => true)(items);
				},
			},
			toolNodes: { inner: 'Ai' },
			...variant,
		}));
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
			const seen = await retried(
				(breaks) => ({
					ways: `weather > Agent; time > Agent`,
					tools: 'time weather',
					questions: ['Rome, Oslo'],
					nodes: {
						weather: (items) => {
							breaks();
							return finds(items);
						},
						time: TOLD,
					},
				}),
				correct,
			);
			expect(seen.failure).toMatch(failure);
			expect(seen.runsOf('time')).toBe(0);
			expect(seen.answers).toStrictEqual(
				seen.failure === '' ? ['Rome, Oslo: {"degrees":4} {"degrees":4}'] : [],
			);
		},
	);
});

describe('a Merge behind Answer waits for calls that are open', () => {
	const ROWS = { ways: `Questions > Agent, Join; Answers > Join#1; ${BACK}` };
	const NESTED = {
		ways: 'ask > Join, Inner; Inner > Told > Join#1; Join > Agent; Inner:2 > weather > Inner',
		...{ tools: 'ask', questions: ['ask:Nowhere'] },
		nodes: { Inner: agent('weather', '={{ $json.city }}') },
	};
	test.each<[string, Drawing, sources: string[]]>([
		['which are answered in a Retry', ROWS, ['Questions', 'Answers']],
		['v0', { ...ROWS, ...V0 }, ['Questions', 'Answers']],
		['whose errors go on', { ...ROWS, ...CONTINUE }, ['Questions', 'Answers']],
		['of an agent in a branch', NESTED, ['ask', 'Told']],
	])('%s', async (_name, { nodes, ...drawing }, sources) => {
		let isBroken = true;
		const weather: StubWork = (items) => (isBroken ? [] : finds(items));
		let seen = await model.run({
			...{ questions: ['Nowhere'], ...drawing, nodes: { ...nodes, weather } },
		});
		if (drawing.onError === undefined) {
			expect([seen.failure, seen.runsOf('Join')]).toStrictEqual([like(NO_ITEM), 0]);
			isBroken = false;
			const retried = await seen.resume(RETRY);
			seen = { ...retried, ...model.seen(retried) };
		}
		const joined = seen.run.data.resultData.runData['Join']!.map(({ source }) =>
			source.map((from) => from?.previousNode),
		);
		expect([seen.failure, joined]).toStrictEqual(['', [sources]]);
	});
});

describe('a Retry in a workflow where a node is gone', () => {
	const ROWS = `Questions > Agent, Join; Answers > Join#1; ${BACK}`;
	const JOINED =
		'Start > Questions, Then; weather > If > Both; If:1 > Both#1; Both > Agent; Then > Told';
	test.each<[string, Drawing, gone: string, failure?: RegExp]>([
		['that has asked', { ways: BACK, parameters: { options: { maxRounds: -1 } } }, 'Questions'],
		['that waits for an answer', { ways: ROWS, questions: ['Nowhere'] }, 'Join', NO_ITEM],
		['that waits in a branch', { ways: JOINED }, 'Both', NOT_BACK],
		[
			'of a branch',
			{ ways: 'weather > Then > Agent', questions: ['Nowhere'] },
			'Then',
			NOT_BACK,
		],
	])('%s', async (_name, drawing, gone, failure = /^$/) => {
		let isBroken = true;
		const Then: StubWork = (items) => {
			if (isBroken && drawing.ways === JOINED) throw new Error('Broken');
			return items;
		};
		const If = sides(() => true);
		const first = await model.run({ ...drawing, nodes: { If, Then, weather: findsSome } });
		expect(first.failure).not.toBe('');
		isBroken = false;
		const retried = await first.resume(RETRY, ({ name, parameters, ...node }) => ({
			...node,
			name: name === gone ? 'Gone' : name,
			parameters: { ...parameters, options: {} },
		}));
		expect(model.seen(retried).failure).toMatch(failure);
	});
});

describe('while a tool finds nothing, each Retry', () => {
	const broken: Drawing = {
		ways: 'ask > Told > Agent; ask:2 > weather > ask',
		...{ tools: 'ask', questions: ['ask:Rome'] },
	};
	async function retry(drawing: Drawing, finding: Readonly<Record<string, number>>) {
		const found = (name: string) => (items: INodeExecutionData[]) =>
			tries >= finding[name]! ? finds(items) : [];
		let tries = 1;
		const nodes = { weather: found('weather'), time: found('time'), ...drawing.nodes };
		const seen = [await model.run({ ...drawing, nodes })];
		for (; seen.at(-1)!.failure !== '' && tries < 5;) {
			tries += 1;
			const retried = await seen.at(-1)!.resume({ ...RETRY, id: String(tries) });
			seen.push({ ...retried, ...model.seen(retried) });
		}
		return seen;
	}

	test('asks the agent in the branch of another one nothing again', async () => {
		const ask = agent('weather', '={{ $json.city }}');
		const seen = await retry({ ...broken, nodes: { ask, Told: says } }, { weather: 4 });
		expect(seen.map(({ failure }) => failure)).toStrictEqual([
			...[1, 2, 3].map(() => like(NO_ITEM)),
			'',
		]);
		expect(seen.at(-1)!.answers).toStrictEqual([
			'ask:Rome: {"told":"Rome: {\\"degrees\\":4}"}',
		]);
		expect(model.requests).toHaveLength(4);
	});

	test('sends the calls of another agent beside it, which has answered then', async () => {
		const Other = agent('time');
		const seen = await retry(
			{
				ways: `${TWO_AGENTS}; ${BACK}; Other > Told; Other:2 > time > Other`,
				nodes: {
					Questions: asks('Rome'),
					Other: { ...Other, parameters: { prompt: 'time:Oslo' } },
				},
			},
			{ weather: 2, time: 3 },
		);
		expect(seen.map(({ at }) => at('Answers').length)).toStrictEqual([0, 1, 1]);
	});
});

test.each([
	['as Always Output Data makes it', () => [{ json: {} }], false],
	['as a disabled node passes it on', undefined, true],
])(
	'the empty result of a call without arguments is said to be these only %s: %j',
	async (_name, work, isSaid) => {
		const tool_calls = [{ id: 'a', type: 'function', function: { name: 'weather' } }];
		model.replies(
			{ message: { content: null, tool_calls }, finish_reason: 'tool_calls' },
			{ message: { content: 'Done.' }, finish_reason: 'stop' },
		);
		const { hints, answers } = await model.run({
			...{ ways: BACK, nodes: { weather: work ?? DISABLED } },
			parameters: { tools: { tool: [{ name: 'weather', define: 'fields' }] } },
		});
		expect([
			answers,
			hints.some((hint) => hint.startsWith('The result is the arg')),
		]).toStrictEqual([['Done.'], isSaid]);
	},
);
