// @seconds 40
import { N8nClient } from '../../lab/n8n/N8nClient';
import { Running } from '../../lab/services/Running';
import { OPERATIONS, type Operation } from '../faults/operations';
import { FILE_ATTACKS, FILE_OPERATIONS } from '../hostile/fileHost';
import { startTrap, type Trap } from '../hostile/network';
import { attackScript, SERVICE_ATTACKS, type Attack } from '../hostile/service';
import { json, startScriptedServer, type Script } from '../support/scriptedServer';
import { drawn, node, withSubNodes } from '../e2e/support/buildWorkflow';
import { watchLiveness, type Liveness } from '../e2e/support/liveness';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from '../e2e/support/session';
import { sharedN8n } from '../e2e/support/sharedN8n';

const PACKAGE = 'n8n-nodes-agent-video';
const CREDENTIAL = 'Hostile';
/** CPU time that n8n must not use without an answer, in milliseconds. */
const FROZEN_MS = 3_000;
/** The attacks that have stopped n8n, or cost it most. */
const WORST = [
	'1 MB of <script in a 502',
	'30 MB in an error message',
	'JSON of two million levels',
	'thousands of tool calls at once',
	'tool arguments of a hundred thousand levels',
	'endless lines of an event',
	'gzip of much more than is read',
];
const WORST_TEXTS = ['300 kB of links without spaces', '64 kB of beginnings of pictures'];

const running = new Running();
let script: Script;
let client: N8nClient;
let trap: Trap;
let liveness: Liveness;
let baseUrl: string;

beforeAll(async () => {
	const server = running.keep(
		await startScriptedServer((...args) => {
			script(...args);
		}),
	);
	baseUrl = server.url;
	trap = running.keep(await startTrap());
	const n8n = await sharedN8n();
	client = await N8nClient.signIn(n8n.url);
	running.keep({ stop: () => client.archiveWorkflows() });
	await client.createCredential(credential());
	liveness = running.keep(watchLiveness(n8n));
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

const credential = () => ({
	name: CREDENTIAL,
	type: 'agentVideoApi',
	data: { baseUrl, apiKey: 'sk-0f4e/very+secret=7' },
});
/** Real time: no attack of this file waits. */
const server = () => ({
	time: { hold: () => undefined, passedMs: () => 0 },
	insidePort: trap.port,
});

const tool = {
	name: 'depth',
	description: 'Tells how deep it is',
	define: 'fields',
	parameters: {},
};
const media = { options: { downloadMedia: true } };
const own = (name: string, type: string, parameters: object) => ({
	...node(name, `${PACKAGE}.${type}`, 1, { parameters, credential: CREDENTIAL }),
	onError: 'continueRegularOutput' as const,
	alwaysOutputData: true,
});

/** A workflow with every node of the package, one after another; each failure is an item. */
const everyNode = (name: string) =>
	withSubNodes(
		drawn(
			name,
			[
				node('Start', 'n8n-nodes-base.manualTrigger', 1),
				own('Chat', 'chatCompletion', { prompt: 'Hi', ...media }),
				own('Assistant', 'superAssistant', { appCode: 'app', message: 'Hi', ...media }),
				own('Create', 'createVideo', { prompt: 'A lake' }),
				own('Wait', 'waitForVideo', {
					taskId: 'task-1',
					waitMode: 'once',
					download: false,
				}),
				{
					...node('Chain', '@n8n/n8n-nodes-langchain.chainLlm', 1.7, {
						parameters: { promptType: 'define', text: 'Hi' },
					}),
					onError: 'continueRegularOutput' as const,
				},
				own('Agent', 'functionCallingAgent', {
					prompt: 'Hi',
					tools: { tool: [tool] },
					...media,
				}),
				node('Depth', 'n8n-nodes-base.set', 3.4, {
					parameters: { mode: 'raw', jsonOutput: '{ "metres": 40 }' },
				}),
			],
			{
				Start: [['Chat']],
				Chat: [['Assistant']],
				Assistant: [['Create']],
				Create: [['Wait']],
				// Its outputs: completed, failed, generating.
				Wait: [['Chain'], ['Chain'], ['Chain']],
				Chain: [['Agent']],
				Agent: [[], [], ['Depth']],
				Depth: [['Agent']],
			},
		),
		'Chain',
		[
			[
				node('Model', `${PACKAGE}.agentVideoChatModel`, 1, { credential: CREDENTIAL }),
				'ai_languageModel',
			],
		],
	);

/** Which operation a request belongs to, and the script that answers it. */
function answering(attack: Attack): Script {
	const scripts = new Map<Operation, Script>();
	return (response, request, index) => {
		const { path, body } = request;
		const { stream, app_code: app } = (body ?? {}) as { stream?: boolean; app_code?: string };
		const operation: Operation = path.endsWith('/tasks')
			? OPERATIONS.waitForVideo
			: path.includes('/videos')
				? OPERATIONS.createVideo
				: JSON.stringify(body).includes('"depth"')
					? { ...OPERATIONS.agent, goodBefore: 0 }
					: app !== undefined
						? OPERATIONS[stream === true ? 'assistantStreamed' : 'assistant']
						: OPERATIONS[stream === true ? 'chatStreamed' : 'chat'];
		const known = [...scripts.keys()].find(({ title }) => title === operation.title);
		const given = scripts.get(known ?? operation) ?? attackScript(operation, attack, server());
		scripts.set(known ?? operation, given);
		given(response, request, index);
	};
}

const NODES = ['Chat', 'Assistant', 'Create', 'Wait', 'Chain', 'Agent'];

/** Runs every node under an attack; n8n must answer meanwhile, and save an execution that can be opened. */
async function survives(name: string): Promise<void> {
	const asked = liveness.asked();
	liveness.longestFreezeMs();
	const ref = await client.importWorkflow(everyNode(name));
	const execution = await client.waitForExecution(await client.run(ref, 'Start'));
	expect(execution.status).toBe('success');
	expect(NODES.filter((each) => execution.data.resultData.runData[each] === undefined)).toEqual(
		[],
	);
	expect(liveness.asked()).toBeGreaterThan(asked);
	expect(liveness.longestFreezeMs()).toBeLessThan(FROZEN_MS);
}

it.each(WORST)(
	'n8n answers while every node gets %s',
	async (title) => {
		script = answering(SERVICE_ATTACKS.find((attack) => attack.title === title)!);
		await survives(title);
	},
	2 * RUN_LIMIT_MS,
);

it.each(WORST_TEXTS)(
	'n8n answers while a model writes %s',
	async (title) => {
		const { text } = FILE_ATTACKS.find((attack) => attack.title === title)!;
		const [, chat] = FILE_OPERATIONS;
		if (chat === undefined || !('answer' in chat)) throw new Error('No chat');
		const hosts = { ...server(), time: undefined as never, fileUrl: 'http://127.0.0.1:1' };
		const content = text!(hosts);
		script = (response, { path }) => {
			const task = { task_id: 'task-1', status: 'completed', video_url: content };
			if (path.includes('/videos')) json(response, 200, task);
			else json(response, 200, chat.answer([], content));
		};
		await survives(title);
	},
	2 * RUN_LIMIT_MS,
);

it.each([301, 307])('the credential test follows no redirect %s', async (status) => {
	script = (response) => {
		response.writeHead(status, { location: `http://localhost:${trap.port}/` }).end();
	};
	expect(await client.testCredential(credential())).toMatchObject({ status: 'Error' });
	expect(trap.connections).toBe(0);
});
