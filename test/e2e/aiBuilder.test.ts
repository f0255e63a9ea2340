// @seconds 100
/**
 * What an AI that builds workflows sees of the nodes, through n8n's own MCP server: it finds them by the words of a request, reads
 * their type definitions, and runs the workflow that stands in each of them, and those that it writes itself.
 */
import axios from 'axios';

import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import { EXAMPLE_CREDENTIAL } from '../../lab/n8n/readExample';
import { NODE_NAMES, PACKAGE_NAME } from '../../scripts/nodePages';
import { connectMcp, type McpClient } from './support/mcpClient';
import { missingFields, type OutputSchema } from '../support/outputSchema';
import { REQUESTED } from './support/requestedWorkflows';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

let session: Session;
let mcp: McpClient;

beforeAll(async () => {
	// Its search also asks n8n's registry on the internet otherwise.
	const settings = { N8N_MCP_COMMUNITY_NODE_DISCOVERY_ENABLED: 'false' };
	session = await startSession({ videoSeconds: 1 }, settings);
	const { client, emulator, n8n } = session;
	await client.createCredential({
		name: EXAMPLE_CREDENTIAL,
		type: 'agentVideoApi',
		data: { baseUrl: emulator.url, apiKey: 'demo-key' },
	});
	await client.createDataTable(
		'video_ideas',
		[{ name: 'prompt', type: 'string' }],
		[{ prompt: 'A lighthouse at dawn' }, { prompt: 'A paper boat in the rain' }],
	);
	await client.createDataTable(
		'orders',
		[
			{ name: 'order_id', type: 'string' },
			{ name: 'state', type: 'string' },
		],
		[{ order_id: 'A17', state: 'shipped' }],
	);
	mcp = await connectMcp(`${n8n.url}/mcp-server/http`, await client.enableMcp());
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await session.stop();
}, RUN_LIMIT_MS);

const typeOf = (name: string) =>
	`${PACKAGE_NAME}.${name[0]!.toLowerCase()}${name.slice(1)}` as const;

/** Calls a tool that must not fail. */
async function call<T>(name: string, args: Readonly<Record<string, unknown>>): Promise<T> {
	const { isError, value } = await mcp.call(name, args);
	if (isError) throw new Error(`${name}: ${String(value)}`);
	return value as T;
}

/** What a person types, the words by which a model then searches, and the nodes that it must find. */
const REQUESTS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
	[
		'every night make videos from my table, at most 20 euros',
		['every night make videos from my table, at most 20 euros'],
		['CreateVideo', 'WaitForVideo'],
	],
	[
		'Turn the photos of my products into short clips',
		['image to video', 'photo clip'],
		['CreateVideo'],
	],
	[
		'Write a prompt with AI and generate a video from it',
		['text generation', 'generate video'],
		['ChatCompletion', 'CreateVideo'],
	],
	[
		'Tell me when the video is finished and save its file',
		['video status', 'download video'],
		['WaitForVideo'],
	],
	['Collect the videos that I have paid for and never got', ['collect videos'], ['WaitForVideo']],
	[
		'A chatbot that streams its replies to the visitors of my website',
		['chatbot', 'streaming'],
		['ChatCompletion'],
	],
	[
		'Extract the amount and the date of invoices as JSON',
		['extract data', 'structured output'],
		['ChatCompletion'],
	],
	[
		'An agent that calls my own functions and asks me before a refund',
		['function calling', 'human in the loop'],
		['FunctionCallingAgent'],
	],
	[
		'Describe the picture that a visitor sends',
		['image description', 'vision'],
		['ChatCompletion'],
	],
	[
		'Check whether my video is done, and mail me the mp4',
		['check task', 'mp4'],
		['WaitForVideo'],
	],
	[
		'A commercial for each product, no more than ten a day',
		['video commercial'],
		['CreateVideo', 'WaitForVideo'],
	],
	[
		'A super assistant that remembers each customer',
		['super assistant', 'remember'],
		['SuperAssistant'],
	],
	[
		'Use Agent Video as the model of an AI agent',
		['agent video chat model'],
		['AgentVideoChatModel'],
	],
];

test.each(REQUESTS)('%s: finds the nodes', async (_request, queries, expected) => {
	const { results } = await call<{ results: string }>('search_nodes', { queries });
	for (const name of expected) expect(results).toContain(`- ${typeOf(name)}\n`);
	expect(results).toContain('@builderHint');
});

test('a search for videos says what must follow Create Video', async () => {
	const { results } = await call<{ results: string }>('search_nodes', { queries: ['video'] });
	const [first = ''] = results.split(/^- /m).slice(1);
	expect(first).toMatch(/^n8n-nodes-agent-video\.createVideo\n/);
	expect(first).toContain(`- ${typeOf('WaitForVideo')}: "Must follow`);
});

/** How a workflow is started: its trigger, and what a chat or a webhook gets. */
interface Start {
	readonly trigger: string;
	readonly inputs?: object;
}

const like = (json: object) => expect.objectContaining(json) as object;
const TEXT = expect.any(String) as string;
const CHAT = { chatInput: 'Find the price of the product kite' };

const VIDEO = like({ task_id: expect.any(String) as string, estimated_cost: 0.5 });
const COMPLETED = like({ status: 'completed' });

/** Items that nodes of an example must have put out at their first output. */
const ITEMS: Readonly<Record<string, Readonly<Record<string, readonly object[]>>>> = {
	CreateVideo: { 'Create Video': [VIDEO, VIDEO], 'Use Video': [COMPLETED, COMPLETED] },
	WaitForVideo: { 'Collect Videos': [] },
	ChatCompletion: { Answer: [like({ output: TEXT })] },
	FunctionCallingAgent: {
		'Find Price': [like({ product: TEXT, price: expect.any(Number) as number })],
		Answer: [like({ output: TEXT })],
	},
	SuperAssistant: { Assistant: [like({ output: TEXT })] },
	AgentVideoChatModel: { 'AI Agent': [like({ output: TEXT })] },
};

/** The nodes in the code of a workflow: the type and the name of each, the trigger first. */
const nodesIn = (code: string) =>
	[...code.matchAll(/type: '([^']+)',\s+version: [\d.]+,\s+config: \{\s+name: '([^']+)'/g)].map(
		([, type, name]) => ({ type: type!, name: name! }),
	);

/** The workflow in the type definition of a node, as a model reads it. */
async function readExample(name: string): Promise<string> {
	const { definitions } = await call<{ definitions: string }>('get_node_types', {
		nodeIds: [{ nodeId: typeOf(name) }],
	});
	// n8n does not check names of nodes that are not its own, so their definition warns of others.
	expect(definitions).toContain('n8n drops other names');
	const [, example] = /^ \* <pattern title=.*\n([^]*?)^ \* <\/pattern>/m.exec(definitions) ?? [];
	if (example === undefined) throw new Error(`No example in ${definitions}`);
	// A person enters the code of an assistant; the emulator has this one.
	return example.replaceAll(/^ \* ?/gm, '').replace('my-assistant', 'demo-assistant');
}

/** A node of this package with an output of its own, which the chat model does not have. */
const hasSchema = (type: string) => type.startsWith(PACKAGE_NAME) && !type.endsWith('ChatModel');

/** The schema of a node's output, from the address that the editor asks. */
async function readSchema(type: string): Promise<OutputSchema> {
	const url = `${session.n8n.url}/schemas/${type}/1.0.0.json`;
	return (await axios.get<OutputSchema>(url, { proxy: false })).data;
}

/** Starts a workflow as a model does, and waits for its end. */
async function run(workflowId: string, { trigger, inputs }: Start): Promise<Execution> {
	const { executionId, error } = await call<{ executionId: string; error?: string }>(
		'execute_workflow',
		{
			workflowId,
			executionMode: 'manual',
			triggerNodeName: trigger,
			...(inputs && { inputs }),
		},
	);
	expect(error).toBeUndefined();
	const execution = await session.client.waitForExecution(executionId);
	expect([execution.status, failureOf(execution)]).toStrictEqual(['success', '']);
	return execution;
}

/** Validates the code of a workflow without a warning, and saves it. */
async function create(code: string, name: string): Promise<string> {
	expect(await call('validate_workflow', { code })).toStrictEqual({
		valid: true,
		nodeCount: code.match(/^const \w+ = /gm)?.length,
	});
	const { workflowId, warnings } = await call<{ workflowId: string; warnings?: unknown }>(
		'create_workflow_from_code',
		{ code, name },
	);
	expect(warnings).toBeUndefined();
	return workflowId;
}

const jsonOf = (execution: Execution, node: string) =>
	outputItems(execution, node).map(({ json }) => json);

test.each(REQUESTED)(
	'$request: the workflow for it is valid, right, and paid right',
	async ({ request, code, items, paid = [], ...start }) => {
		const workflowId = await create(code, request);
		const [expected] = Object.values(items);
		for (const time of expected!.keys()) {
			session.emulator.journal.clear();
			const execution = await run(workflowId, start);
			for (const [node, times] of Object.entries(items))
				expect([node, jsonOf(execution, node)]).toStrictEqual([node, times[time]]);
			const sent = session.emulator.journal.entries.map(({ path }) => path);
			const videos = sent.filter((path) => path === '/v1/videos/generations');
			expect(videos).toHaveLength(paid[time] ?? 0);
		}
	},
	RUN_LIMIT_MS,
);

test.each(NODE_NAMES)(
	'%s: the workflow in its type definition is valid and runs',
	async (name) => {
		const code = await readExample(name);
		const workflowId = await create(code, name);
		const [trigger, ...nodes] = nodesIn(code);
		const isChat = trigger!.type.endsWith('.chatTrigger');
		const start = { trigger: trigger!.name, ...(isChat && { inputs: CHAT }) };
		const execution = await run(workflowId, start);
		for (const node of nodes.filter(({ type }) => hasSchema(type))) {
			const schema = await readSchema(node.type);
			const fields = jsonOf(execution, node.name).flatMap((json) =>
				missingFields(json, schema),
			);
			expect([node.name, fields]).toStrictEqual([node.name, []]);
		}
		const items = ITEMS[name] ?? {};
		const outputs = Object.keys(items).map((node) => [node, jsonOf(execution, node)]);
		expect(Object.fromEntries(outputs)).toStrictEqual(items);
	},
	RUN_LIMIT_MS,
);
