import { failureOf } from '../../lab/n8n/execution';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { MEMORY_TABLE } from '../../nodes/shared/chat/memory';
import { SESSION_TABLE } from '../../nodes/SuperAssistant/execute';
import { node, workflow } from './support/buildWorkflow';
import { startScriptedModel, type ScriptedModel } from './support/scriptedModel';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

let session: Session;
let client: Session['client'];
let model: ScriptedModel;

beforeAll(async () => {
	session = await startSession();
	({ client } = session);
	model = await startScriptedModel();
	for (const [name, baseUrl] of [
		['Model', model.url],
		['Emulator', session.emulator.url],
	] as const)
		await client.createCredential({
			name,
			type: 'agentVideoApi',
			data: { baseUrl, apiKey: 'demo-key' },
		});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await model.stop();
	await session.stop();
}, RUN_LIMIT_MS);

const chatTrigger = (name: string) =>
	node('Chat', '@n8n/n8n-nodes-langchain.chatTrigger', 1.3, {
		parameters: { public: true, options: { responseMode: 'lastNode' } },
		webhookId: name,
	});
const message = (chatInput: string, sessionId: string) => ({
	action: 'sendMessage',
	...{ sessionId, chatInput },
});

it(
	"the editor's test chat remembers as well",
	async () => {
		model.replyWith(() => 'Yes');
		const item = { json: message('Hi', 'test-chat') };
		const ref = await client.importWorkflow({
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
			const id = await client.run(ref, 'Chat');
			expect(failureOf(await client.waitForExecution(id))).toBe('');
			expect(model.requests.at(-1)!.messages).toHaveLength(2 * turns + 1);
		}
	},
	RUN_LIMIT_MS,
);

it(
	'keeps turns and sessions of chats for 90 days, and every row that is not theirs',
	async () => {
		model.replyWith(() => 'Hello');
		const ref = await client.importWorkflow(
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
			await client.removeDataTables(name);
			await client.createDataTable(name, types, rows);
		}
		await client.activate(ref);
		await postWebhook(`${session.n8n.url}/webhook/flood/chat`, message('Hello', 'visitor'));
		for (const [{ name }] of stored) {
			const rows = (await client.dataTableRows(name))!;
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
