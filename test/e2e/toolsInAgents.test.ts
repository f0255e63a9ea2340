// @seconds 10
import type { INode } from 'n8n-workflow';

import { failureOf, outputItems } from '../../lab/n8n/execution';
import { json, startScriptedServer } from '../support/scriptedServer';
import { drawn, node, withSubNodes, workflow } from './support/buildWorkflow';
import { call, results, startScriptedModel, type ScriptedModel } from './support/scriptedModel';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

let session: Session;
let model: ScriptedModel;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 0.01 });
	model = await startScriptedModel();
	const { client, emulator } = session;
	for (const [name, baseUrl] of [
		['Service', emulator.url],
		['Scripted', model.url],
	] as const) {
		const data = { baseUrl, apiKey: 'demo-key' };
		await client.createCredential({ name, type: 'agentVideoApi', data });
	}
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await model.stop();
	await session.stop();
}, RUN_LIMIT_MS);

beforeEach(() => {
	session.emulator.journal.clear();
});

const TOOLS: readonly (readonly [name: string, type: string, parameters: object])[] = [
	['Create Video', 'createVideoTool', { prompt: fromModel('prompt') }],
	['Wait for Video', 'waitForVideoTool', { taskId: fromModel('task_id') }],
	['Chat Completion', 'chatCompletionTool', { prompt: fromModel('prompt') }],
	[
		'Super Assistant',
		'superAssistantTool',
		{ appCode: 'demo-assistant', message: fromModel('message') },
	],
];

function fromModel(key: string): string {
	return `={{ $fromAI('${key}', \`What is wanted\`, 'string') }}`;
}

/** Runs an AI Agent that calls a tool once and then says Done. */
async function runAgent(
	tool: INode,
	settings: Readonly<Record<string, unknown>>,
	argument: object,
) {
	model.replyWith((messages) =>
		results(messages).length > 0
			? 'Done'
			: [call('c1', tool.name.replaceAll(' ', '_'), argument)],
	);
	const agent = node('AI Agent', '@n8n/n8n-nodes-langchain.agent', 3.1, {
		parameters: { promptType: 'define', text: 'Go' },
	});
	const chatModel = node('Model', 'n8n-nodes-agent-video.agentVideoChatModel', 1, {
		credential: 'Scripted',
	});
	const start = node('Start', 'n8n-nodes-base.manualTrigger', 1);
	const base = drawn(tool.name, [start, agent], { Start: [['AI Agent']] });
	const asking = withSubNodes(base, 'AI Agent', [
		[chatModel, 'ai_languageModel'],
		[tool, 'ai_tool'],
	]);
	const { client } = session;
	const ref = await client.importWorkflow({ ...asking, settings });
	const execution = await client.waitForExecution(await client.run(ref, 'Start'));
	const [result] = results(model.requests.at(-1)!.messages);
	return { execution, result: result?.content as string };
}

it.each(TOOLS)(
	'%s as a tool is rejected before it sends anything where n8n loses its result',
	async (name, type, parameters) => {
		const tool = node(name, `n8n-nodes-agent-video.${type}`, 1, {
			credential: 'Service',
			parameters,
		});
		const argument = { prompt: 'A lake', task_id: 'task-1', message: 'Hello' };
		// As a workflow has that was imported without settings: n8n then runs it in the order v0.
		const { execution } = await runAgent(tool, {}, argument);
		expect(session.emulator.journal.entries).toStrictEqual([]);
		expect(execution.status).toBe('error');
		expect(failureOf(execution)).toMatch(
			/^[\w ]+: Execution Order is v0 \(legacy\).*Settings.*v1/,
		);
	},
	RUN_LIMIT_MS,
);

it.each([
	['the key', {}],
	['the chat', { session: 'chat' }],
	['an ID', { session: 'id', sessionId: '={{ $json.sessionId }}' }],
])(
	'no argument that a tool does not declare chooses its session, with %s',
	async (_name, ofTool) => {
		const [name, type, parameters] = TOOLS[3]!;
		const tool = node(name, `n8n-nodes-agent-video.${type}`, 1, {
			credential: 'Service',
			parameters: { session: 'key', ...parameters, ...ofTool },
		});
		const argument = { message: 'Hello', sessionId: 'customer-42' };
		const { result } = await runAgent(tool, { executionOrder: 'v1' }, argument);
		expect(result).toContain('has an argument that this tool does not declare');
		expect(session.emulator.journal.entries).toStrictEqual([]);
	},
	RUN_LIMIT_MS,
);

interface RpcRequest {
	readonly id?: number;
	readonly method?: string;
	readonly params?: object;
}

/** What an MCP server answers, by the method. */
const MCP: Readonly<Record<string, (params: object) => object>> = {
	initialize: () => ({
		protocolVersion: '2025-03-26',
		capabilities: { tools: {} },
		serverInfo: { name: 'calendar', version: '1' },
	}),
	'tools/list': () => ({
		tools: ['calendar.read', 'calendar/read', 'time'].map((name) => ({
			name,
			description: `Does ${name}`,
			inputSchema: { type: 'object', properties: { day: { type: 'string' } } },
		})),
	}),
	'tools/call': (params) => ({ content: [{ type: 'text', text: JSON.stringify(params) }] }),
};

it.each([
	['AI Agent 3.1', '@n8n/n8n-nodes-langchain.agent', 3.1],
	['AI Agent 1.9', '@n8n/n8n-nodes-langchain.agent', 1.9],
	['Agent with Tools', 'n8n-nodes-agent-video.functionCallingAgent', 1],
])(
	'%s calls tools of an MCP server whose names the service does not take',
	async (name, type, version) => {
		const server = await startScriptedServer((response, { method, body }) => {
			const { id, method: asked = '', params = {} } = (body ?? {}) as RpcRequest;
			const result = MCP[asked]?.(params);
			if (method === 'POST' && result) json(response, 200, { jsonrpc: '2.0', id, result });
			else response.writeHead(method === 'POST' ? 202 : 405).end();
		});
		let declared: readonly string[] = [];
		// The tools are asked one after the other, by the names that the model has been told.
		model.replyWith((messages, tools) => {
			const names = tools.map((tool) => tool.function.name);
			declared = names;
			const done = results(messages).length;
			return done === 3 ? 'Done' : [call(`c${done}`, names[done]!, { day: `day ${done}` })];
		});
		const isOwn = type.endsWith('functionCallingAgent');
		const parameters = isOwn ? { prompt: 'Go' } : { promptType: 'define', text: 'Go' };
		const agent = node('Agent', type, version, {
			parameters,
			...(isOwn && { credential: 'Scripted' }),
		});
		const start = node('Start', 'n8n-nodes-base.manualTrigger', 1);
		const chatModel = node('Model', 'n8n-nodes-agent-video.agentVideoChatModel', 1, {
			credential: 'Scripted',
		});
		const mcp = node('MCP', '@n8n/n8n-nodes-langchain.mcpClientTool', 1.2, {
			parameters: { endpointUrl: `${server.url}/mcp`, serverTransport: 'httpStreamable' },
		});
		const flow = withSubNodes(drawn(name, [start, agent], { Start: [['Agent']] }), 'Agent', [
			...(isOwn ? [] : [[chatModel, 'ai_languageModel'] as const]),
			[mcp, 'ai_tool'],
		]);
		const { client } = session;
		const ref = await client.importWorkflow(flow);
		const execution = await client.waitForExecution(await client.run(ref, 'Start'));
		await server.stop();
		expect(failureOf(execution)).toBe('');
		expect(declared).toHaveLength(3);
		for (const each of declared) expect(each).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
		expect(outputItems(execution, 'Agent').at(-1)!.json['output']).toBe('Done');
		const called = server.requests
			.map(({ body }) => (body ?? {}) as RpcRequest)
			.filter(({ method }) => method === 'tools/call');
		expect(called.map(({ params }) => params)).toMatchObject([
			{ name: 'calendar.read', arguments: { day: 'day 0' } },
			{ name: 'calendar/read', arguments: { day: 'day 1' } },
			{ name: 'time', arguments: { day: 'day 2' } },
		]);
		const told = results(model.requests.at(-1)!.messages).map(({ content }) => content);
		expect(told.map((text) => /day \d/.exec(String(text))?.[0])).toStrictEqual([
			'day 0',
			'day 1',
			'day 2',
		]);
	},
	RUN_LIMIT_MS,
);

it(
	'never tells the model that a call was not executed which has run before the memory begins',
	async () => {
		let asked = 0;
		model.replyWith((messages) => {
			if (messages.at(-1)!.role === 'tool') return 'Done';
			asked += 2;
			const calculates = (id: number) =>
				call(`c${id}`, 'Calculator', { input: `${id} + ${id}` });
			return [calculates(asked - 1), calculates(asked)];
		});
		const { client } = session;
		const chatModel = node('Model', 'n8n-nodes-agent-video.agentVideoChatModel', 1, {
			credential: 'Scripted',
		});
		const flow = withSubNodes(
			workflow('Short memory', [
				node('Start', 'n8n-nodes-base.manualTrigger', 1),
				node('Items', 'n8n-nodes-base.code', 2, {
					parameters: { jsCode: 'return [1, 2].map((n) => ({ json: { n } }));' },
				}),
				node('Agent', '@n8n/n8n-nodes-langchain.agent', 3.1, {
					parameters: { promptType: 'define', text: 'Calculate' },
				}),
			]),
			'Agent',
			[
				[chatModel, 'ai_languageModel'],
				[node('Calculator', `@n8n/n8n-nodes-langchain.toolCalculator`, 1), 'ai_tool'],
				[
					// n8n keeps a round as a question, each call with its result, and the answer: here from the first result on.
					node('Memory', `@n8n/n8n-nodes-langchain.memoryBufferWindow`, 1.3, {
						parameters: {
							sessionIdType: 'customKey',
							sessionKey: 'short',
							contextWindowLength: 2,
						},
					}),
					'ai_memory',
				],
			],
		);
		const ref = await client.importWorkflow(flow);
		const execution = await client.waitForExecution(await client.run(ref, 'Start'));
		expect(failureOf(execution)).toBe('');
		expect(model.requests).toHaveLength(4);
		const { messages } = model.requests.at(-1)!;
		expect(JSON.stringify(messages)).not.toContain('Not executed');
		const ids = messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
		expect(ids).toStrictEqual(['c2', 'c3', 'c4']);
		expect(results(messages).map(({ tool_call_id: id }) => id)).toStrictEqual(ids);
	},
	RUN_LIMIT_MS,
);
