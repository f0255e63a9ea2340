// @seconds 85
/** What takes longer than a minute: a call with silences, a Wait in a branch, and people who answer late or never. */
import { setTimeout as sleep } from 'node:timers/promises';

import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import { chatText, streamWebhook } from '../../lab/n8n/streamChat';
import { startAgentSession, type AgentSession } from '../e2e/support/agentSession';
import { askFirst, DECLINED } from '../e2e/support/askFirst';
import { node, workflow } from '../e2e/support/buildWorkflow';
import { base, draw, set } from '../e2e/support/drawAgent';
import { text } from '../e2e/support/heldReply';
import { startMailbox, type Mailbox } from '../e2e/support/mailbox';
import { call, results } from '../e2e/support/scriptedModel';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from '../e2e/support/session';
import { eventsOf, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

const TOOL_START = {
	session_id: 's-1',
	extension: { type: 'tool_start', data: { tool: 'search', arguments: { query: 'n8n' } } },
};
const END = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
const SILENCE_MS = 20_000;

let agent: AgentSession;
let mailbox: Mailbox;
let slow: ScriptedServer;

beforeAll(async () => {
	agent = await startAgentSession();
	mailbox = await startMailbox(agent.client);
	slow = await startScriptedServer((response) => {
		void (async () => {
			response.writeHead(200, { 'content-type': 'text/event-stream' });
			response.write(eventsOf([TOOL_START]));
			for (const word of ['one ', 'two ', 'three ']) {
				await sleep(SILENCE_MS);
				response.write(eventsOf([text(word)]));
			}
			await sleep(SILENCE_MS / 2);
			response.end(eventsOf([text('four'), END, '[DONE]']));
		})();
	});
	await agent.credential('Slow', slow.url);
	agent.model.replyWith((messages) => {
		const [result] = results(messages);
		return String(result?.content ?? '') || [call('c1', 'book', { city: 'Rome' })];
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await slow.stop();
	await mailbox.stop();
	await agent.stop();
}, RUN_LIMIT_MS);

const outputs = (execution: Execution, name = 'Answers') =>
	outputItems(execution, name).map(({ json }) => json['output']);
const importBooking = async (name: string, options = {}) =>
	await agent.client.importWorkflow(
		draw(name, { tools: ['book'], ...askFirst('book', { options }) }),
	);
const DONE = '{"done":"book Rome"}';

it.concurrent(
	'a call of 70 seconds with silences of 20 seconds succeeds, and a chat shows it',
	async () => {
		const { client, n8n } = agent;
		const ref = await client.importWorkflow(
			workflow('slow', [
				node('Webhook', base('webhook'), 2.1, {
					parameters: { httpMethod: 'POST', path: 'slow', responseMode: 'streaming' },
					webhookId: 'slow',
				}),
				node('Assistant', 'n8n-nodes-agent-video.superAssistant', 1, {
					parameters: { appCode: 'demo-assistant', message: 'Take your time' },
					credential: 'Slow',
				}),
			]),
		);
		await client.activate(ref);
		const lines = await streamWebhook(`${n8n.url}/webhook/slow`, {});
		expect(chatText(lines)).toBe('\n\n> Running search: {"query":"n8n"}\n\none two three four');
		expect(outputs(await client.lastExecution(ref), 'Assistant')).toStrictEqual([
			'one two three four',
		]);
	},
	2 * RUN_LIMIT_MS,
);

it.concurrent(
	'an execution goes on after a Wait of 66 seconds in a branch, which suspends it',
	async () => {
		const { client } = agent;
		const wait = node('book', base('wait'), 1.1, {
			parameters: { amount: 66, unit: 'seconds' },
			webhookId: 'long-wait',
		});
		const nodes = [wait, set('After', '={{ { "done": "book " + $json.city } }}')];
		const wires = { book: [['After']], After: [['Agent']] };
		const ref = await client.importWorkflow(draw('A Wait', { tools: ['book'], nodes, wires }));
		const seen = new Set<string>();
		const onProgress = ({ status }: Execution) => {
			seen.add(status);
			return Promise.resolve();
		};
		const id = await client.run(ref, 'Start');
		const execution = await client.waitForExecution(id, { limitMs: 200_000, onProgress });
		expect(seen).toContain('waiting');
		expect(outputs(execution)).toStrictEqual([DONE]);
	},
	2 * RUN_LIMIT_MS,
);

it.concurrent(
	'an approval counts after more than a minute, and none within the limit of the waiting time is a refusal',
	async () => {
		const { client } = agent;
		const limitWaitTime = {
			values: { limitType: 'afterTimeInterval', resumeAmount: 1.1, resumeUnit: 'minutes' },
		};
		const limited = await importBooking('Nobody answers', { limitWaitTime });
		const ref = await importBooking('Late');
		let unanswered: Execution | undefined;
		let statusBeforeClick = '';
		const late = await mailbox.run(ref, 'Start', async (_index, id) => {
			unanswered = await client.waitForExecution(await client.run(limited, 'Start'));
			statusBeforeClick = (await client.readExecution(id)).status;
			return 'Approve' as const;
		});
		expect(statusBeforeClick).toBe('waiting');
		expect([late.execution, unanswered!].map(failureOf)).toStrictEqual(['', '']);
		expect(outputs(late.execution)).toStrictEqual([DONE]);
		expect(late.mails).toHaveLength(1);
		expect(outputs(unanswered!)).toStrictEqual([DECLINED]);
		expect(unanswered!.data.resultData.runData['Do book']).toBeUndefined();
	},
	2 * RUN_LIMIT_MS,
);
