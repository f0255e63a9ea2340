import type { ServerResponse } from 'node:http';

import axios from 'axios';

import { binaryOf, failureOf, outputItems } from '../../lab/n8n/execution';
import { chatText, streamWebhook } from '../../lab/n8n/streamChat';
import type { Workflow } from '../../lab/n8n/workflow';
import { events, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { node, workflow } from './support/buildWorkflow';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

const CHAT = 'n8n-nodes-agent-video.chatCompletion';
const text = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });
const END = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

let session: Session;
/** A service whose every byte the test decides. */
let scripted: ScriptedServer;
let answer: (response: ServerResponse) => void;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 1 });
	scripted = await startScriptedServer((response) => {
		answer(response);
	});
	const save = async (name: string, baseUrl: string) => {
		await session.client.createCredential({
			name,
			type: 'agentVideoApi',
			data: { baseUrl, apiKey: 'demo-key' },
		});
	};
	await save('Emulator', session.emulator.url);
	await save('Scripted', scripted.url);
	await save('On the internet', 'https://api.example.com');
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await scripted.stop();
	await session.stop();
}, RUN_LIMIT_MS);

describe('a webhook in streaming mode', () => {
	const streaming = (path: string, onError?: string) =>
		workflow(`Stream ${path}`, [
			node('Webhook', 'n8n-nodes-base.webhook', 2.1, {
				parameters: { httpMethod: 'POST', path, responseMode: 'streaming' },
				webhookId: path,
			}),
			node('Answer', CHAT, 1, {
				parameters: { prompt: '={{ $json.body.question }}' },
				credential: 'Scripted',
				...(onError === undefined ? {} : { onError }),
			}),
		]);

	it(
		'has the first chunk before the service has sent its last',
		async () => {
			const { client, n8n } = session;
			const ref = await client.importWorkflow(streaming('first-chunk'));
			await client.activate(ref);

			let finish: () => void = () => undefined;
			let finishedAtMs = 0;
			answer = (response) => {
				response.writeHead(200, { 'content-type': 'text/event-stream' });
				response.write(`data: ${JSON.stringify(text('The first '))}\n\n`);
				finish = () => {
					finishedAtMs = Date.now();
					for (const chunk of [text('and the last.'), END]) {
						response.write(`data: ${JSON.stringify(chunk)}\n\n`);
					}
					response.end('data: [DONE]\n\n');
				};
			};
			let firstAtMs = 0;
			const url = `${n8n.url}/webhook/first-chunk`;
			const lines = await streamWebhook(url, { question: 'Hi' }, ({ type }) => {
				if (type !== 'item' || firstAtMs > 0) return;
				firstAtMs = Date.now();
				// Only what has reached the person lets the service go on.
				finish();
			});
			expect(lines.map(({ type, content }) => [type, content])).toStrictEqual([
				['begin', undefined],
				['item', 'The first '],
				['item', 'and the last.'],
				['end', undefined],
			]);
			expect(firstAtMs).toBeLessThanOrEqual(finishedAtMs);
			const [item] = outputItems(await client.lastExecution(ref), 'Answer');
			expect(item!.json['content']).toBe('The first and the last.');
		},
		RUN_LIMIT_MS,
	);

	it(
		'says what failed where the node does not stop',
		async () => {
			const { client, n8n } = session;
			await client.activate(
				await client.importWorkflow(streaming('fails', 'continueRegularOutput')),
			);
			answer = (response) => {
				events(response, [text('Half a ')]);
			};
			const lines = await streamWebhook(`${n8n.url}/webhook/fails`, { question: 'Hi' });
			expect(chatText(lines)).toBe('Half a The stream ended before the reply was complete');
			expect(lines.map(({ type }) => type)).toStrictEqual(['begin', 'item', 'item', 'end']);
		},
		RUN_LIMIT_MS,
	);
});

describe('a binary file as image', () => {
	const withPicture = (name: string, credential: string) =>
		workflow(name, [
			node('Start', 'n8n-nodes-base.manualTrigger', 1),
			node('Text', 'n8n-nodes-base.set', 3.4, {
				parameters: { mode: 'raw', jsonOutput: '{"text": "not really a picture"}' },
			}),
			node('File', 'n8n-nodes-base.convertToFile', 1.1, {
				parameters: { operation: 'toText', sourceProperty: 'text' },
			}),
			node('Answer', CHAT, 1, {
				parameters: {
					prompt: 'What is in this picture?',
					appCode: 'demo-app',
					images: { image: [{ source: 'binary', binaryProperty: 'data' }] },
				},
				credential,
			}),
		]);
	const run = async (drawn: Workflow) => {
		const { client } = session;
		const ref = await client.importWorkflow(drawn);
		return await client.waitForExecution(await client.run(ref, 'Start'));
	};

	it(
		'goes to the service as an address that opens without a login',
		async () => {
			const { journal } = session.emulator;
			journal.clear();
			const execution = await run(withPicture('Picture', 'Emulator'));
			expect(execution.status).toBe('success');

			const [request] = journal.of('/v1/chat/completions');
			const { messages } = request!.body as {
				messages: { content: { image_url?: { url: string } }[] }[];
			};
			const { url } = messages[0]!.content[1]!.image_url!;
			const file = await axios.get<string>(url, { proxy: false, responseType: 'text' });
			expect(file.data).toBe('not really a picture');
		},
		RUN_LIMIT_MS,
	);

	it(
		'is refused where the service cannot reach this n8n',
		async () => {
			const execution = await run(withPicture('Picture far away', 'On the internet'));
			expect(failureOf(execution)).toMatch(
				/^Answer: Images: entry 1 would be published at http:\/\/127\.0\.0\.1:\d+, which the service cannot reach/,
			);
		},
		RUN_LIMIT_MS,
	);
});

it(
	'a picture in the reply is a file in n8n',
	async () => {
		const { client, emulator } = session;
		const ref = await client.importWorkflow(
			workflow('Media', [
				node('Start', 'n8n-nodes-base.manualTrigger', 1),
				node('Answer', CHAT, 1, {
					parameters: {
						prompt: 'Draw a picture of a lighthouse',
						appCode: 'demo-app',
						options: { downloadMedia: true },
					},
					credential: 'Emulator',
				}),
			]),
		);
		emulator.journal.clear();
		const execution = await client.waitForExecution(await client.run(ref, 'Start'));
		const [item] = outputItems(execution, 'Answer');
		const [{ url }] = item!.json['media'] as [{ url: string }];
		expect(item!.json['media']).toStrictEqual([{ kind: 'image', url, binary: 'media_0' }]);
		const picture = binaryOf(item!, 'media_0');
		expect(picture.mimeType).toBe('image/jpeg');
		const there = await axios.get<ArrayBuffer>(url, {
			proxy: false,
			responseType: 'arraybuffer',
		});
		expect(await client.download(picture)).toStrictEqual(Buffer.from(there.data));
		expect(emulator.journal.of(new URL(url).pathname)).toMatchObject([
			{ authorized: false },
			{ authorized: false },
		]);
	},
	RUN_LIMIT_MS,
);

it(
	'tokens are in the execution, where n8n shows them',
	async () => {
		const { client } = session;
		const ref = await client.importWorkflow(
			workflow('Tokens', [
				node('Start', 'n8n-nodes-base.manualTrigger', 1),
				node('Answer', CHAT, 1, {
					parameters: { prompt: 'Hello' },
					credential: 'Emulator',
				}),
			]),
		);
		const execution = await client.waitForExecution(await client.run(ref, 'Start'));
		const [item] = outputItems(execution, 'Answer');
		const usage = item!.json['usage'] as { prompt_tokens: number; completion_tokens: number };
		expect(usage.prompt_tokens).toBeGreaterThan(0);
		expect(execution.data.resultData.runData['Answer']![0]!.metadata).toMatchObject({
			tokenUsage: { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens },
		});
	},
	RUN_LIMIT_MS,
);
