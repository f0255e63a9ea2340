/** The loop of the agent in each way in which n8n runs a workflow. */
import { failureOf, outputItems } from '../../lab/n8n/execution';
import { answersOf, useAgentSession } from './support/agentSession';
import { calledTrigger, calls, drawn, node, withSubNodes, workflow } from './support/buildWorkflow';
import {
	agentNode,
	aiAgent,
	asks,
	base,
	draw,
	LANGCHAIN,
	noOp,
	start,
	WEATHER,
	withChatModel,
	type Drawing,
} from './support/drawAgent';
import { call, results } from './support/scriptedModel';
import { RUN_LIMIT_MS } from './support/session';

const agent = useAgentSession();

beforeEach(() => {
	agent.looksUpCities();
});

const LOOP: Drawing = { tools: ['weather'], nodes: [WEATHER], wires: { weather: [['Agent']] } };
/** Imports a workflow with an agent that another one calls with the questions. */
async function importCalled(name: string, parameters?: object) {
	const trigger = calledTrigger('Start', parameters);
	return await agent.client.importWorkflow(
		drawn(name, [trigger, agentNode(LOOP), WEATHER, noOp('Answers')], {
			Start: [['Agent']],
			Agent: [['Answers'], [], ['weather']],
			...LOOP.wires,
		}),
	);
}

it(
	'answers in a sub-workflow that is called for each item',
	async () => {
		const call = calls(await importCalled('Called'), { mode: 'each' });
		const execution = await agent.execute(
			workflow('Calls', [start, asks('Questions', 'Rome', 'Oslo, Athens'), call]),
		);
		expect(failureOf(execution)).toBe('');
		expect(answersOf(execution, 'Call')).toStrictEqual([
			'Rome: {"degrees":4}',
			'Oslo, Athens: {"degrees":4} {"degrees":6}',
		]);
		expect(agent.model.requests).toHaveLength(4);
	},
	RUN_LIMIT_MS,
);

it(
	'answers in a sub-workflow that nobody waits for',
	async () => {
		const called = await importCalled('Called in the background');
		const call = calls(called, { options: { waitForSubWorkflow: false } });
		const execution = await agent.execute(
			workflow('Calls in the background', [start, asks('Questions', 'Rome'), call]),
		);
		expect(failureOf(execution)).toBe('');
		const last = await agent.client.lastExecution(called);
		expect(failureOf(last)).toBe('');
		expect(answersOf(last)).toStrictEqual(['Rome: {"degrees":4}']);
	},
	RUN_LIMIT_MS,
);

it(
	"evaluates the expressions of a tool node with the conversation's own item, in every round",
	async () => {
		agent.model.replyWith((messages) => {
			const calls = [
				call('f1', 'Find', { what: 'cats' }),
				call('c1', 'weather', { city: 'Rome' }),
				call('f2', 'Find', { what: 'dogs' }),
			];
			const next = calls[results(messages).length];
			return next === undefined
				? results(messages)
						.map(({ content }) => content)
						.join()
				: [next];
		});
		const find = node('Find', base('httpRequestTool'), 4.2, {
			parameters: {
				toolDescription: 'Finds what a person has',
				url: `=${agent.model.url}/json/{{ $json.question }}-{{ $fromAI('what', '', 'string') }}`,
			},
		});
		const drawing = draw('Own items', { ...LOOP, questions: ['Ada', 'Bob'] });
		const execution = await agent.execute(withSubNodes(drawing, 'Agent', [[find, 'ai_tool']]));
		expect(answersOf(execution)).toStrictEqual(
			['Ada', 'Bob'].map(
				(person) => `{"found":"${person}-cats"},{"degrees":4},{"found":"${person}-dogs"}`,
			),
		);
	},
	RUN_LIMIT_MS,
);

it(
	'runs under names with quotes, brackets and line breaks',
	async () => {
		const name = 'The "best" agent\'s {{ $json }} / 1';
		const flow = JSON.stringify(draw('Renamed', { ...LOOP, questions: ['Rome, Oslo'] }));
		const quoted = JSON.stringify(name);
		const renamed = flow
			.replaceAll('"Agent"', () => quoted)
			.replaceAll('"name":"weather","type"', '"name":"Ask: [the] weather?","type"')
			.replaceAll('"weather":{"main"', '"Ask: [the] weather?":{"main"')
			.replaceAll('"node":"weather"', '"node":"Ask: [the] weather?"');
		const execution = await agent.execute(JSON.parse(renamed) as ReturnType<typeof draw>);
		expect(failureOf(execution)).toBe('');
		expect(answersOf(execution)).toStrictEqual(['Rome, Oslo: {"degrees":4} {"degrees":4}']);
	},
	RUN_LIMIT_MS,
);

it(
	'answers for Execute step on the node behind Answer',
	async () => {
		const drawing = { ...LOOP, questions: ['Rome'], nodes: [WEATHER, noOp('Later')] };
		const execution = await agent.execute(draw('Step behind', drawing), 'Answers');
		expect(failureOf(execution)).toBe('');
		expect(answersOf(execution)).toStrictEqual(['Rome: {"degrees":4}']);
	},
	RUN_LIMIT_MS,
);

it(
	'answers in a sub-workflow that is a tool of AI Agent',
	async () => {
		const { client, model } = agent;
		model.replyWith((messages, tools) => {
			const found = results(messages).map(({ content }) => content);
			if (found.length > 0) return `Told: ${found.join()}`;
			const isCaller = tools.some((each) => each.function.name === 'Ask');
			return isCaller
				? [call('c1', 'Ask', { question: 'Rome?' })]
				: [call('c2', 'weather', { city: 'Rome' })];
		});
		const called = await importCalled('Asked', {
			workflowInputs: { values: [{ name: 'question' }] },
		});
		await client.activate(called);
		const ask = node('Ask', `${LANGCHAIN}.toolWorkflow`, 2.2, {
			parameters: {
				description: 'Answers questions about the weather',
				workflowId: { __rl: true, mode: 'id', value: called.id },
				workflowInputs: {
					mappingMode: 'defineBelow',
					value: { question: "={{ $fromAI('question', 'The question', 'string') }}" },
					schema: [{ id: 'question', displayName: 'question', type: 'string' }],
				},
			},
		});
		const execution = await agent.execute(
			withChatModel(workflow('Asks', [start, aiAgent('How is the weather in Rome?')]), [
				ask,
				'ai_tool',
			]),
		);
		expect(failureOf(execution)).toBe('');
		expect(answersOf(execution, 'AI Agent')[0]).toMatch(/^Told: .*degrees.*4/);
		const last = await client.lastExecution(called);
		expect(outputItems(last, 'weather')).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);
