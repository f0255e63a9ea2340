// @seconds 30
import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { failureOf, outputItems } from '../../lab/n8n/execution';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { startRestartableN8n, type RestartableN8n } from '../../lab/n8n/restartableN8n';
import { chatText, streamWebhook } from '../../lab/n8n/streamChat';
import { Running } from '../../lab/services/Running';
import { MEMORY_TABLE } from '../../nodes/shared/chat/memory';
import { SESSION_TABLE } from '../../nodes/SuperAssistant/execute';
import { node, workflow } from './support/buildWorkflow';
import { set } from './support/drawAgent';
import { until } from './support/ledger';
import { startScriptedModel, type ScriptedModel } from './support/scriptedModel';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

const TABLE = 'agent_video_memory';

const running = new Running();
let n8n: RestartableN8n;
let model: ScriptedModel;
let emulator: Emulator;

beforeAll(async () => {
	emulator = running.keep(await startEmulator({}));
	model = running.keep(await startScriptedModel());
	n8n = running.keep(await startRestartableN8n());
	for (const [name, baseUrl] of [
		['Model', model.url],
		['Emulator', emulator.url],
	] as const) {
		await n8n.client.createCredential({
			name,
			type: 'agentVideoApi',
			data: { baseUrl, apiKey: 'demo-key' },
		});
	}
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

const chatTrigger = (name: string, responseMode = 'lastNode') =>
	node('Chat', '@n8n/n8n-nodes-langchain.chatTrigger', 1.3, {
		parameters: { public: true, options: { responseMode } },
		webhookId: name,
	});
const message = (chatInput: string, sessionId: string) => ({
	action: 'sendMessage',
	sessionId,
	chatInput,
});
const urlOf = (name: string) => `${n8n.url}/webhook/${name}/chat`;
const say = async (name: string, text: string, sessionId = 'visitor-1') =>
	(await postWebhook<unknown>(urlOf(name), message(text, sessionId))).data;

async function publish(drawing: ReturnType<typeof workflow>): Promise<WorkflowRef> {
	const ref = await n8n.client.importWorkflow(drawing);
	await n8n.client.activate(ref);
	return ref;
}

const user = (content: string) => ({ role: 'user', content });
const says = (content: string) => ({ role: 'assistant', content });
const lastRequest = () => model.requests.at(-1)!.messages;

describe('a public chat', () => {
	beforeEach(() => {
		model.replyWith((messages) => `Re: ${String(messages.at(-1)!.content)}`);
	});

	it(
		'remembers in Chat Completion, behind another node, and in Super Assistant by default, also after a kill',
		async () => {
			const { id } = await publish(
				workflow('chat', [
					chatTrigger('chat'),
					set('Edit', '={{ { "question": $json.chatInput } }}'),
					node('Answer', 'n8n-nodes-agent-video.chatCompletion', 1, {
						parameters: {
							prompt: '={{ $json.question }}',
							systemMessage: 'Be brief',
							memory: 'chat',
						},
						credential: 'Model',
					}),
				]),
			);
			await say('chat', 'one');
			await say('chat', 'two');
			await say('chat', 'three', 'visitor-2');
			expect(model.requests.map(({ messages }) => messages)).toStrictEqual([
				[{ role: 'system', content: 'Be brief' }, user('one')],
				[
					{ role: 'system', content: 'Be brief' },
					user('one'),
					says('Re: one'),
					user('two'),
				],
				[{ role: 'system', content: 'Be brief' }, user('three')],
			]);

			await publish(
				workflow('assistant', [
					chatTrigger('assistant', 'streaming'),
					node('Answer', 'n8n-nodes-agent-video.superAssistant', 1, {
						parameters: { appCode: 'demo-assistant' },
						credential: 'Emulator',
					}),
				]),
			);
			const ask = async (text: string, visitor: string) =>
				chatText(await streamWebhook(urlOf('assistant'), message(text, visitor)));
			await ask('My name is Ada.', 'visitor-1');

			await n8n.kill();
			await n8n.start();
			expect(await ask('What is my name?', 'visitor-1')).toContain('Ada');
			expect(await ask('What is my name?', 'visitor-2')).not.toContain('Ada');
			await say('chat', 'four');
			expect(lastRequest()).toHaveLength(6);

			await n8n.client.deleteDataTableRows(TABLE, 'session_key', `chat ${id} visitor-1`);
			await say('chat', 'five');
			expect(lastRequest()).toHaveLength(2);
			await say('chat', 'six', 'visitor-2');
			expect(lastRequest()).toHaveLength(4);
		},
		RUN_LIMIT_MS,
	);

	it(
		'is found by the retry of an execution that crashed',
		async () => {
			const ref = await publish(
				workflow('crash', [
					chatTrigger('crash'),
					set('Edit', '={{ { "question": $json.chatInput } }}'),
					node('Answer', 'n8n-nodes-agent-video.chatCompletion', 1, {
						parameters: { prompt: '={{ $json.question }}', memory: 'chat' },
						credential: 'Emulator',
					}),
				]),
			);
			await say('crash', 'My name is Ada.');
			emulator.journal.clear();
			emulator.faults.add({ kind: 'stall' });
			const asked = say('crash', 'What is my name?').catch(() => undefined);
			await until(() => emulator.journal.entries.length > 0);
			await n8n.kill();
			await asked;
			emulator.faults.clear();
			await n8n.start();
			const crashed = await n8n.client.lastExecution(ref);
			expect(crashed.status).toBe('crashed');
			const retried = await n8n.client.readExecution(await n8n.client.retry(crashed.id));
			expect(failureOf(retried)).toBe('');
			expect(outputItems(retried, 'Answer')).toMatchObject([
				{ json: { output: 'Your name is Ada.' } },
			]);
		},
		RUN_LIMIT_MS,
	);
});

it(
	"the editor's test chat remembers as well",
	async () => {
		model.replyWith(() => 'Yes');
		const item = { json: message('Hi', 'test-chat') };
		const ref = await n8n.client.importWorkflow({
			...workflow('test chat', [
				chatTrigger('test-chat'),
				node('Answer', 'n8n-nodes-agent-video.chatCompletion', 1, {
					parameters: { memory: 'chat' },
					credential: 'Model',
				}),
			]),
			pinData: { Chat: [item] },
		} as ReturnType<typeof workflow>);
		for (const turns of [0, 1, 2]) {
			const id = await n8n.client.run(ref, 'Chat');
			expect(failureOf(await n8n.client.waitForExecution(id))).toBe('');
			expect(lastRequest()).toHaveLength(2 * turns + 1);
		}
	},
	RUN_LIMIT_MS,
);

it(
	'keeps turns and sessions of chats for 90 days, and every row that is not theirs',
	async () => {
		model.replyWith(() => 'Hello');
		const ref = await publish(
			workflow('flood', [
				chatTrigger('flood'),
				node('Assistant', 'n8n-nodes-agent-video.superAssistant', 1, {
					parameters: { appCode: 'demo-assistant', message: '={{ $json.chatInput }}' },
					credential: 'Emulator',
				}),
				node('Answer', 'n8n-nodes-agent-video.chatCompletion', 1, {
					parameters: { prompt: 'Hello', memory: 'chat' },
					credential: 'Model',
				}),
			]),
		);
		const ages = [
			['key customer', 1_000],
			['chat other visitor', 1_000],
			[`chat ${ref.id} gone`, 91],
			[`chat ${ref.id} here`, 89],
		] as const;
		const stored = [
			[MEMORY_TABLE, { turn: '[]' }],
			[SESSION_TABLE, { session_id: 's' }],
		] as const;
		for (const [{ name, columns }, cells] of stored) {
			const types = Object.entries(columns).map(([column, type]) => ({ name: column, type }));
			const rows = ages.map(([session_key, days]) => ({
				session_key,
				saved_at: new Date(Date.now() - days * 86_400_000).toISOString(),
				...cells,
			}));
			await n8n.client.removeDataTables(name);
			await n8n.client.createDataTable(name, types, rows);
		}
		await say('flood', 'Hello', 'visitor');
		for (const [{ name }] of stored) {
			const rows = (await n8n.client.dataTableRows(name))!;
			expect({ name, left: rows.map((row) => row['session_key']) }).toStrictEqual({
				name,
				left: [
					'key customer',
					'chat other visitor',
					`chat ${ref.id} here`,
					`chat ${ref.id} visitor`,
				],
			});
		}
	},
	RUN_LIMIT_MS,
);
