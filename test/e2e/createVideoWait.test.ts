// @seconds 30
import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { binaryOf, failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { Running } from '../../lab/services/Running';
import { drawn, node, withSubNodes, workflow } from './support/buildWorkflow';
import { compareBooks, CREATIONS, IN_ORDER, ledgerRows, POLLS, until } from './support/ledger';
import { startRestartableN8n, type RestartableN8n } from '../../lab/n8n/restartableN8n';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

const FILES = '/cdn/';
const SHOTS = 3;
/** Timeout, in milliseconds: a kill, a start of n8n, and two runs. */
const LIMIT_MS = 5 * 60_000;

const running = new Running();
let emulator: Emulator;
let n8n: RestartableN8n;

beforeAll(async () => {
	emulator = running.keep(await startEmulator({ videoSeconds: 0.01 }));
	n8n = running.keep(await startRestartableN8n());
	await n8n.client.createCredential({
		name: 'Emulator',
		type: 'agentVideoApi',
		data: { baseUrl: emulator.url, apiKey: 'demo-key' },
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

beforeEach(() => {
	emulator.journal.clear();
	emulator.faults.clear();
});

const createNode = node('Create Video', 'n8n-nodes-agent-video.createVideo', 1, {
	parameters: { prompt: '={{ $json.prompt }}', waitUntilFinished: true },
	credential: 'Emulator',
});

/** A webhook that makes videos; their prompts begin with the name of the workflow. */
async function publish(name: string): Promise<WorkflowRef> {
	const nodes = [
		node('Start', 'n8n-nodes-base.webhook', 2.1, {
			parameters: { httpMethod: 'POST', path: name, responseMode: 'onReceived' },
			webhookId: name,
		}),
		node('Shots', 'n8n-nodes-base.code', 2, {
			parameters: {
				jsCode: `return [...Array(${SHOTS}).keys()].map((shot) => ({ json: { prompt: '${name} shot ' + shot } }));`,
			},
		}),
		createNode,
	];
	const ref = await n8n.client.importWorkflow(workflow(name, nodes));
	await n8n.client.activate(ref);
	return ref;
}

async function begin(name: string, ref: WorkflowRef): Promise<string> {
	await postWebhook(`${n8n.url}/webhook/${name}`, {});
	const [newest] = await n8n.client.executions(ref);
	return newest!.id;
}

/** Expects a file of each video, and that each was created once. */
async function expectVideos(execution: Execution, name: string): Promise<void> {
	const items = outputItems(execution, 'Create Video');
	expect(items.map(({ json }) => json['status'])).toStrictEqual(Array(SHOTS).fill('completed'));
	for (const item of items)
		expect((await n8n.client.download(binaryOf(item, 'data'))).length).toBeGreaterThan(1_000);
	expect(await compareBooks(emulator, n8n.client, name)).toStrictEqual(IN_ORDER);
	expect(emulator.tasks.all.filter(({ video }) => video.prompt.startsWith(name))).toHaveLength(
		SHOTS,
	);
	expect(await ledgerRows(n8n.client, name)).toMatchObject(
		Array(SHOTS).fill({ status: 'done', finished_at: expect.any(String) as string }),
	);
}

it(
	'n8n is killed while the node downloads: the retry creates no video, and has all files',
	async () => {
		const name = 'killed';
		const ref = await publish(name);
		// The first two requests of this kind are answered.
		emulator.faults.add({ kind: 'holdBody', path: FILES, skip: 2, count: 99 });
		const id = await begin(name, ref);
		const files = () => emulator.journal.entries.filter(({ path }) => path.startsWith(FILES));
		await until(() => files().length === SHOTS);
		await n8n.kill();
		emulator.faults.clear();
		await n8n.start();
		expect((await n8n.client.waitForExecution(id)).status).toBe('crashed');
		emulator.journal.clear();

		const execution = await n8n.client.readExecution(await n8n.client.retry(id));
		expect(emulator.journal.of(CREATIONS)).toHaveLength(0);
		await expectVideos(execution, name);
	},
	LIMIT_MS,
);

it(
	"n8n's Stop and Retry go on with the same videos",
	async () => {
		const ref = await publish('stopped');
		emulator.faults.add({ kind: 'holdBody', path: POLLS, count: 99 });
		const id = await begin('stopped', ref);
		await until(() => emulator.journal.of(POLLS).length === SHOTS);
		await n8n.client.stop(id);
		expect((await n8n.client.waitForExecution(id)).status).toBe('canceled');
		emulator.faults.clear();
		// n8n leaves the error of the stop in the retry, whose node succeeds.
		const retry = await n8n.client.readExecution(await n8n.client.retry(id));
		await expectVideos(retry, 'stopped');
	},
	LIMIT_MS,
);

it(
	'as the only tool of an AI Agent it gives the model the address of the video',
	async () => {
		const agent = node('AI Agent', '@n8n/n8n-nodes-langchain.agent', 3.1, {
			parameters: { promptType: 'define', text: 'Make a video of a lighthouse' },
		});
		const model = node('Model', 'n8n-nodes-agent-video.agentVideoChatModel', 1, {
			credential: 'Emulator',
			parameters: { model: { __rl: true, mode: 'id', value: 'chat-m1' } },
		});
		const tool = node('Create Video', 'n8n-nodes-agent-video.createVideoTool', 1, {
			credential: 'Emulator',
			parameters: {
				prompt: "={{ $fromAI('prompt', `What the video shows`, 'string') }}",
				waitUntilFinished: true,
			},
		});
		const start = node('Start', 'n8n-nodes-base.manualTrigger', 1);
		const base = drawn('Agent', [start, agent], { Start: [['AI Agent']] });
		const asking = withSubNodes(base, 'AI Agent', [
			[model, 'ai_languageModel'],
			[tool, 'ai_tool'],
		]);
		const ref = await n8n.client.importWorkflow(asking);
		const execution = await n8n.client.waitForExecution(await n8n.client.run(ref, 'Start'));
		expect(failureOf(execution)).toBe('');
		const chats = emulator.journal.of('/v1/chat/completions').map(({ body }) => body);
		const { messages } = chats.at(-1) as { messages: { role: string; content: string }[] };
		const results = messages.filter(({ role }) => role === 'tool');
		expect(results.map(({ content }) => JSON.parse(content) as unknown)).toMatchObject([
			[{ status: 'completed', video_url: expect.stringContaining('.mp4') as string }],
		]);
		expect(emulator.journal.of(CREATIONS)).toHaveLength(1);
	},
	LIMIT_MS,
);
