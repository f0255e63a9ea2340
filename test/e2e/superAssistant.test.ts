// @seconds 100
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { failureOf, outputItems } from '../../lab/n8n/execution';
import { N8nClient, type WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { startN8n, type N8n } from '../../lab/n8n/startN8n';
import { chatText, streamWebhook, type ChatLine } from '../../lab/n8n/streamChat';
import { newUserFolder } from '../../lab/n8n/userFolder';
import {
	events,
	json,
	startScriptedServer,
	type Script,
	type ScriptedServer,
} from '../support/scriptedServer';
import { node, workflow } from './support/buildWorkflow';
import { heldReply, text } from './support/heldReply';
import { crowdedAssistant, sendAtOnce } from './support/sharedSession';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

const ASSISTANT = 'n8n-nodes-agent-video.superAssistant';
const TOOL_START = {
	session_id: 's-1',
	extension: { type: 'tool_start', data: { tool: 'search', arguments: { query: 'n8n' } } },
};
const END = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
const sse = (...chunks: object[]) =>
	chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');

let emulator: Emulator;
let scripted: ScriptedServer;
let answer: Script;
let userFolder: string;
let n8n: N8n;
let client: N8nClient;

const SILENCE_MS = 20_000;
const SLOW_MESSAGE = 'Take your time';
/** A call with a reply of 70 seconds, which runs beside the other tests. */
let slow: { readonly ref: WorkflowRef; readonly lines: Promise<readonly ChatLine[]> };
/** Completed silences of the slow reply. */
let silences = 0;

/** A reply with three silences of 20 seconds and one of 10. */
const slowly: Script = (response) => {
	void (async () => {
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		response.write(sse(TOOL_START));
		for (const word of ['one ', 'two ', 'three ']) {
			await sleep(SILENCE_MS);
			silences++;
			response.write(sse(text(word)));
		}
		await sleep(SILENCE_MS / 2);
		silences++;
		response.end(`${sse(text('four'), END)}data: [DONE]\n\n`);
	})();
};

beforeAll(async () => {
	userFolder = await newUserFolder();
	emulator = await startEmulator({});
	scripted = await startScriptedServer((response, request, index) => {
		const isSlow = JSON.stringify(request.body).includes(SLOW_MESSAGE);
		(isSlow ? slowly : answer)(response, request, index);
	});
	n8n = await startN8n({ userFolder, editor: false });
	client = await N8nClient.signIn(n8n.url);
	for (const [name, baseUrl] of [
		['Emulator', emulator.url],
		['Scripted', scripted.url],
	] as const) {
		await client.createCredential({
			name,
			type: 'agentVideoApi',
			data: { baseUrl, apiKey: 'demo-key' },
		});
	}
	const ref = await install('slow', { mode: 'streaming', credential: 'Scripted' });
	const lines = streamWebhook(`${n8n.url}/webhook/slow`, { message: SLOW_MESSAGE });
	// Its own test reports a failure.
	lines.catch(() => undefined);
	slow = { ref, lines };
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await n8n.stop();
	await scripted.stop();
	await emulator.stop();
	await rm(userFolder, { recursive: true, force: true });
}, RUN_LIMIT_MS);

const overWebhook = (
	path: string,
	{
		mode = 'lastNode',
		credential = 'Emulator',
		parameters = {},
	}: { mode?: string; credential?: string; parameters?: object } = {},
) =>
	workflow(path, [
		node('Webhook', 'n8n-nodes-base.webhook', 2.1, {
			parameters: { httpMethod: 'POST', path, responseMode: mode },
			webhookId: path,
		}),
		node('Assistant', ASSISTANT, 1, {
			parameters: {
				appCode: 'demo-assistant',
				message: '={{ $json.body.message }}',
				output: 'detailed',
				...parameters,
			},
			credential,
		}),
	]);

const install = async (...args: Parameters<typeof overWebhook>) => {
	const ref = await client.importWorkflow(overWebhook(...args));
	await client.activate(ref);
	return ref;
};

/** Sends a message and returns the assistant's answer. */
async function sendMessage(path: string, message: string, key: string): Promise<string> {
	const { data } = await postWebhook<{ output: string }>(`${n8n.url}/webhook/${path}`, {
		message,
		key,
	});
	return data.output;
}

it(
	'remembers a session per key across executions',
	async () => {
		await install('memory', {
			parameters: { session: 'key', sessionKey: '={{ $json.body.key }}' },
		});
		await sendMessage('memory', 'My name is Ada.', 'chat-a');
		await sendMessage('memory', 'My name is Bob.', 'chat-b');
		expect(await sendMessage('memory', 'What is my name?', 'chat-a')).toBe('Your name is Ada.');
		expect(await sendMessage('memory', 'What is my name?', 'chat-b')).toBe('Your name is Bob.');
		expect(await sendMessage('memory', 'What is my name?', 'chat-c')).toBe(
			'You have not told me that yet.',
		);
	},
	RUN_LIMIT_MS,
);

it(
	'of first messages of one key at the same moment, the session of the newest row stays',
	async () => {
		answer = crowdedAssistant();
		await install('crowd', {
			credential: 'Scripted',
			parameters: { session: 'key', sessionKey: '={{ $json.body.key }}' },
		});
		const { first, newest, later } = await sendAtOnce(client, `${n8n.url}/webhook/crowd`);
		expect([...first].sort()).toStrictEqual(['s-0', 's-1', 's-2', 's-3']);
		expect(first).toContain(newest);
		expect(later).toBe(newest);
	},
	RUN_LIMIT_MS,
);

it(
	'the retry of an execution asks again only for what the service has refused',
	async () => {
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

it.each([
	['that n8n would take for an expression', '={{ $execution.id }}'],
	['with braces', '{{ 1 + 1 }}'],
	['with quotes and a backslash', `'"\`\\`],
	['of 10,000 characters', 'k'.repeat(10_000)],
])(
	'remembers the session of a key %s',
	async (name, key) => {
		await sendMessage('memory', `My name is ${name.length}.`, key);
		const reply = await sendMessage('memory', 'What is my name?', key);
		expect(reply).toBe(`Your name is ${name.length}.`);
		const other = await sendMessage('memory', 'What is my name?', `${key}.`);
		expect(other).toBe('You have not told me that yet.');
	},
	RUN_LIMIT_MS,
);

it(
	'a chat shows a running tool before the answer ends',
	async () => {
		const reply = heldReply([TOOL_START], [text('Done.')]);
		answer = reply.script;
		await install('live', { mode: 'streaming', credential: 'Scripted' });
		let finishedAtFirstItem: boolean | undefined;
		const lines = await streamWebhook(
			`${n8n.url}/webhook/live`,
			{ message: 'Hi' },
			({ type }) => {
				if (type !== 'item' || finishedAtFirstItem !== undefined) return;
				finishedAtFirstItem = reply.isFinished();
				// The service continues only after the first item has arrived.
				reply.finish();
			},
		);
		expect(finishedAtFirstItem).toBe(false);
		expect(lines.map(({ type, content }) => [type, content])).toStrictEqual([
			['begin', undefined],
			['item', '\n\n> Running search: {"query":"n8n"}\n\n'],
			['item', 'Done.'],
			['end', undefined],
		]);
	},
	RUN_LIMIT_MS,
);

it(
	'looking up a session creates no extra execution',
	async () => {
		const ref = await install('tidy', { parameters: { session: 'key', sessionKey: 'tidy' } });
		await sendMessage('tidy', 'Hello', '');
		expect(await client.executions(ref)).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);

it(
	'a call of 70 seconds with silences of 20 seconds succeeds',
	async () => {
		const lines = await slow.lines;
		expect(silences).toBe(4);
		expect(chatText(lines)).toBe('\n\n> Running search: {"query":"n8n"}\n\none two three four');
		const [item] = outputItems(await client.lastExecution(slow.ref), 'Assistant');
		expect(item!.json).toMatchObject({ output: 'one two three four', session_id: 's-1' });
	},
	RUN_LIMIT_MS,
);

it(
	'a session is remembered after a restart of n8n',
	async () => {
		await n8n.stop();
		n8n = await startN8n({ userFolder, editor: false });
		client = await N8nClient.signIn(n8n.url);
		expect(await sendMessage('memory', 'What is my name?', 'chat-a')).toBe('Your name is Ada.');
	},
	RUN_LIMIT_MS,
);
