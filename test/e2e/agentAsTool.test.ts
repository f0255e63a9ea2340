// @seconds 10
import { outputItems } from '../../lab/n8n/execution';
import { drawn, node, withSubNodes, workflow } from './support/buildWorkflow';
import { set, start } from './support/drawAgent';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

const PACKAGE = 'n8n-nodes-agent-video';
const LANGCHAIN = '@n8n/n8n-nodes-langchain';

let session: Session;

beforeAll(async () => {
	session = await startSession();
	await session.client.createCredential({
		name: 'Emulator',
		type: 'agentVideoApi',
		data: { baseUrl: session.emulator.url, apiKey: 'demo-key' },
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await session.stop();
});

const id = (value: string) => ({ __rl: true, mode: 'id', value });

/** A sub-workflow in which Agent with Tools answers a question with the help of one branch. */
const WEATHER_AGENT = drawn(
	'Weather Agent',
	[
		node('Question', 'n8n-nodes-base.executeWorkflowTrigger', 1.1, {
			parameters: { workflowInputs: { values: [{ name: 'question' }] } },
		}),
		node('Agent with Tools', `${PACKAGE}.functionCallingAgent`, 1, {
			credential: 'Emulator',
			parameters: {
				prompt: '={{ $json.question }}',
				tools: {
					tool: [
						{
							name: 'get_weather',
							description: 'Tells the weather in a city',
							parameters: { parameter: [{ name: 'city' }] },
						},
					],
				},
			},
		}),
		set('Answer', '={{ { "answer": $json.output } }}'),
		set('Weather', '{ "sky": "sunny" }'),
	],
	{
		Question: [['Agent with Tools']],
		'Agent with Tools': [['Answer'], [], ['Weather']],
		Weather: [['Agent with Tools']],
	},
);

/** n8n's AI Agent with this workflow as its only tool. */
const askingAgent = (workflowId: string) =>
	withSubNodes(
		workflow('AI Agent', [
			start,
			node('AI Agent', `${LANGCHAIN}.agent`, 3.1, {
				parameters: {
					promptType: 'define',
					text: 'Ask the weather agent: how is the weather in Rome?',
				},
			}),
		]),
		'AI Agent',
		[
			[
				node('Chat Model', `${PACKAGE}.agentVideoChatModel`, 1, {
					credential: 'Emulator',
					parameters: { model: id('chat-m1') },
				}),
				'ai_languageModel',
			],
			[
				node('Weather Agent', `${LANGCHAIN}.toolWorkflow`, 2.2, {
					parameters: {
						description: 'Answers questions about the weather',
						workflowId: id(workflowId),
						workflowInputs: {
							mappingMode: 'defineBelow',
							value: {
								question: "={{ $fromAI('question', 'The question', 'string') }}",
							},
							schema: [{ id: 'question', displayName: 'question', type: 'string' }],
						},
					},
				}),
				'ai_tool',
			],
		],
	);

it(
	'Agent with Tools works as a tool of AI Agent in a sub-workflow',
	async () => {
		const { client } = session;
		const inner = await client.importWorkflow(WEATHER_AGENT);
		await client.activate(inner);
		const outer = await client.importWorkflow(askingAgent(inner.id));

		const execution = await client.waitForExecution(await client.run(outer, 'Start'));
		expect(execution.status).toBe('success');
		expect(outputItems(execution, 'AI Agent')[0]!.json['output']).toMatch(/sunny/);
		const called = await client.lastExecution(inner);
		expect(called.data.resultData.runData['Weather']).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);
