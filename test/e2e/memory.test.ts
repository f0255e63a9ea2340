import { failureOf } from '../../lab/n8n/execution';
import { postWebhook } from '../../lab/n8n/postWebhook';
import type { Workflow } from '../../lab/n8n/workflow';
import { MEMORY_TABLE } from '../../nodes/shared/chat/memory';
import { SESSION_TABLE } from '../../nodes/SuperAssistant/execute';
import { useAgentSession } from './support/agentSession';
import { chatMessage, chatTrigger, node, webhook, workflow } from './support/buildWorkflow';
import { RUN_LIMIT_MS } from './support/session';

const session = useAgentSession();

it(
	"the editor's test chat remembers as well",
	async () => {
		const { client, model } = session;
		model.replyWith(() => 'Yes');
		const item = { json: chatMessage('Hi', 'test-chat') };
		const ref = await client.importWorkflow({
			...workflow('test chat', [
				chatTrigger('test-chat', 'lastNode'),
				node('Answer', 'n8n-nodes-agent-video.chatCompletion', 1, {
					parameters: { memory: 'chat' },
					credential: 'Model',
				}),
			]),
			pinData: { Chat: [item] },
		} as Workflow);
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
		const { client, model } = session;
		model.replyWith(() => 'Hello');
		const ref = await client.importWorkflow(
			workflow('flood', [
				chatTrigger('flood', 'lastNode'),
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
		await postWebhook(`${session.n8n.url}/webhook/flood/chat`, chatMessage('Hello', 'visitor'));
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

it(
	'a super assistant remembers a session per key across executions, and makes no other one',
	async () => {
		const { client, n8n } = session;
		const path = 'session-per-key';
		const ref = await session.publish(
			workflow(path, [
				webhook(path, 'lastNode'),
				node('Assistant', 'n8n-nodes-agent-video.superAssistant', 1, {
					parameters: {
						appCode: 'demo-assistant',
						message: '={{ $json.body.message }}',
						session: 'key',
						sessionKey: '={{ $json.body.key }}',
					},
					credential: 'Emulator',
				}),
			]),
		);
		const say = async (text: string, key: string) => {
			const url = `${n8n.url}/webhook/${path}`;
			return (await postWebhook<{ output: string }>(url, { message: text, key })).data.output;
		};
		await say('My name is Ada.', 'chat-a');
		expect(await say('What is my name?', 'chat-a')).toBe('Your name is Ada.');
		expect(await say('What is my name?', 'chat-b')).toBe('You have not told me that yet.');
		expect(await client.executions(ref)).toHaveLength(3);
	},
	RUN_LIMIT_MS,
);
