/** The loop of the agent in each way in which n8n runs a workflow. */
import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import { startAgentSession, type AgentSession } from './support/agentSession';
import { drawn, node, withSubNodes, workflow } from './support/buildWorkflow';
import {
	agentNode,
	asks,
	base,
	code,
	draw,
	noOp,
	start,
	WEATHER,
	when,
	type Drawing,
} from './support/drawAgent';
import { call, results } from './support/scriptedModel';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

const LANGCHAIN = '@n8n/n8n-nodes-langchain';

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

const LOOP: Drawing = { tools: ['weather'], nodes: [WEATHER], wires: { weather: [['Agent']] } };
const answersOf = (execution: Execution, name = 'Answers') =>
	outputItems(execution, name).map(({ json }) => json['output']);

/** Imports a workflow with an agent that another one calls with the questions. */
async function importCalled(name: string, parameters: object = { inputSource: 'passthrough' }) {
	const trigger = node('Start', base('executeWorkflowTrigger'), 1.1, { parameters });
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
		const { id } = await importCalled('Called');
		const execution = await agent.runWorkflow(
			drawn(
				'Calls',
				[
					start,
					asks('Questions', 'Rome', 'Oslo, Athens'),
					node('Call', base('executeWorkflow'), 1.2, {
						parameters: {
							mode: 'each',
							workflowId: { __rl: true, mode: 'id', value: id },
						},
					}),
				],
				{ Start: [['Questions']], Questions: [['Call']] },
			),
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
		const execution = await agent.runWorkflow(
			drawn(
				'Calls in the background',
				[
					start,
					asks('Questions', 'Rome'),
					node('Call', base('executeWorkflow'), 1.2, {
						parameters: {
							workflowId: { __rl: true, mode: 'id', value: called.id },
							options: { waitForSubWorkflow: false },
						},
					}),
				],
				{ Start: [['Questions']], Questions: [['Call']] },
			),
		);
		expect(failureOf(execution)).toBe('');
		const last = await agent.client.lastExecution(called);
		expect(failureOf(last)).toBe('');
		expect(answersOf(last)).toStrictEqual(['Rome: {"degrees":4}']);
	},
	RUN_LIMIT_MS,
);

it(
	'goes on after Retry from the executions page, and runs no tool again',
	async () => {
		const { client, model } = agent;
		let isDown = true;
		model.replyWith((messages) => {
			const found = results(messages).length;
			if (found === 0) return [call('c1', 'weather', { city: 'Rome' })];
			return isDown ? undefined : 'Done.';
		});
		const failed = await agent.runWorkflow(draw('Retried', LOOP));
		expect(failureOf(failed)).toMatch(/^Agent: /);
		isDown = false;
		const execution = await client.readExecution(await client.retry(failed.id));
		expect(failureOf(execution)).toBe('');
		expect(answersOf(execution)).toStrictEqual(['Done.']);
		expect(outputItems(execution, 'weather')).toHaveLength(1);
		expect(model.requests).toHaveLength(3);
	},
	RUN_LIMIT_MS,
);

it(
	'goes on in the branch after Retry, where a Merge waits that one side of an IF reaches',
	async () => {
		const merge = node('Both', base('merge'), 3.2, { parameters: { mode: 'append' } });
		// The first execution is a test, the Retry is not.
		const then = code(
			'Then',
			'if ($execution.mode === "test") throw new Error("Broken"); return $input.all();',
		);
		const failed = await agent.runWorkflow(
			draw('Retried in the branch', {
				...{ tools: ['weather'], questions: ['Rome'] },
				nodes: [WEATHER, then, when('If', 'if', '={{ `${$json.degrees}` }}', '4'), merge],
				wires: {
					...{ weather: [['Then']], Then: [['If']], Both: [['Agent']] },
					If: [['Both'], ['Both#1']],
				},
			}),
		);
		expect(failureOf(failed)).toMatch(/^Then: /);
		const { client, model } = agent;
		const execution = await client.readExecution(await client.retry(failed.id));
		expect([failureOf(execution), answersOf(execution)]).toStrictEqual([
			'',
			['Rome: {"degrees":4}'],
		]);
		expect(outputItems(execution, 'weather')).toHaveLength(1);
		expect(model.requests).toHaveLength(2);
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
		const execution = await agent.runWorkflow(JSON.parse(renamed) as ReturnType<typeof draw>);
		expect(failureOf(execution)).toBe('');
		expect(answersOf(execution)).toStrictEqual(['Rome, Oslo: {"degrees":4} {"degrees":4}']);
	},
	RUN_LIMIT_MS,
);

it(
	'answers for Execute step on the node behind Answer',
	async () => {
		const drawing = { ...LOOP, questions: ['Rome'], nodes: [WEATHER, noOp('Later')] };
		const execution = await agent.runWorkflow(draw('Step behind', drawing), 'Answers');
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
		const asking = node('AI Agent', `${LANGCHAIN}.agent`, 3.1, {
			parameters: { promptType: 'define', text: 'How is the weather in Rome?' },
		});
		const chatModel = node('Chat Model', 'n8n-nodes-agent-video.agentVideoChatModel', 1, {
			credential: 'Model',
		});
		const execution = await agent.runWorkflow(
			withSubNodes(workflow('Asks', [start, asking]), 'AI Agent', [
				[chatModel, 'ai_languageModel'],
				[ask, 'ai_tool'],
			]),
		);
		expect(failureOf(execution)).toBe('');
		expect(answersOf(execution, 'AI Agent')[0]).toMatch(/^Told: .*degrees.*4/);
		const last = await client.lastExecution(called);
		expect(outputItems(last, 'weather')).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);
