// @seconds 10
import type { INode } from 'n8n-workflow';

import { failureOf, outputItems } from '../../lab/n8n/execution';
import { json, startScriptedServer } from '../support/scriptedServer';
import { useAgentSession } from './support/agentSession';
import { node, withSubNodes, workflow } from './support/buildWorkflow';
import { agentNode, aiAgent, LANGCHAIN, start, withChatModel } from './support/drawAgent';
import { call, results } from './support/scriptedModel';
import { RUN_LIMIT_MS } from './support/session';

const session = useAgentSession();

const TOOLS: readonly (readonly [name: string, type: string, parameters: object])[] = [
	['Create Video', 'createVideoTool', { prompt: fromModel('prompt') }],
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
	const { model } = session;
	model.replyWith((messages) =>
		results(messages).length > 0
			? 'Done'
			: [call('c1', tool.name.replaceAll(' ', '_'), argument)],
	);
	const asking = withChatModel(workflow(tool.name, [start, aiAgent('Go')]), [tool, 'ai_tool']);
	const execution = await session.execute({ ...asking, settings });
	const [result] = results(model.requests.at(-1)!.messages);
	return { execution, result: result?.content as string };
}

it.each(TOOLS)(
	'%s as a tool is rejected before it sends anything where n8n loses its result',
	async (name, type, parameters) => {
		const tool = node(name, `n8n-nodes-agent-video.${type}`, 1, {
			credential: 'Emulator',
			parameters,
		});
		const argument = { prompt: 'A lake', message: 'Hello' };
		// As a workflow has that was imported without settings: n8n then runs it in the order v0.
		const { execution } = await runAgent(tool, {}, argument);
		expect(session.emulator.journal.entries).toStrictEqual([]);
		expect(execution.status).toBe('error');
		expect(failureOf(execution)).toMatch(
			/^[\w ]+: Execution Logic is v0 \(legacy\).*Settings.*v1/,
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
		const [name, type, parameters] = TOOLS[1]!;
		const tool = node(name, `n8n-nodes-agent-video.${type}`, 1, {
			credential: 'Emulator',
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

it.each(['AI Agent', 'Agent'])(
	'%s calls tools of an MCP server whose names the service does not take',
	async (name) => {
		const started = await startScriptedServer((response, { method, body }) => {
			const { id, method: asked = '', params = {} } = (body ?? {}) as RpcRequest;
			const result = MCP[asked]?.(params);
			if (method === 'POST' && result) json(response, 200, { jsonrpc: '2.0', id, result });
			else response.writeHead(method === 'POST' ? 202 : 405).end();
		});
		const server = session.keep(started);
		let declared: readonly string[] = [];
		const { model } = session;
		// The tools are asked one after the other, by the names that the model has been told.
		model.replyWith((messages, tools) => {
			const names = tools.map((tool) => tool.function.name);
			declared = names;
			const done = results(messages).length;
			return done === 3 ? 'Done' : [call(`c${done}`, names[done]!, { day: `day ${done}` })];
		});
		const mcp = node('MCP', `${LANGCHAIN}.mcpClientTool`, 1.2, {
			parameters: { endpointUrl: `${server.url}/mcp`, serverTransport: 'httpStreamable' },
		});
		const own = agentNode({ tools: [], parameters: { prompt: 'Go' } });
		const execution = await session.execute(
			name === 'Agent'
				? withSubNodes(workflow(name, [start, own]), name, [[mcp, 'ai_tool']])
				: withChatModel(workflow(name, [start, aiAgent('Go')]), [mcp, 'ai_tool']),
		);
		expect(failureOf(execution)).toBe('');
		expect(declared).toHaveLength(3);
		for (const each of declared) expect(each).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
		expect(outputItems(execution, name).at(-1)!.json['output']).toBe('Done');
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
