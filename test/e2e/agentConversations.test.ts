import { outputItems } from '../../lab/n8n/execution';
import { chatText, streamWebhook } from '../../lab/n8n/streamChat';
import type { ToolCall } from '../../nodes/client/chat/types';
import { startAgentSession, type AgentSession } from './support/agentSession';
import { drawn, node, withSubNodes } from './support/buildWorkflow';
import {
	agentNode,
	base,
	code,
	draw,
	noOp,
	start,
	WEATHER,
	type Drawing,
} from './support/drawAgent';
import { call, results } from './support/scriptedModel';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

let agent: AgentSession;

beforeAll(async () => {
	agent = await startAgentSession();
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await agent.stop();
}, RUN_LIMIT_MS);

it(
	'works inside Loop Over Items with five items',
	async () => {
		agent.model.replyWith((messages) =>
			results(messages).length === 0
				? [call('c1', 'weather', { city: String(messages[0]!.content) })]
				: String(results(messages)[0]!.content),
		);
		const cities = ['Rome', 'Oslo', 'Paris', 'Athens', 'Reykjavik'];
		const drawing: Drawing = { tools: ['weather'], nodes: [], wires: {} };
		const items = JSON.stringify(cities.map((question) => ({ json: { question } })));
		const execution = await agent.runWorkflow(
			drawn(
				'Outer loop',
				[
					start,
					code('Questions', `return ${items};`),
					node('Loop', base('splitInBatches'), 3),
					noOp('All'),
					agentNode(drawing),
					WEATHER,
				],
				{
					Start: [['Questions']],
					Questions: [['Loop']],
					Loop: [['All'], ['Agent']],
					Agent: [['Loop'], [], ['weather']],
					weather: [['Agent']],
				},
			),
		);
		expect(outputItems(execution, 'All').map(({ json }) => json['output'])).toStrictEqual(
			cities.map((city) => `{"degrees":${city.length}}`),
		);
		expect(agent.model.requests).toHaveLength(10);
	},
	RUN_LIMIT_MS,
);

it(
	'runs a tool node of n8n and a branch in one round, and each in a round of its own',
	async () => {
		const rounds: Readonly<Record<number, ToolCall[]>> = {
			0: [
				call('c1', 'Calculator', { input: '6 * 7' }),
				call('c2', 'weather', { city: 'Rome' }),
			],
			2: [call('c3', 'Calculator', { input: '2 * 3' })],
			3: [call('c4', 'weather', { city: 'Athens' })],
		};
		agent.model.replyWith((messages) => rounds[results(messages).length] ?? 'Done.');
		const drawing: Drawing = {
			tools: ['weather'],
			nodes: [WEATHER],
			wires: { weather: [['Agent']] },
		};
		const execution = await agent.runWorkflow(
			withSubNodes(draw('Mixed tools', drawing), 'Agent', [
				[node('Calculator', '@n8n/n8n-nodes-langchain.toolCalculator', 1), 'ai_tool'],
			]),
		);
		const sent = results(agent.model.requests.at(-1)!.messages);
		expect(sent.map(({ tool_call_id: id }) => id)).toStrictEqual(['c1', 'c2', 'c3', 'c4']);
		expect(sent[0]!.content).toMatch(/42/);
		expect(sent[1]!.content).toBe('{"degrees":4}');
		expect(sent[3]!.content).toBe('{"degrees":6}');
		expect(execution.data.resultData.runData['Calculator']).toHaveLength(2);
		expect(outputItems(execution, 'Answers')).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);

it(
	"takes what n8n's AI Agent with a tool returns in a branch for the results of the calls",
	async () => {
		const rounds: Readonly<Record<number, ToolCall[]>> = {
			0: [call('c1', 'weather', { city: 'Rome' })],
			1: [call('c2', 'weather', { city: 'Oslo' }), call('c3', 'weather', { city: 'Athens' })],
		};
		agent.model.replyWith((messages) => {
			const said = messages.findLast(({ role }) => role === 'user')?.content;
			const question = JSON.stringify(said);
			const found = results(messages);
			const [city] = /(?<=Find )\w+/.exec(question) ?? [];
			if (city === undefined)
				return rounds[found.length] ?? found.map(({ content }) => content).join();
			return found.length > 0 ? city : [call(city, 'Calculator', { input: '6 * 7' })];
		});
		const ai = node('weather', '@n8n/n8n-nodes-langchain.agent', 3.1, {
			parameters: { promptType: 'define', text: '=Find {{ $json.city }}' },
		});
		const chatModel = node('Chat Model', 'n8n-nodes-agent-video.agentVideoChatModel', 1, {
			credential: 'Model',
		});
		const drawing: Drawing = {
			tools: ['weather'],
			nodes: [ai],
			wires: { weather: [['Agent']] },
			parameters: { options: { runCalls: 'allAtOnce' } },
		};
		const execution = await agent.runWorkflow(
			withSubNodes(draw('AI Agent in a branch', drawing), 'weather', [
				[chatModel, 'ai_languageModel'],
				[node('Calculator', '@n8n/n8n-nodes-langchain.toolCalculator', 1), 'ai_tool'],
			]),
		);
		expect(outputItems(execution, 'Answers').map(({ json }) => json['output'])).toStrictEqual([
			'{"output":"Rome"},{"output":"Oslo"},{"output":"Athens"}',
		]);
		expect(execution.data.resultData.runData['Calculator']).toHaveLength(3);
	},
	RUN_LIMIT_MS,
);

it(
	'streams the tool calls and the answer to a chat, with a begin and an end event per round',
	async () => {
		agent.requestsTools(call('c1', 'weather', { city: 'Rome' }));
		const drawing: Drawing = {
			tools: ['weather'],
			nodes: [WEATHER],
			wires: { weather: [['Agent']] },
			parameters: { prompt: '={{ $json.body.question }}' },
		};
		const { client, n8n } = agent;
		const ref = await client.importWorkflow(
			drawn(
				'Agent in a chat',
				[
					node('Webhook', base('webhook'), 2.1, {
						parameters: {
							httpMethod: 'POST',
							path: 'agent',
							responseMode: 'streaming',
						},
						webhookId: 'agent',
					}),
					agentNode(drawing),
					WEATHER,
				],
				{
					Webhook: [['Agent']],
					Agent: [[], [], ['weather']],
					weather: [['Agent']],
				},
			),
		);
		await client.activate(ref);
		const lines = await streamWebhook(`${n8n.url}/webhook/agent`, { question: 'Weather?' });
		expect(lines.map(({ type }) => type)).toStrictEqual([
			...['begin', 'item', 'end'],
			...['begin', 'item', 'item', 'end'],
		]);
		expect(chatText(lines)).toBe('\n\n> Running weather\n\n\n\n> Finished weather\n\nDone.');
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
		const execution = await agent.runWorkflow(
			withSubNodes(
				draw('Own items', {
					tools: ['weather'],
					questions: ['Ada', 'Bob'],
					nodes: [WEATHER],
					wires: { weather: [['Agent']] },
				}),
				'Agent',
				[[find, 'ai_tool']],
			),
		);
		expect(outputItems(execution, 'Answers').map(({ json }) => json['output'])).toStrictEqual(
			['Ada', 'Bob'].map(
				(person) => `{"found":"${person}-cats"},{"degrees":4},{"found":"${person}-dogs"}`,
			),
		);
	},
	RUN_LIMIT_MS,
);
