// @seconds 60
/**
 * What an AI that builds workflows sees of the nodes, through n8n's own MCP server: it finds them by the words of a request, reads
 * their type definitions, and runs the workflows that stand in them.
 */
import { join } from 'node:path';

import axios from 'axios';

import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { webhookIdOf } from '../../lab/n8n/readExample';
import { chatUrl } from '../../lab/n8n/streamChat';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import type { Workflow } from '../../lab/n8n/workflow';
import { ROOT } from '../../lab/paths';
import { NODE_NAMES, PACKAGE_NAME } from '../../scripts/nodePages';
import { CREATIONS, POLLS, until } from '../e2e/support/ledger';
import { startMailbox, type Mailbox } from '../e2e/support/mailbox';
import { connectMcp, type McpClient } from '../e2e/support/mcpClient';
import { missingFields, type OutputSchema } from '../support/outputSchema';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession } from '../e2e/support/session';
import { useSessionOf } from '../e2e/support/useSession';

const OPTIONS = {
	videoSeconds: 1,
	scripts: [join(ROOT, 'test', 'fixtures', 'otherWords.yaml')],
};
/** Its search also asks n8n's registry on the internet otherwise. */
const SETTINGS = { N8N_MCP_COMMUNITY_NODE_DISCOVERY_ENABLED: 'false' };
const session = useSessionOf((running) => startSession(running, OPTIONS, SETTINGS));
let mcp: McpClient;
let mailbox: Mailbox;

/** Columns and first column of the rows of the tables that the workflows read. */
const TABLES: Readonly<Record<string, readonly (readonly string[])[]>> = {
	video_ideas: [['prompt'], ['A lighthouse at dawn', 'A paper boat in the rain']],
	video_visitors: [['visitor'], []],
	video_topics: [
		['topic', 'video_url', 'error'],
		['A lighthouse', 'A paper boat'],
	],
	video_scenes: [
		['prompt', 'model', 'video_url', 'error'],
		['A lighthouse', 'A storm', 'A fail-task'],
	],
};

beforeAll(async () => {
	const { client, n8n } = session;
	for (const [table, [columns, rows]] of Object.entries(TABLES))
		await client.createDataTable(
			table,
			columns!.map((name) => ({ name, type: 'string' })),
			rows!.map((text) => ({ [columns![0]!]: text })),
		);
	mailbox = session.keep(await startMailbox(client));
	mcp = await connectMcp(`${n8n.url}/mcp-server/http`, await client.enableMcp());
}, SET_UP_LIMIT_MS);

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

/** Items that nodes of an example must have put out at their first output. */
const ITEMS: Readonly<Record<string, Readonly<Record<string, readonly object[]>>>> = {
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

/** The workflows in the type definition of a node, as a model reads them. */
async function readPatterns(name: string): Promise<readonly string[]> {
	const { definitions } = await call<{ definitions: string }>('get_node_types', {
		nodeIds: [{ nodeId: typeOf(name) }],
	});
	// n8n does not check names of nodes that are not its own, so their definition warns of others.
	expect(definitions).toContain('n8n drops other names');
	const patterns = definitions.matchAll(/^ \* <pattern title=.*\n([^]*?)^ \* <\/pattern>/gm);
	// A person enters the code of an assistant; the emulator has this one.
	return [...patterns].map(([, code]) =>
		code!.replaceAll(/^ \* ?/gm, '').replace('my-assistant', 'demo-assistant'),
	);
}

/** A node of this package with an output of its own, which the chat model does not have. */
const hasSchema = (type: string) => type.startsWith(PACKAGE_NAME) && !type.endsWith('ChatModel');

/** The schema of a node's output, from the address that the editor asks. */
async function readSchema(type: string): Promise<OutputSchema> {
	const url = `${session.n8n.url}/schemas/${type}/1.0.0.json`;
	return (await axios.get<OutputSchema>(url, { proxy: false })).data;
}

/** Starts a workflow as a model does. */
async function start(workflowId: string, { trigger, inputs }: Start): Promise<string> {
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
	return executionId;
}

/** Starts a workflow, and waits for its end. */
async function run(workflowId: string, how: Start): Promise<Execution> {
	const executionId = await start(workflowId, how);
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

const ACCOUNT = "credentials: { agentVideoApi: newCredential('Agent Video account') }";

/** Fields and slots that the workflows in the type definitions do not have; it is not run. */
const OTHER_FIELDS = `
const start = trigger({
	type: 'n8n-nodes-base.manualTrigger', version: 1, config: { name: 'Start' }, output: [{}],
});
const reel = node({
	type: 'n8n-nodes-agent-video.createVideo', version: 1,
	config: { name: 'Create Reel', ${ACCOUNT}, parameters: {
		model: { __rl: true, mode: 'list', value: 'video-m1' }, prompt: 'Street food at night',
		imageMode: 'first_last_frame', references: { file: [
			{ url: 'https://example.com/bud.jpg' }, { url: 'https://example.com/rose.jpg' }
		] },
		aspectRatio: '9:16', duration: 10, size: '1080P', generateAudio: false,
		waitUntilFinished: true, download: true,
		options: {
			dryRun: true, pricePerSecond: 0.1, maximumCost: 2, maximumVideos: 2,
			limitPeriod: 'month', takeWhatFits: true
		}
	} },
	output: [{ task_id: 'task-1', request: { image_mode: 'first_last_frame' } }],
});
const solve = node({
	type: 'n8n-nodes-agent-video.chatCompletion', version: 1,
	config: { name: 'Solve', ${ACCOUNT}, parameters: {
		prompt: 'What has hands and cannot clap?', streaming: 'off', output: 'detailed',
		memory: 'key', memoryKey: 'customer-42',
		images: { image: [{ url: 'https://example.com/1.png' }] },
		options: { thinking: 'enabled', timeout: 600, concurrency: 1, fallbacks: 'chat-m1' }
	} },
	output: [{ output: 'A clock' }],
});
const scenes = node({
	type: 'n8n-nodes-agent-video.chatCompletion', version: 1,
	config: { name: 'Scenes', ${ACCOUNT}, parameters: {
		prompt: 'Write a story in three scenes', responseFormat: 'schema',
		defineSchema: 'example', jsonExample: '{ "scenes": ["A kite rises"] }'
	} },
	output: [{ json: { json: { scenes: ['A kite rises'] } } }],
});
const simple = memory({
	type: '@n8n/n8n-nodes-langchain.memoryBufferWindow', version: 1.3,
	config: { name: 'Memory', parameters: { contextWindowLength: 10 } },
});
const sort = node({
	type: 'n8n-nodes-agent-video.chatCompletion', version: 1,
	config: { name: 'Sort', ${ACCOUNT}, subnodes: { memory: simple }, parameters: {
		prompt: 'Sort this mail: it came broken', responseFormat: 'schema',
		fields: { field: [
			{ name: 'kind', type: 'string', values: 'complaint, question, other' },
			{ name: 'summary', type: 'string', required: false }
		] },
		options: { repairAttempts: 1, temperature: 0 }
	} },
	output: [{ json: { json: { kind: 'complaint' } } }],
});
const make = tool({
	type: 'n8n-nodes-agent-video.createVideoTool', version: 1,
	config: {
		name: 'Create video', ${ACCOUNT},
		parameters: { prompt: fromAi('prompt', 'What the video shows') },
	},
});
const agent = node({
	type: 'n8n-nodes-agent-video.functionCallingAgent', version: 1,
	config: {
		name: 'Agent', ${ACCOUNT}, subnodes: { tools: [make] },
		parameters: { prompt: 'Make a video of a kite', systemMessage: 'You make videos.' },
	},
	output: [{ output: 'Here it is' }],
});
const plan = node({
	type: 'n8n-nodes-agent-video.superAssistant', version: 1,
	config: { name: 'Plan', ${ACCOUNT}, parameters: {
		appCode: 'demo-assistant', message: 'Plan a trip', session: 'key', sessionKey: 'customer-7'
	} },
	output: [{ output: 'A trip to the sea', session_id: 'session-1' }],
});
export default workflow('other', 'Other')
	.add(start).to(reel).to(solve).to(scenes).to(sort).to(agent).add(agent.output(0).to(plan));`;

test('a workflow with other fields is valid', async () => {
	await create(OTHER_FIELDS, 'Other fields');
});

test.each(Object.keys(ITEMS))(
	'%s: the first workflow in its type definition is valid and runs',
	async (name) => {
		const [code = ''] = await readPatterns(name);
		const workflowId = await create(code, name);
		const [trigger] = nodesIn(code);
		const isChat = trigger!.type.endsWith('.chatTrigger');
		const how = { trigger: trigger!.name, ...(isChat && { inputs: CHAT }) };
		const execution = await run(workflowId, how);
		for (const node of nodesIn(code).filter(({ type }) => hasSchema(type))) {
			const schema = await readSchema(node.type);
			const fields = jsonOf(execution, node.name).flatMap((json) =>
				missingFields(json, schema),
			);
			expect([node.name, fields]).toStrictEqual([node.name, []]);
		}
		const items = ITEMS[name]!;
		const outputs = Object.keys(items).map((node) => [node, jsonOf(execution, node)]);
		expect(Object.fromEntries(outputs)).toStrictEqual(items);
	},
	RUN_LIMIT_MS,
);

test('the tests run every workflow in a type definition', async () => {
	const patterns = await Promise.all(NODE_NAMES.map(readPatterns));
	const run = Object.keys(ITEMS).length + NIGHTS.length + 1;
	expect(patterns.flat()).toHaveLength(run);
});

/** Creations that were accepted. */
const paid = () => session.emulator.journal.of(CREATIONS).filter(({ status }) => status === 200);

/** The videos that a node has put out, in all its runs. */
const videosAt = ({ data }: Execution, node: string) =>
	(data.resultData.runData[node] ?? [])
		.flatMap((task) => task.data?.['main']?.[0] ?? [])
		.flatMap(({ json }) => json['video_url'] ?? []);

/** The workflows of a night: the node and the place among its workflows, what is paid before the stop and in all, and sent on where. */
const NIGHTS = [
	{ name: 'CreateVideo', at: 0, nights: 1, before: 2, total: 2, sent: 'Use Video', told: 0 },
	{ name: 'ChatCompletion', at: 1, nights: 1, before: 2, total: 2, sent: 'Save Video', told: 0 },
	{ name: 'WaitForVideo', at: 1, nights: 2, before: 2, total: 4, sent: 'Save Video', told: 3 },
] as const;

test.each(NIGHTS)(
	'$name: after a night that was stopped each video is paid once and sent on once',
	async ({ name, at, nights, before, total, sent, told }) => {
		const { emulator, client } = session;
		const code = (await readPatterns(name))[at]!;
		const workflowId = await create(code, name);
		const letters = mailbox.letters.length;
		// The first model rejects the storm, in both nights.
		const refused = {
			kind: 'status',
			status: 409,
			path: CREATIONS,
			contains: 'storm',
		} as const;
		emulator.faults.add(refused);
		emulator.faults.add({ kind: 'status', status: 503, path: POLLS, count: 1_000 });
		const night = { trigger: 'Every Night' };
		const stopped = await start(workflowId, night);
		await until(() => emulator.journal.of(POLLS).length >= before);
		await client.stop(stopped);
		expect(paid()).toHaveLength(before);
		emulator.faults.clear();
		emulator.faults.add(refused);

		const videos: unknown[] = [];
		// The last one has nothing to do.
		for (let count = 0; count <= nights; count++) {
			const found = videosAt(await run(workflowId, night), sent);
			if (count === nights) expect(found).toStrictEqual([]);
			videos.push(...found);
		}
		expect(new Set(videos).size).toBe(2);
		expect(videos).toHaveLength(2);
		expect(paid()).toHaveLength(total);
		expect(mailbox.letters.length - letters).toBe(told);
	},
	RUN_LIMIT_MS,
);

test(
	'CreateVideo: a visitor has two videos, also when one has failed, and another visitor has two',
	async () => {
		const { client, n8n } = session;
		const code = (await readPatterns('CreateVideo'))[1]!;
		const id = await create(code, 'Visitors');
		const { data } = await client.answer('GET', `/workflows/${id}`);
		const saved = (data as { data: Workflow & WorkflowRef }).data;
		await client.activate(saved);
		const ask = async (sessionId: string, chatInput: string) => {
			const body = { action: 'sendMessage', sessionId, chatInput };
			const url = chatUrl(n8n.url, webhookIdOf(saved));
			return (await postWebhook<{ output: string }>(url, body)).data.output;
		};
		expect(await ask('visitor-1', 'A kite')).toContain('.mp4');
		expect(await ask('visitor-1', 'A fail-task')).toBe('The video failed');
		expect(await ask('visitor-1', 'A boat')).toBe('You have had your two videos.');
		expect(await ask('visitor-2', 'A tram')).toContain('.mp4');
		expect(paid()).toHaveLength(3);
	},
	RUN_LIMIT_MS,
);
