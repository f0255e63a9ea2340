// @seconds 10
import { failureOf, outputItems } from '../../lab/n8n/execution';
import { postWebhook } from '../../lab/n8n/postWebhook';
import {
	events,
	json,
	startScriptedServer,
	type Script,
	type ScriptedServer,
} from '../support/scriptedServer';
import { node, workflow } from './support/buildWorkflow';
import { text } from './support/heldReply';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

const ASSISTANT = 'n8n-nodes-agent-video.superAssistant';
const END = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

let session: Session;
let scripted: ScriptedServer;
let answer: Script;

beforeAll(async () => {
	session = await startSession();
	scripted = await startScriptedServer((...args) => {
		answer(...args);
	});
	for (const [name, baseUrl] of [
		['Emulator', session.emulator.url],
		['Scripted', scripted.url],
	] as const) {
		const data = { baseUrl, apiKey: 'demo-key' };
		await session.client.createCredential({ name, type: 'agentVideoApi', data });
	}
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await scripted.stop();
	await session.stop();
}, RUN_LIMIT_MS);

it.each([
	['a name', 'chat-a'],
	['one that n8n would take for an expression', '={{ $execution.id }}'],
	['of 10,000 characters', 'k'.repeat(10_000)],
])(
	'remembers a session per key across executions, and makes no other one: %s',
	async (name, key) => {
		const { client, n8n } = session;
		const path = `memory-${name.length}`;
		const ref = await client.importWorkflow(
			workflow(path, [
				node('Webhook', 'n8n-nodes-base.webhook', 2.1, {
					parameters: { httpMethod: 'POST', path, responseMode: 'lastNode' },
					webhookId: path,
				}),
				node('Assistant', ASSISTANT, 1, {
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
		await client.activate(ref);
		const say = async (message: string, of: string) => {
			const body = { message, key: of };
			const { data } = await postWebhook<{ output: string }>(
				`${n8n.url}/webhook/${path}`,
				body,
			);
			return data.output;
		};
		await say('My name is Ada.', key);
		expect(await say('What is my name?', key)).toBe('Your name is Ada.');
		expect(await say('What is my name?', `${key}.`)).toBe('You have not told me that yet.');
		expect(await client.executions(ref)).toHaveLength(3);
	},
	RUN_LIMIT_MS,
);

it(
	'the retry of an execution asks again only for what the service has refused',
	async () => {
		const { client, n8n } = session;
		const sent: string[] = [];
		answer = (response, { body }) => {
			const [{ content }] = (body as { messages: [{ content: string }] }).messages;
			const isNew = !sent.includes(content);
			sent.push(content);
			if (isNew && content === 'refused') json(response, 406, { error: { message: 'no' } });
			else if (content === 'cut') events(response, [text('Half')]);
			else events(response, [text(`Re: ${content}`), END, '[DONE]']);
		};
		const one = { options: { concurrency: 1 } };
		const ref = await client.importWorkflow(
			workflow('retry', [
				node('Webhook', 'n8n-nodes-base.webhook', 2.1, {
					parameters: { httpMethod: 'POST', path: 'retry', responseMode: 'onReceived' },
					webhookId: 'retry',
				}),
				node('Each', 'n8n-nodes-base.splitOut', 1, {
					parameters: {
						fieldToSplitOut: 'body.texts',
						options: { destinationFieldName: 'text' },
					},
				}),
				node('Assistant', ASSISTANT, 1, {
					parameters: { appCode: 'a', message: '={{ $json.text }}', ...one },
					credential: 'Scripted',
				}),
			]),
		);
		await client.activate(ref);
		const retried = async (...texts: readonly string[]) => {
			await postWebhook(`${n8n.url}/webhook/retry`, { texts });
			const failed = await client.lastExecution(ref);
			expect(failed.status).toBe('error');
			return await client.readExecution(await client.retry(failed.id));
		};

		const whole = await retried('one', 'refused', 'three');
		const outputs = outputItems(whole, 'Assistant').map(({ json: { output } }) => output);
		expect(outputs).toStrictEqual(['Re: one', 'Re: refused', 'Re: three']);
		expect(sent.splice(0)).toStrictEqual(['one', 'refused', 'refused', 'three']);

		const broken = await retried('four', 'cut');
		expect(failureOf(broken)).toContain('The stream ended before the reply was complete');
		expect(sent).toStrictEqual(['four', 'cut']);
	},
	RUN_LIMIT_MS,
);
